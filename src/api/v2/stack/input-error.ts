import { v2Errors } from '#api/v2/errors.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** A fault of an entry of a stack; where it stands is added on the way out. */
export function badEntry(problem: string): Error {
  return v2Errors['stack-entry']({ problem });
}

/** Does `work`; an error on the way is said to have happened at `place`. */
export function at<T>(place: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw isTernError(error) ? error.within(place) : error;
  }
}

/** What a JSON value is, for a message: `a string`, `an array`. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** A text as a message can show it. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
}

/** An object, and nothing but the properties named. @throws v2/stack-entry */
export function fieldsOf(value: unknown, what: string, allowed: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badEntry(`${what} is ${kindOf(value)}; wanted is an object with ${allowed.join(', ')}`);
  }
  for (const name of Object.keys(value)) {
    if (!allowed.includes(name)) throw badEntry(`${what} has an unknown property ${shown(name)}`);
  }
  return value as Readonly<Record<string, unknown>>;
}

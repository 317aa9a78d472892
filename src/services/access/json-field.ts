import { accessErrors } from '#services/access/errors.js';

const MAX_SHOWN = 60;

/** A place in a JSON file: reads what must stand there, and says where and what is wrong if it does not. */
export class ConfigField {
  readonly value: unknown;
  readonly #file: string;
  /** `plans[3].burst`; empty for the whole. */
  readonly #path: string;

  constructor(file: string, path: string, value: unknown) {
    this.#file = file;
    this.#path = path;
    this.value = value;
  }

  /** @throws access/file when it is no JSON */
  static parse(file: string, text: string): ConfigField {
    try {
      return new ConfigField(file, '', JSON.parse(text));
    } catch (error) {
      throw accessErrors.file({ file, problem: `it is no JSON: ${(error as Error).message}` }, error);
    }
  }

  /** @throws access/field */
  refuse(allowed: string): never {
    const field = this.#path === '' ? 'the whole' : this.#path;
    throw accessErrors.field({ file: this.#file, field, found: shown(this.value), allowed });
  }

  /** The members of the object that must stand here; any names. */
  entries(): [string, ConfigField][] {
    const { value } = this;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) this.refuse('an object');
    return Object.entries(value as object).map(([name, member]) => [name, this.#at(name, member)]);
  }

  /** The members of the object that must stand here; these names only. Those that are absent have the value `undefined`. */
  members<Name extends string>(...names: readonly Name[]): Record<Name, ConfigField> {
    const members = {} as Record<Name, ConfigField>;
    for (const name of names) members[name] = this.#at(name, undefined);
    for (const [name, member] of this.entries()) {
      if (!Object.hasOwn(members, name)) member.refuse(`nothing: known are ${names.join(', ')}`);
      members[name as Name] = member;
    }
    return members;
  }

  /** The items of the list that must stand here. */
  items(): ConfigField[] {
    const { value } = this;
    if (!Array.isArray(value)) this.refuse('a list');
    return (value as unknown[]).map((item, i) => new ConfigField(this.#file, `${this.#path}[${i}]`, item));
  }

  /** What `read` makes of it; `null` when nothing or `null` stands here. */
  optional<T>(read: (field: this) => T): T | null {
    return this.value === undefined || this.value === null ? null : read(this);
  }

  integer(least: number, most: number): number {
    const { value } = this;
    if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
    return this.refuse(`a whole number from ${least} to ${most}`);
  }

  text(pattern: RegExp, allowed: string): string {
    const { value } = this;
    return typeof value === 'string' && pattern.test(value) ? value : this.refuse(allowed);
  }

  /** A moment as `Date.toISOString` writes it. */
  moment(): string {
    const { value } = this;
    const time = typeof value === 'string' ? new Date(value) : null;
    if (time !== null && !Number.isNaN(time.getTime()) && time.toISOString() === value) return value;
    return this.refuse('a moment as 2025-01-31T12:00:00.000Z');
  }

  #at(name: string, value: unknown): ConfigField {
    return new ConfigField(this.#file, this.#path === '' ? name : `${this.#path}.${name}`, value);
  }
}

function shown(value: unknown): string {
  if (value === undefined) return 'absent';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

/** Names of plans, networks, liteserver groups and owners: safe in files, in log lines and as parts of keys in Redis. */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** {@link NAME} in words. */
export const NAME_DESCRIPTION = 'a name of up to 64 letters, digits, ".", "_" and "-", a letter or digit first';

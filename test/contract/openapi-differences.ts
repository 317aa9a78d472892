import type { Facts } from '#test/contract/openapi-facts.js';

/** A difference that is meant to be: what the published document says at a place, and what Tern's does. */
export interface ListedDifference {
  /** A place among {@link Facts}; `*` stands for any characters. */
  readonly at: string;
  /** What is said there, `*` as above; null: nothing. Left out: whatever. */
  readonly published?: string | null;
  readonly tern?: string | null;
  readonly reason: string;
}

/** A place where two documents differ; null: one of them says nothing there. */
export interface Difference {
  readonly at: string;
  readonly published: string | null;
  readonly tern: string | null;
}

/** Where two documents differ. Of what one of them does not have at all, only the outermost place is told. */
export function differencesOf(published: Facts, tern: Facts): Difference[] {
  const found: Difference[] = [];
  const whole = new Set<string>();
  for (const at of [...new Set([...published.keys(), ...tern.keys()])].sort()) {
    const [one = null, other = null] = [published.get(at), tern.get(at)].map((value) => value?.toString());
    if (one === other || outer(at).some((place) => whole.has(place))) continue;
    found.push({ at, published: one, tern: other });
    if (one === null || other === null) whole.add(at);
  }
  return found;
}

/** The places around a place: `a/b/c` is within `a/b` and `a`. */
function outer(at: string): string[] {
  const steps = at.split('/');
  return steps.slice(1).map((_, index) => steps.slice(0, index + 1).join('/'));
}

/** Whether a difference is the listed one. */
export function isListed({ at, published, tern }: Difference, listed: ListedDifference): boolean {
  return fits(at, listed.at) && fits(published, listed.published) && fits(tern, listed.tern);
}

function fits(value: string | null, pattern: string | null | undefined): boolean {
  if (pattern === undefined) return true;
  if (value === null || pattern === null) return value === pattern;
  const parts = pattern.split('*').map((part) => part.replace(/[^A-Za-z0-9]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(value);
}

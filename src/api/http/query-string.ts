import { httpErrors } from '#api/http/errors.js';

/** Raw parameters of a request by name. From a query: strings, or a list of them for a repeated name. */
export type RawParameters = Record<string, unknown>;

/** A space, a control character or a byte above ASCII, which URLs must percent-encode. */
const STRAY = /[^!-~]/;

/**
 * Parses the query of a URL (after `?`). The result has no prototype: `__proto__` is a name like any other.
 *
 * @throws http/bad-query when it is not percent-encoded UTF-8
 */
export function parseQuery(text: string, { nameOf, maxArguments }: QueryGrammar = exactGrammar): RawParameters {
  const parameters: RawParameters = Object.create(null);
  if (text === '') return parameters;
  if (STRAY.test(text)) throw httpErrors['bad-query']({ problem: 'it has characters that must be percent-encoded' });
  let count = 0;
  for (let at = 0; at <= text.length; ) {
    let end = text.indexOf('&', at);
    if (end < 0) end = text.length;
    if (end > at) {
      if (++count > maxArguments) throw httpErrors['bad-query']({ problem: `more than ${maxArguments} arguments` });
      const equals = text.indexOf('=', at);
      const nameEnd = equals < 0 || equals > end ? end : equals;
      const name = nameOf(decode(text.slice(at, nameEnd)));
      const value = nameEnd === end ? '' : decode(text.slice(nameEnd + 1, end));
      const before = parameters[name];
      if (before === undefined) parameters[name] = value;
      else if (Array.isArray(before)) before.push(value);
      else parameters[name] = [before, value];
    }
    at = end + 1;
  }
  return parameters;
}

/**
 * Removes parameters that are not known, and values that are empty.
 *
 * @param keepsEmpty whether empty values of a known parameter are left
 * @returns names of the parameters that are not known
 */
export function dropMeaningless(
  parameters: RawParameters,
  isKnown: (name: string) => boolean,
  keepsEmpty: (name: string) => boolean,
): readonly string[] {
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(parameters)) {
    if (!isKnown(name)) {
      unknown.push(name);
      delete parameters[name];
      continue;
    }
    if (keepsEmpty(name)) continue;
    const rest = (Array.isArray(value) ? value : [value]).filter((one) => one !== '');
    if (rest.length === 0) delete parameters[name];
    else parameters[name] = rest.length === 1 ? rest[0] : rest;
  }
  return unknown;
}

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    const shown = text.length > 60 ? `${text.slice(0, 57)}...` : text;
    throw httpErrors['bad-query']({ problem: `${shown} is not percent-encoded UTF-8` });
  }
}

/** The conventions of the queries of an API. */
export interface QueryGrammar {
  /** Whether `nameOf` returns lower case; then the names of parameters must be in lower case. */
  readonly foldsNames: boolean;
  /** The parameter of a given name. */
  readonly nameOf: (given: string) => string;
  /** Undefined: neither true nor false. */
  readonly booleanOf: (text: string) => boolean | undefined;
  /** Most arguments of one query. */
  readonly maxArguments: number;
}

const WORDS = booleans(['y', 'yes', 't', 'true', 'on', '1'], ['n', 'no', 'f', 'false', 'off', '0']);

/** Case-sensitive names; booleans as words in any letter case. */
export const exactGrammar: QueryGrammar = {
  foldsNames: false,
  nameOf: (given) => given,
  booleanOf: (text) => WORDS.get(text.toLowerCase()),
  maxArguments: 1_000,
};

const TOKENS = booleans(['1', 't', 'T', 'true', 'True', 'TRUE', 'on'], ['0', 'f', 'F', 'false', 'False', 'FALSE']);

/** Case-insensitive names, with or without a trailing `[]`. */
export const foldingGrammar: QueryGrammar = {
  foldsNames: true,
  nameOf: (given) => (given.endsWith('[]') ? given.slice(0, -2) : given).toLowerCase(),
  booleanOf: (text) => TOKENS.get(text),
  maxArguments: 2_000,
};

function booleans(yes: readonly string[], no: readonly string[]): ReadonlyMap<string, boolean> {
  return new Map([...yes.map((text) => [text, true] as const), ...no.map((text) => [text, false] as const)]);
}

import { isUtf8 } from 'node:buffer';
import type { RawParameters } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';

/** Last segment of the JSON-RPC path. */
export const JSON_RPC = 'jsonRPC';

/** A JSON-RPC call. */
export interface RpcRequest {
  readonly method: string;
  readonly params: RawParameters;
  /** As in the request, as JSON text; `''` when there is none. */
  readonly id: string;
  /** Beside `params`; it may stand within them as well. */
  readonly extra: unknown;
}

/**
 * The `id` of a body as JSON text, whether or not the rest is valid; `''` without one. Integers of any size are echoed
 * unchanged.
 */
export function rpcIdOf({ value, hasLongId }: JsonBody): string {
  if (!isObject(value) || !Object.hasOwn(value, 'id')) return '';
  const { id } = value;
  return hasLongId && typeof id === 'string' ? id : JSON.stringify(id);
}

/** @throws http/bad-rpc */
export function parseRpc(body: JsonBody): RpcRequest {
  const { value } = body;
  if (Array.isArray(value)) {
    throw httpErrors['bad-rpc']({ problem: 'batches are not supported: send one request object at a time' });
  }
  if (!isObject(value))
    throw httpErrors['bad-rpc']({ problem: 'the body must be a JSON object with method and params' });
  const method = Object.hasOwn(value, 'method') ? value.method : undefined;
  if (typeof method !== 'string') throw httpErrors['bad-rpc']({ problem: 'method must be a string' });
  const given = Object.hasOwn(value, 'params') ? value.params : undefined;
  return {
    method,
    params: paramsOf(given),
    id: rpcIdOf(body),
    extra: Object.hasOwn(value, '@extra') ? value['@extra'] : undefined,
  };
}

/** Absent, null and an empty array mean no parameters. */
function paramsOf(given: unknown): RawParameters {
  if (given === undefined || given === null || (Array.isArray(given) && given.length === 0)) return {};
  if (isObject(given)) return given;
  throw httpErrors['bad-rpc']({ problem: 'params must contain an object' });
}

function isObject(value: unknown): value is RawParameters {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Bounds of one JSON body, which are checked before it is parsed. */
export interface JsonLimits {
  /** Nesting depth. */
  readonly maxNesting: number;
  /** Names in all its objects together. */
  readonly maxJsonNames: number;
  /** Values: items of arrays, members of objects, arrays and objects. */
  readonly maxJsonValues: number;
}

/** A JSON body. */
export interface JsonBody {
  /** Integers that a number cannot represent exactly are strings of their digits in it. */
  readonly value: unknown;
  /** Whether its member `id` is such an integer. */
  readonly hasLongId: boolean;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** The largest integer that a number represents exactly. */
const LARGEST_SAFE = String(Number.MAX_SAFE_INTEGER);

/**
 * Parses a body. Depth, names and values are counted before, in one pass over its bytes and without recursion: what is refused
 * never becomes text.
 *
 * @throws http/bad-json, http/body-too-complex
 */
export function parseJsonBody(given: Buffer, limits: JsonLimits): JsonBody {
  if (!isUtf8(given)) throw httpErrors['bad-json']({ problem: 'it is not UTF-8' });
  // A byte order mark at the start is dropped; JSON.parse refuses it.
  const bytes = given[0] === 0xef && given[1] === 0xbb && given[2] === 0xbf ? given.subarray(3) : given;
  const { longIntegers, hasLongId } = scan(bytes, limits);
  const whole = longIntegers.length === 0 ? bytes : withQuotes(bytes, longIntegers);
  return { value: parse(whole.toString()), hasLongId };
}

/** The text with quotes around parts of it. @param parts start and end of each, in order */
function withQuotes(bytes: Buffer, parts: readonly number[]): Buffer {
  const quoted = Buffer.allocUnsafe(bytes.length + parts.length);
  let from = 0;
  let to = 0;
  for (const at of parts) {
    to += bytes.copy(quoted, to, from, at);
    quoted[to++] = QUOTE;
    from = at;
  }
  bytes.copy(quoted, to, from);
  return quoted;
}

interface Scanned {
  /** Start and end of each integer that a number cannot represent. */
  readonly longIntegers: readonly number[];
  readonly hasLongId: boolean;
}

/** Checks depth, counts and duplicate names of objects. */
function scan(bytes: Buffer, { maxNesting, maxJsonNames, maxJsonValues }: JsonLimits): Scanned {
  const longIntegers: number[] = [];
  // The names of each open object; null before its first name.
  const names: (Set<string> | null)[] = [];
  let depth = 0;
  let nameCount = 0;
  let valueCount = 1;
  let isAtId = false;
  let hasLongId = false;
  for (let i = 0; i < bytes.length; i++) {
    const code = bytes[i]!;
    if (code === QUOTE) {
      const end = endOfString(bytes, i);
      if (isName(bytes, end)) {
        if (++nameCount > maxJsonNames) {
          throw httpErrors['body-too-complex']({ what: 'names in its objects', most: maxJsonNames });
        }
        const known = names[depth] ?? new Set();
        names[depth] = known;
        const name = addName(known, bytes.toString('utf8', i + 1, end));
        if (depth === 1) isAtId = name === 'id';
      }
      i = end;
    } else if (code === COMMA) {
      if (++valueCount > maxJsonValues) refuseValues(maxJsonValues);
    } else if (code === 0x5b || code === 0x7b) {
      if (++depth > maxNesting) {
        throw httpErrors['bad-json']({ problem: `it is nested deeper than ${maxNesting} levels` });
      }
      if (++valueCount > maxJsonValues) refuseValues(maxJsonValues);
      names[depth] = null;
    } else if (code === 0x5d || code === 0x7d) {
      depth--;
    } else if (code === MINUS || isDigit(code)) {
      let end = i + 1;
      while (end < bytes.length && isOfNumber(bytes[end]!)) end++;
      if (isLongInteger(bytes, i, end)) {
        longIntegers.push(i, end);
        if (depth === 1 && isAtId) hasLongId = true;
      }
      i = end - 1;
    }
  }
  return { longIntegers, hasLongId };
}

function refuseValues(most: number): never {
  throw httpErrors['body-too-complex']({ what: 'values', most });
}

/** Whether the string that ends at `end` is followed by a colon. */
function isName(bytes: Buffer, end: number): boolean {
  let next = end + 1;
  while (isSpace(bytes[next])) next++;
  return bytes[next] === COLON;
}

/** Duplicate names are refused: parsers differ in which value they take. @param written between its quotes @returns the name */
function addName(known: Set<string>, written: string): string {
  const name = written.includes('\\') ? String(parse(`"${written}"`)) : written;
  if (known.has(name)) {
    throw httpErrors['bad-json']({ problem: `it has ${shortened(JSON.stringify(name.slice(0, 200)))} twice` });
  }
  known.add(name);
  return name;
}

/** Up to here a loop is faster than a search. */
const SHORT_STRING = 96;

/** The index of the quote that ends the string which begins at `start`, or the length without one. */
export function endOfString(bytes: Buffer, start: number): number {
  const { length } = bytes;
  const near = Math.min(length, start + SHORT_STRING);
  for (let at = start + 1; ; at++) {
    while (at < near && bytes[at] !== QUOTE) at++;
    if (at >= near) at = bytes.indexOf(QUOTE, at);
    if (at < 0 || at >= length) return length;
    let slashes = 0;
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes++;
    if ((slashes & 1) === 0) return at;
  }
}

function isSpace(code: number | undefined): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Digits, `+`, `-`, `.`, `e`, `E`. */
function isOfNumber(code: number): boolean {
  return isDigit(code) || code === 0x2b || code === MINUS || code === 0x2e || code === 0x65 || code === 0x45;
}

/** Whether the token is an integer that a number cannot represent exactly. */
function isLongInteger(bytes: Buffer, begin: number, end: number): boolean {
  const start = bytes[begin] === MINUS ? begin + 1 : begin;
  const digits = end - start;
  if (digits < LARGEST_SAFE.length || bytes[start] === ZERO) return false;
  for (let at = start; at < end; at++) if (!isDigit(bytes[at]!)) return false;
  return digits > LARGEST_SAFE.length || bytes.toString('latin1', start, end) > LARGEST_SAFE;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const problem = error instanceof SyntaxError ? shortened(error.message) : 'it cannot be parsed';
    throw httpErrors['bad-json']({ problem });
  }
}

/** What the live services, written in Go, say of a text that is no JSON. @param thrown what `JSON.parse` said */
export function liveSyntaxProblem(text: string, thrown: string): string {
  const END = 'unexpected end of JSON input';
  if (text.trim() === '' || /Unexpected end|Unterminated/.test(thrown)) return END;
  const at = /position (\d+)/.exec(thrown)?.[1];
  const named = /^Unexpected token '(.)'/su.exec(thrown)?.[1];
  const character = at === undefined ? (named ?? text.trim()[0]) : text[Number(at)];
  if (character === undefined) return END;
  const [, where] = PLACES.find(([said]) => said.test(thrown)) ?? [null, 'looking for beginning of value'];
  return `invalid character '${character}' ${where}`;
}

/** Where a character is wrong, by what `JSON.parse` says. */
const PLACES: readonly (readonly [RegExp, string])[] = [
  [/after JSON/, 'after top-level value'],
  [/property name or|double-quoted property name/, 'looking for beginning of object key string'],
  [/after property value/, 'after object key:value pair'],
  [/after array element/, 'after array element'],
  [/after property name/, 'after object key'],
];

/** The engine quotes the text around the error, which may be long. */
function shortened(message: string): string {
  return message.length > 160 ? `${message.slice(0, 157)}...` : message;
}

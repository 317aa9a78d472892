import { isUtf8 } from 'node:buffer';
import { httpErrors } from '#api/http/errors.js';

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
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** The largest integer that a number represents exactly. */
const LARGEST_SAFE = Buffer.from(String(Number.MAX_SAFE_INTEGER), 'latin1');

/**
 * Parses a body. Depth, names and values are counted before, in one pass over the bytes and without recursion.
 *
 * @throws http/bad-json, http/body-too-complex
 */
export function parseJsonBody(bytes: Buffer, limits: JsonLimits): JsonBody {
  if (!isUtf8(bytes)) throw httpErrors['bad-json']({ problem: 'it is not UTF-8' });
  const { longIntegers, hasLongId } = scan(bytes, limits);
  const text = (longIntegers.length === 0 ? bytes : withQuotes(bytes, longIntegers)).toString('utf8');
  // A byte order mark at the start is dropped; JSON.parse refuses it.
  return { value: parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text), hasLongId };
}

/** The bytes with quotes around parts of them. @param parts start and end of each, in order */
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
    const byte = bytes[i]!;
    if (byte === QUOTE) {
      const end = endOfText(bytes, i);
      if (isName(bytes, end)) {
        if (++nameCount > maxJsonNames) {
          throw httpErrors['body-too-complex']({ what: 'names in its objects', most: maxJsonNames });
        }
        const known = names[depth] ?? new Set();
        names[depth] = known;
        const name = addName(known, bytes.toString('utf8', i, end + 1));
        if (depth === 1) isAtId = name === 'id';
      }
      i = end;
    } else if (byte === COMMA) {
      if (++valueCount > maxJsonValues) refuseValues(maxJsonValues);
    } else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > maxNesting) {
        throw httpErrors['bad-json']({ problem: `it is nested deeper than ${maxNesting} levels` });
      }
      if (++valueCount > maxJsonValues) refuseValues(maxJsonValues);
      names[depth] = null;
    } else if (byte === 0x5d || byte === 0x7d) {
      depth--;
    } else if (byte === MINUS || isDigit(byte)) {
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

/** Duplicate names are refused: parsers differ in which value they take. Returns the name. */
function addName(known: Set<string>, quoted: string): string {
  const name = quoted.includes('\\') ? String(parse(quoted)) : quoted.slice(1, -1);
  if (known.has(name)) {
    throw httpErrors['bad-json']({ problem: `it has ${shortened(JSON.stringify(name.slice(0, 200)))} twice` });
  }
  known.add(name);
  return name;
}

/** The index of the quote that ends the string which begins at `start`, or the length without one. */
function endOfText(bytes: Buffer, start: number): number {
  for (let at = start + 1; ; at++) {
    at = bytes.indexOf(QUOTE, at);
    if (at < 0) return bytes.length;
    let slashes = 0;
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes++;
    if ((slashes & 1) === 0) return at;
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Digits, `+`, `-`, `.`, `e`, `E`. */
function isOfNumber(byte: number): boolean {
  return isDigit(byte) || byte === 0x2b || byte === MINUS || byte === 0x2e || byte === 0x65 || byte === 0x45;
}

/** Whether the token is an integer that a number cannot represent exactly. */
function isLongInteger(bytes: Buffer, begin: number, end: number): boolean {
  const start = bytes[begin] === MINUS ? begin + 1 : begin;
  const digits = end - start;
  if (digits < LARGEST_SAFE.length || bytes[start] === 0x30) return false;
  for (let at = start; at < end; at++) if (!isDigit(bytes[at]!)) return false;
  return digits > LARGEST_SAFE.length || bytes.compare(LARGEST_SAFE, 0, LARGEST_SAFE.length, start, end) > 0;
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

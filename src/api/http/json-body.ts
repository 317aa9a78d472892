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
const LARGEST_SAFE = String(Number.MAX_SAFE_INTEGER);

/**
 * Parses a body. Depth, names and values are counted before, in one pass over the text and without recursion.
 *
 * @throws http/bad-json, http/body-too-complex
 */
export function parseJsonBody(bytes: Buffer, limits: JsonLimits): JsonBody {
  if (!isUtf8(bytes)) throw httpErrors['bad-json']({ problem: 'it is not UTF-8' });
  const whole = bytes.toString('utf8');
  // A byte order mark at the start is dropped; JSON.parse refuses it.
  const text = whole.charCodeAt(0) === 0xfeff ? whole.slice(1) : whole;
  const { longIntegers, hasLongId } = scan(text, limits);
  return { value: parse(longIntegers.length === 0 ? text : withQuotes(text, longIntegers)), hasLongId };
}

/** The text with quotes around parts of it. @param parts start and end of each, in order */
function withQuotes(text: string, parts: readonly number[]): string {
  const pieces: string[] = [];
  let from = 0;
  for (const at of parts) {
    pieces.push(text.slice(from, at));
    from = at;
  }
  pieces.push(text.slice(from));
  return pieces.join('"');
}

interface Scanned {
  /** Start and end of each integer that a number cannot represent. */
  readonly longIntegers: readonly number[];
  readonly hasLongId: boolean;
}

/** Checks depth, counts and duplicate names of objects. */
function scan(text: string, { maxNesting, maxJsonNames, maxJsonValues }: JsonLimits): Scanned {
  const longIntegers: number[] = [];
  // The names of each open object; null before its first name.
  const names: (Set<string> | null)[] = [];
  let depth = 0;
  let nameCount = 0;
  let valueCount = 1;
  let isAtId = false;
  let hasLongId = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      const end = endOfString(text, i);
      if (isName(text, end)) {
        if (++nameCount > maxJsonNames) {
          throw httpErrors['body-too-complex']({ what: 'names in its objects', most: maxJsonNames });
        }
        const known = names[depth] ?? new Set();
        names[depth] = known;
        const name = addName(known, text.slice(i, end + 1));
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
      while (end < text.length && isOfNumber(text.charCodeAt(end))) end++;
      if (isLongInteger(text, i, end)) {
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
function isName(text: string, end: number): boolean {
  let next = end + 1;
  while (isSpace(text.charCodeAt(next))) next++;
  return text.charCodeAt(next) === COLON;
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
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = text.indexOf('"', at);
    if (at < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if ((slashes & 1) === 0) return at;
  }
}

function isSpace(code: number): boolean {
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
function isLongInteger(text: string, begin: number, end: number): boolean {
  const start = text.charCodeAt(begin) === MINUS ? begin + 1 : begin;
  const digits = end - start;
  if (digits < LARGEST_SAFE.length || text[start] === '0') return false;
  for (let at = start; at < end; at++) if (!isDigit(text.charCodeAt(at))) return false;
  return digits > LARGEST_SAFE.length || text.slice(start, end) > LARGEST_SAFE;
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

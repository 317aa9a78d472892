import { isUtf8 } from 'node:buffer';
import { httpErrors } from '#api/http/errors.js';
import type { RawParameters } from '#api/http/query-string.js';

/** A JSON body. */
export interface JsonBody {
  /** Integers that a number cannot represent exactly are strings of their digits in it. */
  readonly value: unknown;
  /** The original text; null when `value` has no such string. */
  readonly unaltered: string | null;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** Integers with fewer digits are safe as numbers. */
const LONG_DIGITS = 16;

/**
 * Parses a body. The depth is checked before parsing, and without recursion.
 *
 * @throws http/bad-json
 */
export function parseJsonBody(bytes: Buffer, maxNesting: number): JsonBody {
  if (!isUtf8(bytes)) throw httpErrors['bad-json']({ problem: 'it is not UTF-8' });
  const longIntegers = scan(bytes, maxNesting);
  const text = bytes.toString('utf8');
  // A byte order mark at the start is dropped; JSON.parse refuses it.
  const bare = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  if (longIntegers.length === 0) return { value: parse(bare), unaltered: null };
  const parts: string[] = [];
  let done = 0;
  for (let i = 0; i < longIntegers.length; i += 2) {
    const [start, end] = [longIntegers[i]!, longIntegers[i + 1]!];
    parts.push(bytes.toString('utf8', done, start), '"', bytes.toString('latin1', start, end), '"');
    done = end;
  }
  parts.push(bytes.toString('utf8', done));
  const quoted = parts.join('');
  return { value: parse(quoted.charCodeAt(0) === 0xfeff ? quoted.slice(1) : quoted), unaltered: bare };
}

/** Checks depth and duplicate names of objects; returns start and end of each integer that a number cannot represent. */
function scan(bytes: Buffer, maxNesting: number): number[] {
  const longIntegers: number[] = [];
  // The names of each open object; null before its first name.
  const names: (Set<string> | null)[] = [];
  let depth = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (byte === QUOTE) {
      const end = endOfText(bytes, i);
      if (isName(bytes, end)) {
        const known = names[depth] ?? new Set();
        names[depth] = known;
        addName(known, bytes.toString('utf8', i, end + 1));
      }
      i = end;
    } else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > maxNesting) {
        throw httpErrors['bad-json']({ problem: `it is nested deeper than ${maxNesting} levels` });
      }
      names[depth] = null;
    } else if (byte === 0x5d || byte === 0x7d) {
      depth--;
    } else if (byte === 0x2d || isDigit(byte)) {
      let end = i + 1;
      while (end < bytes.length && isOfNumber(bytes[end]!)) end++;
      if (end - i >= LONG_DIGITS && isLongInteger(bytes.toString('latin1', i, end))) longIntegers.push(i, end);
      i = end - 1;
    }
  }
  return longIntegers;
}

/** Whether the string that ends at `end` is followed by a colon. */
function isName(bytes: Buffer, end: number): boolean {
  let next = end + 1;
  while (isSpace(bytes[next])) next++;
  return bytes[next] === COLON;
}

/** Duplicate names are refused: parsers differ in which value they take. */
function addName(known: Set<string>, quoted: string): void {
  const name = quoted.includes('\\') ? String(parse(quoted)) : quoted.slice(1, -1);
  if (known.has(name)) throw httpErrors['bad-json']({ problem: `it has ${shortened(JSON.stringify(name))} twice` });
  known.add(name);
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
  return isDigit(byte) || byte === 0x2b || byte === 0x2d || byte === 0x2e || byte === 0x65 || byte === 0x45;
}

function isLongInteger(token: string): boolean {
  return /^-?[1-9][0-9]*$/.test(token) && !Number.isSafeInteger(Number(token));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const problem = error instanceof SyntaxError ? shortened(error.message) : 'it cannot be parsed';
    throw httpErrors['bad-json']({ problem });
  }
}

/** The engine quotes the text around the error, which may be long. */
function shortened(message: string): string {
  return message.length > 160 ? `${message.slice(0, 157)}...` : message;
}

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
export function rpcIdOf({ value, unaltered }: JsonBody): string {
  if (!isObject(value) || !Object.hasOwn(value, 'id')) return '';
  const { id } = value;
  // A long integer was replaced by a string of its digits: it is echoed as an integer.
  if (typeof id === 'string' && unaltered !== null && typeof (JSON.parse(unaltered) as RawParameters).id === 'number') {
    return id;
  }
  return JSON.stringify(id);
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

import type { RawBody } from '#api/http/http-api.js';
import { endOfString, liveSyntaxProblem } from '#api/http/json-body.js';
import { streamErrors } from '#api/stream/errors.js';

/** Nesting of a request: an object of lists. */
const MOST_DEPTH = 16;
/**
 * Names, objects and lists of a request, of which the first version has a name and a list for each account. A megabyte of empty
 * objects takes a second to be parsed.
 */
const MOST_PARTS = 10_000;
/** Items of lists. */
const MOST_ITEMS = 32_768;

/** Fields of a request that are lists, in a query or a form. */
const LISTS: ReadonlySet<string> = new Set([
  'addresses',
  'types',
  'trace_external_hash_norms',
  'action_types',
  'supported_action_types',
]);
const FLAGS: ReadonlySet<string> = new Set(['include_address_book', 'include_metadata']);

const LEAST_UNITS = 0.1;
const BYTES_PER_UNIT = 20_000;

/** Price of reading a request in work units: by its length, which the number of its addresses follows. */
export function readingPrice(bytes: number): number {
  return LEAST_UNITS + bytes / BYTES_PER_UNIT;
}

/** The value of a body: JSON, or a form. @throws stream/request */
export function bodyValue(body: RawBody | null): unknown {
  const type = body?.type?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/x-www-form-urlencoded') {
    return formValue(new URLSearchParams(Buffer.from(body!.bytes).toString()));
  }
  if (type !== 'application/json') throw streamErrors.request({ problem: 'Unprocessable Entity' });
  return jsonValue(Buffer.from(body!.bytes));
}

/** The value of a form or of a query: lists are repeated names or have commas between their items. @throws stream/request */
export function formValue(form: Iterable<readonly [string, string]>): unknown {
  const value: Record<string, string | boolean | string[]> = {};
  for (const [name, text] of form) {
    if (LISTS.has(name)) {
      const list = (value[name] ?? []) as string[];
      list.push(...text.split(','));
      value[name] = list;
    } else if (FLAGS.has(name)) value[name] = flagOf(name, text);
    else value[name] = text;
  }
  return value;
}

function flagOf(name: string, text: string): boolean {
  if (/^(?:1|t|true)$/i.test(text)) return true;
  if (/^(?:0|f|false)$/i.test(text)) return false;
  throw streamErrors.request({ problem: `${name} is not true or false` });
}

/** @throws stream/request with the text of the live service */
export function jsonValue(bytes: Buffer): unknown {
  requireSimple(bytes);
  const text = bytes.toString();
  try {
    return JSON.parse(text);
  } catch (error) {
    throw streamErrors.request({ problem: liveSyntaxProblem(text, String((error as Error).message)) });
  }
}

/** Deep values, and many small ones, cost more than they are long. @throws stream/request */
function requireSimple(bytes: Buffer): void {
  let depth = 0;
  let parts = 0;
  let items = 0;
  for (let i = 0; i < bytes.length; i++) {
    const code = bytes[i];
    if (code === QUOTE) i = endOfString(bytes, i);
    else if (code === 0x5b || code === 0x7b) {
      depth++;
      parts++;
    } else if (code === 0x5d || code === 0x7d) depth--;
    else if (code === 0x3a) parts++;
    else if (code === 0x2c) items++;
    if (depth > MOST_DEPTH) throw streamErrors.request({ problem: `more than ${MOST_DEPTH} levels` });
    if (parts > MOST_PARTS) throw streamErrors.request({ problem: `more than ${MOST_PARTS} names, objects and lists` });
    if (items > MOST_ITEMS) throw streamErrors.request({ problem: `more than ${MOST_ITEMS} items` });
  }
}

const QUOTE = 0x22;

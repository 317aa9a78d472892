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

/** The kind of a JSON value, as the live service names it. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value !== null && typeof value === 'object') return 'object';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/**
 * The fields of a request. Null and absent are the same; unknown fields are ignored. Texts of problems are those of the live service,
 * which clients compare with.
 *
 * @throws stream/request with the reason
 */
export class RequestFields {
  readonly #type: string;
  readonly #fields: ReadonlyMap<string, unknown>;

  /** @param type the name of the request in texts: `SSERequest` @param qualified the same where the whole body is wrong */
  constructor(type: string, qualified: string, value: unknown) {
    this.#type = type;
    if (value !== null && (typeof value !== 'object' || Array.isArray(value))) {
      throw problem(`json: cannot unmarshal ${kindOf(value)} into Go value of type ${qualified}`);
    }
    // Names are compared without regard to case; of equal ones the last counts.
    this.#fields = new Map(Object.entries(value ?? {}).map(([name, each]) => [name.toLowerCase(), each]));
  }

  /** @param type of the field in texts */
  text(name: string, type = 'string'): string | null {
    const value = this.#value(name);
    if (value === null) return null;
    if (typeof value !== 'string') throw this.#wrong(name, kindOf(value), type);
    return value;
  }

  flag(name: string): boolean | null {
    const value = this.#value(name);
    if (value === null) return null;
    if (typeof value !== 'boolean') throw this.#wrong(name, kindOf(value), 'bool');
    return value;
  }

  /** @param type of the items in texts */
  texts(name: string, type = 'string'): readonly string[] | null {
    const value = this.#value(name);
    if (value === null) return null;
    if (!Array.isArray(value)) throw this.#wrong(name, kindOf(value), `[]${type}`);
    return value.map((item) => {
      if (item === null) return '';
      if (typeof item !== 'string') throw this.#wrong(name, kindOf(item), type);
      return item;
    });
  }

  /** Lists of texts by name. */
  textsByName(name: string, type = 'string'): ReadonlyMap<string, readonly string[]> | null {
    const value = this.#value(name);
    if (value === null) return null;
    if (typeof value !== 'object' || Array.isArray(value))
      throw this.#wrong(name, kindOf(value), `map[string][]${type}`);
    const inner = new RequestFields(this.#type, '', {});
    const found = new Map<string, readonly string[]>();
    for (const [key, list] of Object.entries(value as object)) {
      if (list !== null && !Array.isArray(list)) throw this.#wrong(name, kindOf(list), `[]${type}`);
      const items = (list ?? []) as readonly unknown[];
      found.set(
        key,
        items.map((item) => {
          if (typeof item === 'string') return item;
          throw inner.#wrong(name, kindOf(item), type);
        }),
      );
    }
    return found;
  }

  #value(name: string): unknown {
    return this.#fields.get(name) ?? null;
  }

  #wrong(name: string, kind: string, type: string) {
    return problem(`json: cannot unmarshal ${kind} into Go struct field ${this.#type}.${name} of type ${type}`);
  }
}

function problem(text: string) {
  return streamErrors.request({ problem: text });
}

import {
  type ArrayOptions,
  type Static,
  type StaticDecode,
  type TArray,
  type TNull,
  type TObject,
  type TSchema,
  type TUnion,
  Type,
} from '@sinclair/typebox';
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

/** How long a response stays valid: not at all, until the next masterchain block, or for ever. */
export type Freshness = 'none' | 'head' | 'forever';

/**
 * One method of an API: its parameters, result and description. Routes, validation, the OpenAPI document and the JSON-RPC
 * table are all derived from this.
 */
export interface Endpoint<Context, Params extends TObject = TObject, Result extends TSchema = TSchema> {
  /** The path after the prefix, and the JSON-RPC method: `getAddressInformation`. In a plain API it may be `jetton/wallets`. */
  readonly name: string;
  /** Further names of the method, which are not in the OpenAPI document. */
  readonly aliases?: readonly string[];
  readonly verbs: readonly ('GET' | 'POST')[];
  /** Group in the API reference. */
  readonly tag: string;
  /** Not in the OpenAPI document: used by clients, but not part of the published API. */
  readonly unpublished?: boolean;
  readonly summary: string;
  /** One paragraph: result, units, limits. */
  readonly description: string;
  /** Parameters by name; those with a transform (`Type.Transform`) reach `handle` decoded. */
  readonly params: Params;
  /** Checks conditions between parameters; throws http/bad-parameter. */
  readonly check?: (params: StaticDecode<Params>) => void;
  /** The result in the `spec` profile: the value under `result`, or the whole body. */
  readonly result: Result;
  /** Statuses besides 200, for the document, without those of all endpoints (401, 403, 429, ...). */
  readonly statuses: readonly number[];
  /** Statuses of error codes where the table by class does not fit: `{ 'v2/not-a-token': 409 }`; for both profiles, or for each. */
  readonly errorStatuses?: Readonly<Record<string, number | { readonly spec: number; readonly toncenter: number }>>;
  /** Prefix of the names of its request and response schemas; default: the name without `get` or `try`, capitalised. */
  readonly schemaName?: string;
  /** How long the response may be cached, by the parameters. */
  readonly freshness: Freshness | ((params: StaticDecode<Params>) => Freshness);
  /**
   * What an answer of freshness `head` depends on, by the parameters: keys of `HttpApi.changes`. It is kept until one of them, or
   * of those that its rows name (`ApiRequest.dependsOn`), changes. Null, and without it: anything, so until the next block.
   */
  readonly depends?: (params: StaticDecode<Params>) => readonly string[] | null;
  /**
   * In the `toncenter` profile: the parameters of a body as the live service reads them, before they are checked. The parameters of
   * the query are ignored.
   */
  readonly liveBody?: (body: LiveBody) => RawParameters;
  /**
   * The estimated work of a call before it runs, in work units, where 1 unit is about 1 ms of CPU time of this process. Budgets
   * and queues count by it; after the call it is corrected by what was really done. Default: 1.
   */
  readonly price?: (params: StaticDecode<Params>, profile: 'spec' | 'toncenter') => number;
  /**
   * Whether the work is done by threads with a fair queue of their own: then a call does not wait here, nor take room while it
   * waits there. Default: false.
   */
  readonly isQueuedElsewhere?: boolean;
  /** Deadline of a call in milliseconds, where it is longer than that of the server. */
  readonly deadlineMs?: number;
  readonly handle: (params: StaticDecode<Params>, context: Context) => Promise<Static<Result> | JsonText>;
}

/** A body that an endpoint reads itself. */
export interface LiveBody {
  /** Content type without its parameters, in lower case; null: the client sent none. */
  readonly type: string | null;
  /** @throws http/bad-json, http/body-too-complex */
  json(): unknown;
  text(): string;
}

/** An endpoint with parameters and result of any type. */
// biome-ignore lint/suspicious/noExplicitAny: endpoints of all parameters and results go into one list
export type AnyEndpoint<Context> = Endpoint<Context, any, any>;

/** For a type of context: a function that declares an endpoint with the types of its parameters and result inferred. */
export function endpointOf<Context>() {
  return <Params extends TObject, Result extends TSchema>(
    definition: Endpoint<Context, Params, Result>,
  ): Endpoint<Context, Params, Result> => definition;
}

/** The end of an answer, which changes more often than the rest and can be written anew without it. */
export interface AnswerTail {
  /** Where it begins, in characters or, of an answer in UTF-8, in bytes. */
  readonly from: number;
  /** What it depends on, besides the rest. */
  readonly keys: readonly string[];
  /** What it is written from: plain values. */
  readonly source: unknown;
}

/** JSON: its text, or that in UTF-8. */
export type SerializedJson = string | Uint8Array;

/** Serialised JSON: a result that is sent unchanged. */
export class JsonText {
  readonly json: SerializedJson;
  readonly tail: AnswerTail | null;

  constructor(json: SerializedJson, tail: AnswerTail | null = null) {
    this.json = json;
    this.tail = tail;
  }

  get text(): string {
    return textOfJson(this.json);
  }

  /** For use as a value. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** @param json one JSON value, unchecked; in UTF-8 only where each profile has an answer of its own */
export function jsonText(json: SerializedJson, tail: AnswerTail | null = null): JsonText {
  return new JsonText(json, tail);
}

export function textOfJson(json: SerializedJson): string {
  return typeof json === 'string' ? json : Buffer.from(json.buffer, json.byteOffset, json.length).toString();
}

/** Schema keyword of parameters for which null is a value; for others null is the same as leaving them out. */
export const NULL_IS_VALUE = 'x-null-is-value';

/** A parameter that may be null, which differs from leaving it out. @param description says what null means */
export function nullOr<Schema extends TSchema>(schema: Schema, description: string): TUnion<[Schema, TNull]> {
  return Type.Union([schema, Type.Null()], { description, [NULL_IS_VALUE]: true });
}

/** Schema keyword of arrays whose items may also be comma-separated in a query. */
export const COMMA_SEPARATED = 'x-comma-separated';

/** An array that may be written `a=1&a=2` or `a=1,2` in a query; no item may contain a comma or be empty. */
export function commaList<Item extends TSchema>(items: Item, options: ArrayOptions = {}): TArray<Item> {
  return Type.Array(items, { ...options, [COMMA_SEPARATED]: true });
}

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

/** Raw parameters of a request by name. From a query: strings, or a list of them for a repeated name. */
export type RawParameters = Record<string, unknown>;

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
  /** Whether it reads the chain itself, in an API of which `HttpApi.headSeqno` tells the data: an answer is kept until either moves on. */
  readonly readsChain?: boolean;
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
   * waits there, and counts little for the turns of its client. Default: false.
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

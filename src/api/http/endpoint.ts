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

/** How long an answer stays true: not at all, until the next masterchain block, or for ever. */
export type Freshness = 'none' | 'head' | 'forever';

/**
 * One method of an API: what it takes, what it gives, how it is described. Routes, validation, the OpenAPI document and
 * the JSON-RPC table are all made from this.
 */
export interface Endpoint<Context, Params extends TObject = TObject, Result extends TSchema = TSchema> {
  /** The path behind the prefix, and the method of JSON-RPC: `getAddressInformation`. In a plain API it may be `jetton/wallets`. */
  readonly name: string;
  /** Further names that answer alike; they are not in the OpenAPI document. */
  readonly aliases?: readonly string[];
  readonly verbs: readonly ('GET' | 'POST')[];
  /** Group in the API reference. */
  readonly tag: string;
  /** Not in the OpenAPI document: known to clients, but not part of the published API. */
  readonly unpublished?: boolean;
  readonly summary: string;
  /** One paragraph: what is answered, units, limits. */
  readonly description: string;
  /** Parameters by name; those with a transform (`Type.Transform`) reach `handle` decoded. */
  readonly params: Params;
  /** What conditions between parameters must hold; throws http/bad-parameter. */
  readonly check?: (params: StaticDecode<Params>) => void;
  /** What is answered, in the `spec` profile: the value under `result`, or the whole body. */
  readonly result: Result;
  /** Statuses besides 200 that it may answer with, for the document; those of all endpoints (401, 403, 429, ...) aside. */
  readonly statuses: readonly number[];
  /** Statuses for errors with these codes, where the table by class does not fit: `{ 'v2/no-token': 409 }`; by profile, or of both. */
  readonly errorStatuses?: Readonly<Record<string, number | { readonly spec: number; readonly toncenter: number }>>;
  /** Begins the names of its request and response schemas; default: the name without `get` or `try`, in upper case first. */
  readonly schemaName?: string;
  /** Decides from the parameters how long the answer may be kept. */
  readonly freshness: Freshness | ((params: StaticDecode<Params>) => Freshness);
  /** What a call may take, in milliseconds, where it is more than the server grants for reads. */
  readonly deadlineMs?: number;
  readonly handle: (params: StaticDecode<Params>, context: Context) => Promise<Static<Result> | JsonText>;
}

/** An endpoint among others: what takes it does not look at the types of its parameters. */
// biome-ignore lint/suspicious/noExplicitAny: endpoints of all parameters and results go into one list
export type AnyEndpoint<Context> = Endpoint<Context, any, any>;

/** For each kind of context: declares an endpoint with the types of its parameters and result inferred. */
export function endpointOf<Context>() {
  return <Params extends TObject, Result extends TSchema>(
    definition: Endpoint<Context, Params, Result>,
  ): Endpoint<Context, Params, Result> => definition;
}

/** JSON that is written already: what a method gives as it is to be sent, instead of a value. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** For those who treat it as a value. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** @param text one whole JSON value; it is not checked */
export function jsonText(text: string): JsonText {
  return new JsonText(text);
}

/** Keyword of parameters for which null is a value of its own; for others it is the same as leaving them out. */
export const NULL_IS_VALUE = 'x-null-is-value';

/** A parameter that may be null, which is not the same as none. @param description says what null means */
export function nullOr<Schema extends TSchema>(schema: Schema, description: string): TUnion<[Schema, TNull]> {
  return Type.Union([schema, Type.Null()], { description, [NULL_IS_VALUE]: true });
}

/** Keyword of arrays whose items may also stand in one argument of a query, between commas. */
export const COMMA_SEPARATED = 'x-comma-separated';

/** An array that a query may give as `a=1&a=2` as well as `a=1,2`; no item may contain a comma or be empty. */
export function commaList<Item extends TSchema>(items: Item, options: ArrayOptions = {}): TArray<Item> {
  return Type.Array(items, { ...options, [COMMA_SEPARATED]: true });
}

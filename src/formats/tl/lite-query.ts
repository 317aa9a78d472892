import { type Boxed, decodeBoxed, storeBoxed, type TlConstructor, type TlValue } from '#formats/tl/constructor.js';
import {
  LiteServerError,
  LiteServerQuery,
  LiteServerQueryPrefix,
  LiteServerWaitMasterchainSeqno,
  liteServerFunctions,
} from '#formats/tl/lite-api.js';
import { TlReader } from '#formats/tl/tl-reader.js';
import { TlWriter } from '#formats/tl/tl-writer.js';

/**
 * Encodes a call of a liteserver function in `liteServer.query`, optionally prefixed with a wait for a masterchain block.
 * The result is the `query` of an `adnl.message.query`.
 */
export function encodeLiteQuery<F extends TlConstructor>(
  called: F,
  args: TlValue<F>,
  wait: LiteServerWaitMasterchainSeqno | null = null,
): Uint8Array {
  const writer = new TlWriter();
  writer.constructorId(LiteServerQuery.id);
  const start = writer.beginBytes();
  if (wait !== null) storeBoxed(LiteServerWaitMasterchainSeqno, wait, writer);
  storeBoxed(called, args, writer);
  writer.endBytes(start);
  return writer.finish();
}

/** All functions, including the last three, which are only valid around a call of another function. */
const callable = [
  ...liteServerFunctions,
  LiteServerQueryPrefix,
  LiteServerQuery,
  LiteServerWaitMasterchainSeqno,
] as const;

/** A decoded query to a liteserver. */
export interface DecodedLiteQuery {
  readonly wait: LiteServerWaitMasterchainSeqno | null;
  /** Name of the function and its arguments. */
  readonly call: Boxed<(typeof callable)[number]>;
  /** The encoded call, without the wait; a view. Equal bytes are equal queries. */
  readonly bytes: Uint8Array;
}

/** A query whose call is not decoded yet. */
export interface SplitLiteQuery {
  readonly wait: LiteServerWaitMasterchainSeqno | null;
  /** The encoded call; a view. Empty for a wait alone. */
  readonly bytes: Uint8Array;
}

/**
 * Splits a query into the wait and the call, as nodes do: they wait before they look at the call.
 *
 * @throws tl/unknown-constructor when it is not a query, and other tl/* errors when the wait is cut off
 */
export function splitLiteQuery(query: Uint8Array): SplitLiteQuery {
  const { data } = decodeBoxed(query, LiteServerQuery).value;
  const reader = new TlReader(data);
  let wait: LiteServerWaitMasterchainSeqno | null = null;
  if (reader.peekConstructorId() === LiteServerWaitMasterchainSeqno.id) {
    reader.constructorId();
    wait = LiteServerWaitMasterchainSeqno.load(reader);
  }
  return { wait, bytes: reader.rest() };
}

/** Decodes the call of a query. @throws tl/unknown-constructor, tl/end-of-data and others */
export function decodeLiteCall(bytes: Uint8Array): DecodedLiteQuery['call'] {
  return decodeBoxed(bytes, ...callable);
}

/**
 * The inverse of {@link encodeLiteQuery}, for servers. Byte offsets in errors are relative to the data of
 * `liteServer.query` after the wait; outside of it, to `query`.
 *
 * @throws tl/unknown-constructor when it is not a query, or does not call a function of the lite API
 */
export function decodeLiteQuery(query: Uint8Array): DecodedLiteQuery {
  const { wait, bytes } = splitLiteQuery(query);
  return { wait, call: decodeLiteCall(bytes), bytes };
}

/** The answer of a liteserver: a value of one of these constructors, or its error. */
export type LiteAnswer<C> = ({ readonly error: null } & Boxed<C>) | { readonly error: LiteServerError };

/**
 * Decodes the answer to a function: its result, or `liteServer.error`, which is returned and not thrown.
 *
 * @param others further acceptable constructors: some servers answer `liteServer.runSmcMethod` for an absent workchain
 *   with `liteServer.accountState`
 * @throws tl/unknown-constructor and other tl/* errors
 */
export function decodeLiteAnswer<R extends TlConstructor, const Others extends readonly TlConstructor[]>(
  called: { readonly result: R },
  bytes: Uint8Array,
  ...others: Others
): LiteAnswer<R | Others[number]> {
  const { name, value } = decodeBoxed(bytes, LiteServerError, called.result, ...others) as Boxed<TlConstructor>;
  if (name === LiteServerError.name) return { error: value as LiteServerError };
  return { error: null, name, value } as LiteAnswer<R | Others[number]>;
}

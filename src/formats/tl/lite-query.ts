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
 * A call of a liteserver's function as its server wants it: in `liteServer.query`, after a wait for a masterchain block
 * if there is one. What comes out is the `query` of an `adnl.message.query`.
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

/** What may be called, or stand where a call should: the last three have a meaning only around a call. */
const callable = [
  ...liteServerFunctions,
  LiteServerQueryPrefix,
  LiteServerQuery,
  LiteServerWaitMasterchainSeqno,
] as const;

/** What a liteserver is asked. */
export interface DecodedLiteQuery {
  readonly wait: LiteServerWaitMasterchainSeqno | null;
  /** Name of the function and its arguments. */
  readonly call: Boxed<(typeof callable)[number]>;
  /** The call alone, as bytes: a view. Equal bytes ask the same. */
  readonly bytes: Uint8Array;
}

/**
 * The inverse of {@link encodeLiteQuery}, for servers. Byte offsets in errors are those in the data of `liteServer.query`
 * after the wait; outside of it, those in `query`.
 *
 * @throws tl/unknown-constructor when it is no query, or calls no function of the lite API
 */
export function decodeLiteQuery(query: Uint8Array): DecodedLiteQuery {
  const { data } = decodeBoxed(query, LiteServerQuery).value;
  const reader = new TlReader(data);
  let wait: LiteServerWaitMasterchainSeqno | null = null;
  if (reader.peekConstructorId() === LiteServerWaitMasterchainSeqno.id) {
    reader.constructorId();
    wait = LiteServerWaitMasterchainSeqno.load(reader);
  }
  const bytes = reader.rest();
  return { wait, call: decodeBoxed(bytes, ...callable), bytes };
}

/** What a liteserver answered: a value of one of these constructors, or why there is none. */
export type LiteAnswer<C> = ({ readonly error: null } & Boxed<C>) | { readonly error: LiteServerError };

/**
 * Reads the answer to a function: its result, or `liteServer.error`, which is a value here and not thrown.
 * Some servers answer otherwise at times (`liteServer.runSmcMethod` for an absent workchain is answered with
 * `liteServer.accountState`): name what else is acceptable.
 *
 * @throws tl/unknown-constructor and what else reading finds
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

import type { RandomBytes } from '#drivers/adnl/keys.js';
import type { TlValue } from '#formats/tl/constructor.js';
import type { LiteServerAccountId } from '#formats/tl/generated/lite-server.js';
import type { LiteServerGetTransactions, liteServerFunctions } from '#formats/tl/generated/lite-server-functions.js';
import type { RunGetMethod } from '#localnet/liteserver/get-methods.js';
import type { Ledger } from '#localnet/liteserver/ledger.js';

/** What handlers answer from. */
export interface LiteContext {
  readonly ledger: Ledger;
  /** Seconds since 1970. */
  readonly unixTime: () => number;
  /** Without it there is no `runSmcMethod`. */
  readonly runGetMethod?: RunGetMethod;
  /** For the seed that get methods find; without it the seed is 0. */
  readonly randomBytes?: RandomBytes;
  /** Takes a message from outside for one of the next blocks. Without it the server is read-only. @throws liteserver/* */
  readonly sendMessage?: (message: Uint8Array) => Promise<void>;
  /** Brings an account that the newest state does not have from another network, if that has it. */
  readonly bringAccount?: (account: LiteServerAccountId) => Promise<void>;
  /**
   * The transactions of an account from one on, of another network from which the chain began: `liteServer.transactionList`,
   * encoded; null for a transaction that is of this chain, if of any.
   */
  readonly olderTransactions?: (query: LiteServerGetTransactions) => Promise<Uint8Array | null>;
}

type LiteFunction = (typeof liteServerFunctions)[number];

/** Answers a call of one function of the lite API. @throws liteserver/*: what the client is told instead */
export type LiteHandler<F extends LiteFunction = LiteFunction> = (
  args: TlValue<F>,
  context: LiteContext,
) => TlValue<F['result']>;

/** Handlers of some functions, by name. */
export type LiteHandlers<Name extends LiteFunction['name']> = {
  readonly [N in Name]: LiteHandler<Extract<LiteFunction, { readonly name: N }>>;
};

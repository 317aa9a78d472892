import type { RandomBytes } from '#drivers/adnl/keys.js';
import type { Cell } from '#formats/cells/cell.js';
import type { TlValue } from '#formats/tl/constructor.js';
import type { LiteServerAccountId, LiteServerGetTransactions, liteServerFunctions } from '#formats/tl/lite-api.js';
import type { VmStack, VmStackValue } from '#formats/tlb/vm-stack.js';
import type { Ledger } from '#localnet/liteserver/ledger.js';

/** What handlers answer from. */
export interface LiteContext {
  readonly ledger: Ledger;
  /** Seconds since 1970. */
  readonly unixTime: () => number;
  /** Without it, `runSmcMethod` is refused. */
  readonly runGetMethod?: RunGetMethod;
  /** For the random seed of get methods; without it the seed is 0. */
  readonly randomBytes?: RandomBytes;
  /**
   * Accepts an external-in message for one of the next blocks. Without it the server is read-only. @throws liteserver/*
   */
  readonly sendMessage?: (message: Uint8Array) => Promise<void>;
  /** In a fork: imports an account that the newest state does not have, if it exists in the forked network. */
  readonly importAccount?: (account: LiteServerAccountId) => Promise<void>;
  /**
   * In a fork: transactions of the forked network, as an encoded `liteServer.transactionList`; null for a transaction
   * of the local chain.
   */
  readonly forkedTransactions?: (query: LiteServerGetTransactions) => Promise<Uint8Array | null>;
}

type LiteFunction = (typeof liteServerFunctions)[number];

/** Answers a function of the lite API. @throws liteserver/*: the error for the client */
export type LiteHandler<F extends LiteFunction = LiteFunction> = (
  args: TlValue<F>,
  context: LiteContext,
) => TlValue<F['result']>;

/** Handlers of some functions, by name. */
export type LiteHandlers<Name extends LiteFunction['name']> = {
  readonly [N in Name]: LiteHandler<Extract<LiteFunction, { readonly name: N }>>;
};

/**
 * A get method of an account, with everything that it can read, of one masterchain block and the shard block it
 * commits.
 */
export interface GetMethodRun {
  readonly code: Cell;
  readonly data: Cell | null;
  /** Method id: int64. */
  readonly method_id: bigint;
  /** Arguments, the last one on top; no continuations. */
  readonly stack: VmStack;
  /** `c7` of the run: address, time, configuration, previous blocks. */
  readonly c7: VmStackValue;
  /** `ACCEPT` does not raise it. */
  readonly gas_limit: number;
  /** Root of `Hashmap 32 ^Cell`: the configuration of the masterchain block, which the TVM follows. */
  readonly config: Cell;
  /** Root of a dictionary by hash; each value starts with a reference to the library. */
  readonly libraries: Cell | null;
}

/** Result of a run, also of one that throws. */
interface GetMethodOutcome {
  readonly exit_code: number;
  /** The last result on top. */
  readonly stack: VmStack;
}

/** Runs get methods on a TVM. */
export type RunGetMethod = (run: GetMethodRun) => Promise<GetMethodOutcome>;

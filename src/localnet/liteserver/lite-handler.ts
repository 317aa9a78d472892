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
  /** Without it there is no `runSmcMethod`. */
  readonly runGetMethod?: RunGetMethod;
  /** For the seed that get methods find; without it the seed is 0. */
  readonly randomBytes?: RandomBytes;
  /** Takes a message from outside for one of the next blocks. Without it the server is read-only. @throws liteserver/* */
  readonly sendMessage?: (message: Uint8Array) => Promise<void>;
  /** Brings an account that the newest state does not have from another network, if that has it. */
  readonly importAccount?: (account: LiteServerAccountId) => Promise<void>;
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

/** A get method of an account, with all that it may look at, of one masterchain block and the shard block it commits. */
export interface GetMethodRun {
  readonly code: Cell;
  readonly data: Cell | null;
  /** Id of the method: int64. */
  readonly method_id: bigint;
  /** Arguments, the last one on top; no continuations. */
  readonly stack: VmStack;
  /** What the contract finds in `c7`: itself, time, configuration, blocks before. */
  readonly c7: VmStackValue;
  /** Nothing lifts it. */
  readonly gas_limit: number;
  /** Root of `Hashmap 32 ^Cell`: the configuration of the masterchain block, which the machine keeps to. */
  readonly config: Cell;
  /** Root of a dictionary by hash, with a reference to the library first in each value. */
  readonly libraries: Cell | null;
}

/** What came of a run. A contract that throws is a result, too. */
export interface GetMethodOutcome {
  readonly exit_code: number;
  /** The last result on top. */
  readonly stack: VmStack;
}

/** Runs get methods: a virtual machine, which the server is given. */
export type RunGetMethod = (run: GetMethodRun) => Promise<GetMethodOutcome>;

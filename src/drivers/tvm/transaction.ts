import {
  findLibraries,
  LOG_LEVELS,
  type LogLevel,
  type ResolveLibrary,
  randSeedOf,
  type TvmPrevBlocksInfo,
  uint32Of,
  uint64Of,
  wholeCellBoc,
} from '#drivers/tvm/request-fields.js';
import type { NotAcceptedReply, TransactionJob, TransactionReply } from '#drivers/tvm/worker-protocol.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { ShardAccount } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Message, messageInit } from '#formats/tlb/message.js';

/** What a transaction of any kind depends on. */
interface TransactionContext {
  /** A `ShardAccount`: the account before. For one that does not exist: `account_none`, zeros. */
  readonly shard_account: Cell;
  /** Root of `Hashmap 32 ^Cell`, whole. */
  readonly config: Cell;
  /** Unix seconds: the time of the block. */
  readonly now: number;
  /** Logical time, at least; of the block it is `lt` rounded down to a million. */
  readonly lt: bigint;
  /** The seed of the block, 32 bytes; zeros when not given. */
  readonly rand_seed?: Uint8Array;
  readonly prev_blocks_info?: TvmPrevBlocksInfo | null;
  /** Root of `HashmapE 256 ^Cell`, or of the libraries of a masterchain state. */
  readonly libraries?: Cell | null;
  /** Gets libraries that the code of account and message names and that are not among `libraries`. */
  readonly resolveLibrary?: ResolveLibrary;
  /** Every signature is right. */
  readonly ignore_chksig?: boolean;
  /** How much the log says; `short` when not given. */
  readonly log_level?: LogLevel;
}

/** An ordinary transaction: a message comes in, from inside or outside of the network. */
export interface TransactionRequest extends TransactionContext {
  readonly message: Cell;
}

/** A transaction without a message, as special contracts of the masterchain have them in each block. */
export interface TickTockRequest extends TransactionContext {
  readonly which: 'tick' | 'tock';
}

/** A transaction was made, whether or not it aborted. */
export interface EmulatedTransaction {
  readonly accepted: true;
  /** A `Transaction`. */
  readonly transaction: Cell;
  /** A `ShardAccount`: the account afterwards. */
  readonly shard_account: Cell;
  /** An `OutList`; null when the code was not run. */
  readonly actions: Cell | null;
  /** The last 256 KB of it. */
  readonly vm_log: string;
}

/** The message from outside was not accepted: there is no transaction. */
export interface NotAccepted {
  readonly accepted: false;
  /** In words of the emulator. */
  readonly problem: string;
  /** Null when the contract was not run: there is none, or the account cannot pay. */
  readonly exit_code: number | null;
  readonly vm_log: string;
}

export type TransactionResult = EmulatedTransaction | NotAccepted;

/** All but configuration, libraries and previous blocks. */
export type TransactionParts = Omit<TransactionJob, 'config' | 'libraries' | 'prevBlocksInfo'>;

/** @throws tvm/bad-request */
export function transactionParts(request: TransactionRequest | TickTockRequest): TransactionParts {
  const { log_level = 'short', ignore_chksig = false } = request;
  const tickTock = 'which' in request;
  return {
    kind: 'transaction',
    verbosity: LOG_LEVELS.indexOf(log_level),
    account: wholeCellBoc('shard_account', request.shard_account),
    message: tickTock ? null : wholeCellBoc('message', request.message),
    params: {
      utime: uint32Of('now', request.now),
      lt: uint64Of('lt', request.lt),
      rand_seed: randSeedOf(request.rand_seed),
      ignore_chksig,
      debug_enabled: false,
      is_tick_tock: tickTock,
      is_tock: tickTock && request.which === 'tock',
    },
  };
}

/** Hashes of libraries that the code names which may run. @throws cells/*, tlb/* */
export function librariesOfTransaction(request: TransactionRequest | TickTockRequest): Uint8Array[] {
  const codes: (Cell | null)[] = [];
  const account = decodeCell(ShardAccount, request.shard_account).account.value;
  if (account.kind === 'account' && account.storage.state.kind === 'account_active') {
    codes.push(account.storage.state.state_init.code);
  }
  if ('message' in request) codes.push(messageInit(decodeCell(Message, request.message))?.code ?? null);
  return codes.flatMap((code) => (code === null ? [] : findLibraries(code)));
}

export function transactionResult(reply: TransactionReply | NotAcceptedReply): TransactionResult {
  if (reply.kind === 'not-accepted') {
    return { accepted: false, problem: reply.problem, exit_code: reply.exitCode, vm_log: reply.log };
  }
  return {
    accepted: true,
    transaction: parseBocRoot(reply.transaction),
    shard_account: parseBocRoot(reply.shardAccount),
    actions: reply.actions === null ? null : parseBocRoot(reply.actions),
    vm_log: reply.log,
  };
}

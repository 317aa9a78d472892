import {
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

/** Input of a transaction of any kind. */
interface TransactionContext {
  /** A `ShardAccount`: the account before the transaction. For a nonexistent account: `account_none`, zeros. */
  readonly shard_account: Cell;
  /** Root of `Hashmap 32 ^Cell`, complete. */
  readonly config: Cell;
  /** Unix seconds: block time. */
  readonly now: number;
  /** Minimum logical time; the block lt is `lt` rounded down to a million. */
  readonly lt: bigint;
  /** Random seed of the block, 32 bytes; default: zeros. */
  readonly rand_seed?: Uint8Array;
  readonly prev_blocks_info?: TvmPrevBlocksInfo | null;
  /** Root of `HashmapE 256 ^Cell`, or of the libraries of a masterchain state. */
  readonly libraries?: Cell | null;
  /** Resolves libraries referenced by the code of account and message that are not among `libraries`. */
  readonly resolveLibrary?: ResolveLibrary;
  /** All signature checks succeed. */
  readonly ignore_chksig?: boolean;
  /** Log level; default: `short`. */
  readonly log_level?: LogLevel;
}

/** An ordinary transaction with an internal or external-in message. */
export interface TransactionRequest extends TransactionContext {
  readonly message: Cell;
}

/** A tick or tock transaction, as for special masterchain contracts in each block. */
export interface TickTockRequest extends TransactionContext {
  readonly which: 'tick' | 'tock';
}

/** A transaction was created, aborted or not. */
interface EmulatedTransaction {
  readonly accepted: true;
  /** A `Transaction`. */
  readonly transaction: Cell;
  /** A `ShardAccount`: the account after the transaction. */
  readonly shard_account: Cell;
  /** An `OutList`; null when the compute phase was skipped. */
  readonly actions: Cell | null;
  /** The last 256 KB of the log. */
  readonly vm_log: string;
}

/** The external-in message was not accepted: there is no transaction. */
interface NotAccepted {
  readonly accepted: false;
  /** Message of the emulator. */
  readonly problem: string;
  /** Null when the contract was not run: it does not exist, or the account has no funds. */
  readonly exit_code: number | null;
  readonly vm_log: string;
}

export type TransactionResult = EmulatedTransaction | NotAccepted;

/** The request without configuration, libraries and previous blocks. */
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

/** The codes that may run: of the account, and of the message. @throws cells/*, tlb/* */
export function codesOfTransaction(request: TransactionRequest | TickTockRequest): Cell[] {
  const codes: (Cell | null)[] = [];
  const account = decodeCell(ShardAccount, request.shard_account).account.value;
  if (account.kind === 'account' && account.storage.state.kind === 'account_active') {
    codes.push(account.storage.state.state_init.code);
  }
  if ('message' in request) codes.push(messageInit(decodeCell(Message, request.message))?.code ?? null);
  return codes.filter((code) => code !== null);
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

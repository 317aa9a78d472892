import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { StateInit } from '#formats/tlb/account.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { type Message, messageBodyCell } from '#formats/tlb/message.js';
import { accountOf } from '#formats/tlb/msg-address.js';
import type { Transaction } from '#formats/tlb/transaction.js';

/** A complete trace: the tree of transactions that are connected by messages. */
export interface TraceInput {
  /** Hash of its root transaction. */
  readonly trace_id: Uint8Array;
  /** In any order. */
  readonly transactions: readonly TracedTransaction[];
}

type TraceAccountStatus = 'uninit' | 'active' | 'frozen' | 'nonexist';

/** A transaction as classification sees it. */
export interface TracedTransaction {
  readonly hash: Uint8Array;
  readonly account: Address;
  readonly lt: bigint;
  /** Unix time in seconds. */
  readonly utime: number;
  /** Masterchain block that commits it. */
  readonly mc_seqno: number;
  readonly kind: 'ordinary' | 'tick_tock' | 'other';
  readonly aborted: boolean;
  /** Of the compute phase; null when that was skipped. */
  readonly exit_code: number | null;
  /** Why the compute phase was skipped. */
  readonly skipped: 'no_state' | 'bad_state' | 'no_gas' | 'suspended' | null;
  readonly orig_status: TraceAccountStatus;
  readonly end_status: TraceAccountStatus;
  readonly in_msg: TracedMessage | null;
  /** In the order in which they were sent. */
  readonly out_msgs: readonly TracedMessage[];
}

/** A message: internal, external-in (no source) or external-out (no destination). */
export interface TracedMessage {
  /** Of the message cell. */
  readonly hash: Uint8Array;
  readonly source: Address | null;
  readonly destination: Address | null;
  /** Nanotons; null for external messages. */
  readonly value: bigint | null;
  readonly currencies: ReadonlyMap<number, bigint>;
  readonly bounce: boolean;
  readonly bounced: boolean;
  /** Null for external-in messages. */
  readonly created_lt: bigint | null;
  /** Unix time in seconds; null for external-in messages. */
  readonly created_at: number | null;
  /** An inline body is a cell of its own. */
  readonly body: Cell;
  /** `StateInit` */
  readonly init: Cell | null;
}

/** Where a transaction is, and what its cell does not contain. */
export interface TransactionPlace {
  readonly hash: Uint8Array;
  readonly account: Address;
  readonly mc_seqno: number;
}

/** A decoded transaction as classification sees it. @throws as decoding its parts */
export function traceTransaction(
  transaction: Transaction,
  { hash, account, mc_seqno }: TransactionPlace,
): TracedTransaction {
  const description = transaction.description.value;
  const compute = 'compute_ph' in description ? description.compute_ph : null;
  const ran = compute?.kind === 'tr_phase_compute_vm' ? compute : null;
  const skipped = compute?.kind === 'tr_phase_compute_skipped' ? SKIP_REASONS[compute.reason] : null;
  return {
    hash,
    account,
    lt: transaction.lt,
    utime: transaction.now,
    mc_seqno,
    kind: KINDS[description.kind] ?? 'other',
    aborted: 'aborted' in description && description.aborted,
    exit_code: ran === null ? null : ran.exit_code,
    skipped,
    orig_status: STATUSES[transaction.orig_status],
    end_status: STATUSES[transaction.end_status],
    in_msg: transaction.in_msg === null ? null : traceMessage(transaction.in_msg.value, transaction.in_msg.cell.hash()),
    out_msgs: Array.from(transaction.out_msgs, ([, message]) => traceMessage(message.value, message.cell.hash())),
  };
}

const KINDS: Readonly<Record<string, TracedTransaction['kind']>> = {
  trans_ord: 'ordinary',
  trans_tick_tock: 'tick_tock',
};
const SKIP_REASONS = {
  cskip_no_state: 'no_state',
  cskip_bad_state: 'bad_state',
  cskip_no_gas: 'no_gas',
  cskip_suspended: 'suspended',
} as const;
const STATUSES = {
  acc_state_uninit: 'uninit',
  acc_state_active: 'active',
  acc_state_frozen: 'frozen',
  acc_state_nonexist: 'nonexist',
} as const;

const NO_CURRENCIES: ReadonlyMap<number, bigint> = new Map();

/** @param hash of the message cell */
function traceMessage(message: Message, hash: Uint8Array): TracedMessage {
  const { info, init } = message;
  const internal = info.kind === 'int_msg_info' ? info : null;
  return {
    hash,
    source: info.kind === 'ext_in_msg_info' ? null : accountOf(info.src),
    destination: info.kind === 'ext_out_msg_info' ? null : accountOf(info.dest),
    value: internal === null ? null : internal.value.grams,
    currencies: internal === null || internal.value.other.isEmpty ? NO_CURRENCIES : new Map(internal.value.other),
    bounce: internal?.bounce ?? false,
    bounced: internal?.bounced ?? false,
    created_lt: info.kind === 'ext_in_msg_info' ? null : info.created_lt,
    created_at: info.kind === 'ext_in_msg_info' ? null : info.created_at,
    body: messageBodyCell(message),
    init: init === null ? null : init.kind === 'left' ? encodeCell(StateInit, init.value) : init.value.cell,
  };
}

import type * as core from '@ton/core';
import type { Cell } from '#formats/cells/cell.js';
import type { Account, StateInit, StorageUsed } from '#formats/tlb/account.js';
import type { CurrencyCollection } from '#formats/tlb/currency.js';
import {
  type CommonMsgInfo,
  type CommonMsgInfoRelaxed,
  type Message,
  type MessageRelaxed,
  messageBodyCell,
  messageInit,
} from '#formats/tlb/message.js';
import { formatMsgAddress, type MsgAddress } from '#formats/tlb/msg-address.js';
import type {
  SplitMergeInfo,
  TrActionPhase,
  Transaction,
  TransactionDescr,
  TrBouncePhase,
  TrComputePhase,
  TrCreditPhase,
  TrStoragePhase,
} from '#formats/tlb/transaction.js';
import { BitString, toHex } from '#kernel/bytes.js';

// Both libraries' values as one plain shape, the names being those of @ton/core: a test compares field by field.

const big = (hash: Uint8Array) => BigInt(`0x${toHex(hash)}`);
const address = (value: MsgAddress) => formatMsgAddress(value);
const hashOf = (cell: Cell | null) => (cell === null ? null : toHex(cell.hash()));

export function plainTransaction(transaction: Transaction): unknown {
  return plain({
    address: big(transaction.account_addr),
    lt: transaction.lt,
    prevTransactionHash: big(transaction.prev_trans_hash),
    prevTransactionLt: transaction.prev_trans_lt,
    now: transaction.now,
    outMessagesCount: transaction.outmsg_cnt,
    oldStatus: STATUS[transaction.orig_status],
    endStatus: STATUS[transaction.end_status],
    inMessage: transaction.in_msg === null ? null : plainMessage(transaction.in_msg.value),
    outMessages: [...transaction.out_msgs].map(([key, message]) => [key, plainMessage(message.value)]),
    totalFees: currency(transaction.total_fees),
    stateUpdate: {
      oldHash: toHex(transaction.state_update.value.old_hash),
      newHash: toHex(transaction.state_update.value.new_hash),
    },
    description: description(transaction.description.value),
  });
}

const STATUS = {
  acc_state_uninit: 'uninitialized',
  acc_state_frozen: 'frozen',
  acc_state_active: 'active',
  acc_state_nonexist: 'non-existing',
} as const;
const CHANGE = { acst_unchanged: 'unchanged', acst_frozen: 'frozen', acst_deleted: 'deleted' } as const;
const SKIPPED = {
  cskip_no_state: 'no-state',
  cskip_bad_state: 'bad-state',
  cskip_no_gas: 'no-gas',
  cskip_suspended: 'suspended',
} as const;

const currency = ({ grams, other }: CurrencyCollection) => ({ coins: grams, other: [...other] });
const used = ({ cells, bits }: StorageUsed) => ({ cells, bits });

export function plainDescription(descr: TransactionDescr): unknown {
  return plain(description(descr));
}

function description(descr: TransactionDescr): object {
  const storagePhase = 'storage_ph' in descr ? storage(descr.storage_ph) : undefined;
  const ran = (d: Extract<TransactionDescr, { compute_ph: TrComputePhase }>) => ({
    storagePhase,
    computePhase: compute(d.compute_ph),
    actionPhase: d.action === null ? null : action(d.action.value),
    aborted: d.aborted,
    destroyed: d.destroyed,
  });
  switch (descr.kind) {
    case 'trans_ord':
      return {
        type: 'generic',
        creditFirst: descr.credit_first,
        creditPhase: credit(descr.credit_ph),
        bouncePhase: bounce(descr.bounce),
        ...ran(descr),
      };
    case 'trans_storage':
      return { type: 'storage', storagePhase };
    case 'trans_tick_tock':
      return { type: 'tick-tock', isTock: descr.is_tock, ...ran(descr) };
    case 'trans_split_prepare':
      return { type: 'split-prepare', splitInfo: splitInfo(descr.split_info), ...ran(descr) };
    case 'trans_split_install':
      return {
        type: 'split-install',
        splitInfo: splitInfo(descr.split_info),
        prepareTransaction: plainTransaction(descr.prepare_transaction.value),
        installed: descr.installed,
      };
    case 'trans_merge_prepare':
      return { type: 'merge-prepare', splitInfo: splitInfo(descr.split_info), storagePhase, aborted: descr.aborted };
    case 'trans_merge_install':
      return {
        type: 'merge-install',
        splitInfo: splitInfo(descr.split_info),
        prepareTransaction: plainTransaction(descr.prepare_transaction.value),
        creditPhase: credit(descr.credit_ph),
        ...ran(descr),
      };
  }
}

const splitInfo = (info: SplitMergeInfo) => ({
  currentShardPrefixLength: info.cur_shard_pfx_len,
  accountSplitDepth: info.acc_split_depth,
  thisAddress: big(info.this_addr),
  siblingAddress: big(info.sibling_addr),
});

const storage = (phase: TrStoragePhase | null) =>
  phase === null
    ? null
    : {
        storageFeesCollected: phase.storage_fees_collected,
        storageFeesDue: phase.storage_fees_due,
        statusChange: CHANGE[phase.status_change],
      };
/** The misspelt name is the one that @ton/core gives when reading. */
const credit = (phase: TrCreditPhase | null) =>
  phase === null ? null : { dueFeesColelcted: phase.due_fees_collected, credit: currency(phase.credit) };

function compute(phase: TrComputePhase): object {
  if (phase.kind === 'tr_phase_compute_skipped') return { type: 'skipped', reason: SKIPPED[phase.reason] };
  return {
    type: 'vm',
    success: phase.success,
    messageStateUsed: phase.msg_state_used,
    accountActivated: phase.account_activated,
    gasFees: phase.gas_fees,
    gasUsed: phase.gas_used,
    gasLimit: phase.gas_limit,
    gasCredit: phase.gas_credit,
    mode: phase.mode,
    exitCode: phase.exit_code,
    exitArg: phase.exit_arg,
    vmSteps: phase.vm_steps,
    vmInitStateHash: big(phase.vm_init_state_hash),
    vmFinalStateHash: big(phase.vm_final_state_hash),
  };
}

const action = (phase: TrActionPhase) => ({
  success: phase.success,
  valid: phase.valid,
  noFunds: phase.no_funds,
  statusChange: CHANGE[phase.status_change],
  totalFwdFees: phase.total_fwd_fees,
  totalActionFees: phase.total_action_fees,
  resultCode: phase.result_code,
  resultArg: phase.result_arg,
  totalActions: phase.tot_actions,
  specActions: phase.spec_actions,
  skippedActions: phase.skipped_actions,
  messagesCreated: phase.msgs_created,
  actionListHash: big(phase.action_list_hash),
  totalMessageSize: used(phase.tot_msg_size),
});

function bounce(phase: TrBouncePhase | null): object | null {
  if (phase === null) return null;
  if (phase.kind === 'tr_phase_bounce_negfunds') return { type: 'negative-funds' };
  if (phase.kind === 'tr_phase_bounce_nofunds')
    return { type: 'no-funds', messageSize: used(phase.msg_size), requiredForwardFees: phase.req_fwd_fees };
  return {
    type: 'ok',
    messageSize: used(phase.msg_size),
    messageFees: phase.msg_fees,
    forwardFees: phase.fwd_fees,
  };
}

export function plainMessage(message: Message | MessageRelaxed): unknown {
  return plain({
    info: plainInfo(message.info),
    init: plainInit(messageInit(message)),
    body: hashOf(messageBodyCell(message)),
  });
}

function plainInfo(info: CommonMsgInfo | CommonMsgInfoRelaxed): object {
  if (info.kind === 'ext_in_msg_info')
    return { type: 'external-in', src: address(info.src), dest: address(info.dest), importFee: info.import_fee };
  const ends = { src: address(info.src), dest: address(info.dest) };
  const created = { createdLt: info.created_lt, createdAt: info.created_at };
  if (info.kind === 'ext_out_msg_info') return { type: 'external-out', ...ends, ...created };
  return {
    type: 'internal',
    ihrDisabled: info.ihr_disabled,
    bounce: info.bounce,
    bounced: info.bounced,
    value: currency(info.value),
    ihrFee: info.extra_flags,
    forwardFee: info.fwd_fee,
    ...ends,
    ...created,
  };
}

function plainInit(init: StateInit | null): object | null {
  if (init === null) return null;
  return {
    splitDepth: init.fixed_prefix_length,
    special: init.special,
    code: hashOf(init.code),
    data: hashOf(init.data),
    libraries: [...init.library].map(([key, lib]) => [big(key), { public: lib.public, root: hashOf(lib.root) }]),
  };
}

export function plainAccount(account: Account): unknown {
  if (account.kind === 'account_none') return null;
  const { storage_stat: stat, storage } = account;
  const { state } = storage;
  return plain({
    addr: address(account.addr),
    storageStats: {
      used: used(stat.used),
      storageExtra:
        stat.storage_extra.kind === 'storage_extra_none' ? null : { dictHash: big(stat.storage_extra.dict_hash) },
      lastPaid: stat.last_paid,
      duePayment: stat.due_payment,
    },
    storage: {
      lastTransLt: storage.last_trans_lt,
      balance: currency(storage.balance),
      state:
        state.kind === 'account_active'
          ? { type: 'active', state: plainInit(state.state_init) }
          : state.kind === 'account_frozen'
            ? { type: 'frozen', stateHash: big(state.state_hash) }
            : { type: 'uninit' },
    },
  });
}

// The other side: cells as their hash, addresses as text, dictionaries as lists of entries. Of both sides, what is absent
// or an empty dictionary is left out: @ton/core has several ways to say so.

export function coreTransaction(transaction: core.Transaction): unknown {
  const { raw: _, outMessages, inMessage, stateUpdate, ...rest } = transaction;
  return plain({
    ...rest,
    hash: undefined,
    inMessage: inMessage == null ? null : coreMessage(inMessage),
    outMessages: [...outMessages].map(([key, message]) => [key, coreMessage(message)]),
    stateUpdate: { oldHash: toHex(stateUpdate.oldHash), newHash: toHex(stateUpdate.newHash) },
  });
}

export function coreDescription(descr: core.TransactionDescription): unknown {
  if ('prepareTransaction' in descr)
    return plain({ ...descr, prepareTransaction: coreTransaction(descr.prepareTransaction) });
  return plain(descr);
}

export function coreMessage(message: core.Message | core.MessageRelaxed): unknown {
  return plain({
    info: { ...message.info, src: message.info.src ?? 'addr_none', dest: message.info.dest ?? 'addr_none' },
    init: message.init ?? null,
    body: message.body,
  });
}

export function coreAccount(account: core.Account): unknown {
  return plain(account);
}

function plain(value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'object') return value;
  if (value instanceof Uint8Array) return toHex(value);
  if (Array.isArray(value)) return value.map(plain);
  if ('toRawString' in value) return (value as core.Address).toRawString();
  if ('bits' in value && 'refs' in value) return toHex((value as core.Cell).hash());
  if ('value' in value && 'bits' in value && typeof value.value === 'bigint')
    return formatMsgAddress({ kind: 'addr_extern', external_address: externalBits(value as core.ExternalAddress) });
  if (Symbol.iterator in value) return [...(value as Iterable<unknown>)].map(plain);
  const out: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(value)) {
    const kept = plain(part);
    if (kept !== null && !(Array.isArray(kept) && kept.length === 0)) out[key] = kept;
  }
  return out;
}

function externalBits(address: core.ExternalAddress): BitString {
  const bytes = (address.bits + 7) >> 3;
  const shifted = address.value << BigInt(bytes * 8 - address.bits);
  return new BitString(new Uint8Array(Buffer.from(shifted.toString(16).padStart(bytes * 2, '0'), 'hex')), address.bits);
}

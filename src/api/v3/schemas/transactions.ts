import { Type } from '@sinclair/typebox';
import { AddressBook, Metadata } from '#api/v3/schemas/address-book.js';
import { BlockId } from '#api/v3/schemas/blocks.js';
import {
  address,
  boc,
  currencies,
  decimal,
  flag,
  hash,
  integer,
  namedObject,
  nullable,
  optional,
  text,
} from '#api/v3/schemas/fields.js';
import { Message } from '#api/v3/schemas/messages.js';

export const ACCOUNT_STATUSES = ['uninit', 'active', 'frozen', 'nonexist'] as const;
const STATUS_CHANGE = 'What became of the account: `unchanged`, `frozen` or `deleted`.';

const MsgSize = namedObject('MsgSize', {
  cells: decimal('Distinct cells.'),
  bits: decimal('Bits of data in them.'),
});

const StoragePhase = namedObject('StoragePhase', {
  storage_fees_collected: decimal('Nanotons taken as rent.'),
  storage_fees_due: optional(decimal('Nanotons of rent still owed.')),
  status_change: text(STATUS_CHANGE),
});

const CreditPhase = namedObject('CreditPhase', {
  due_fees_collected: optional(decimal('Nanotons of old debts that were taken.')),
  credit: decimal('Nanotons that the message brought.'),
  credit_extra_currencies: optional(currencies),
});

const ComputePhase = namedObject(
  'ComputePhase',
  {
    skipped: flag('No code ran; there is only a `reason`.'),
    reason: optional(text('`no_state`, `bad_state`, `no_gas` or `suspended`.')),
    success: optional(flag('The code ended well.')),
    msg_state_used: optional(flag('The state came with the message.')),
    account_activated: optional(flag('The account was deployed or thawed.')),
    gas_fees: optional(decimal('Nanotons.')),
    gas_used: optional(decimal('Gas.')),
    gas_limit: optional(decimal('Gas.')),
    gas_credit: optional(decimal('Gas before a message from outside is accepted.')),
    mode: optional(integer('Mode of the virtual machine.')),
    exit_code: optional(integer('0 and 1 are success.')),
    exit_arg: optional(integer('Argument of an exception.')),
    vm_steps: optional(integer('Instructions.')),
    vm_init_state_hash: optional(hash('Of the machine before.')),
    vm_final_state_hash: optional(hash('Of the machine after.')),
  },
  'The run of the contract’s code.',
);

const ActionPhase = namedObject(
  'ActionPhase',
  {
    success: flag('All was done.'),
    valid: flag('The list of actions could be read.'),
    no_funds: flag('Something failed for lack of coins.'),
    status_change: text(STATUS_CHANGE),
    total_fwd_fees: optional(decimal('Nanotons for the ways of all messages.')),
    total_action_fees: optional(decimal('Nanotons of these that stay with the validators of the sender.')),
    result_code: integer('0 is success.'),
    result_arg: optional(integer('Number of the action that failed.')),
    tot_actions: integer('Actions in the list.'),
    spec_actions: integer('Actions besides messages and reserves.'),
    skipped_actions: integer('Actions that were allowed to fail and did.'),
    msgs_created: integer('Messages that were sent.'),
    action_list_hash: hash('Of the list.'),
    tot_msg_size: MsgSize,
  },
  'What was done of the actions that the code asked for.',
);

const BouncePhase = namedObject(
  'BouncePhase',
  {
    type: text(
      '`ok`: the message went back. `nofunds`: there were not enough coins for that. `negfunds`: none at all.',
    ),
    msg_size: optional(MsgSize),
    req_fwd_fees: optional(decimal('Nanotons that would have been needed.')),
    msg_fees: optional(decimal('Nanotons that stay with the validators.')),
    fwd_fees: optional(decimal('Nanotons for the way.')),
  },
  'What became of a message after a failure.',
);

const SplitInfo = namedObject('SplitInfo', {
  cur_shard_pfx_len: integer('Bits of the shard’s prefix.'),
  acc_split_depth: integer('How often the account may be split.'),
  this_addr: hash('This half.'),
  sibling_addr: hash('The other half.'),
});

const TransactionDescr = namedObject(
  'TransactionDescr',
  {
    type: text('`ord`, `storage`, `tick_tock`, `split_prepare`, `split_install`, `merge_prepare` or `merge_install`.'),
    aborted: optional(flag('It had no effect but its fees.')),
    destroyed: optional(flag('The account is gone.')),
    credit_first: optional(flag('The value was added before the rent was taken.')),
    is_tock: optional(flag('Of tick-tock: at the end of the block.')),
    installed: optional(flag('Of splits.')),
    storage_ph: optional(StoragePhase),
    credit_ph: optional(CreditPhase),
    compute_ph: optional(ComputePhase),
    action: optional(ActionPhase),
    bounce: optional(BouncePhase),
    split_info: optional(SplitInfo),
  },
  'Kind and phases; what a kind does not have is not there.',
);

export const AccountState = namedObject(
  'AccountState',
  {
    hash: hash('Of the account’s cell.'),
    balance: nullable(decimal('Nanotons.')),
    extra_currencies: nullable(currencies),
    account_status: nullable(text('`uninit`, `active`, `frozen` or `nonexist`.')),
    frozen_hash: nullable(hash('State that a frozen account had.')),
    data_hash: nullable(hash('Of the data.')),
    code_hash: nullable(hash('Of the code.')),
    data_boc: optional(boc('Not filled here.')),
    code_boc: optional(boc('Not filled here.')),
  },
  'A state of an account. Between transactions of one block only its hash is known, and before the indexed history.',
);

const orig_status = text('Status before.', { enum: ACCOUNT_STATUSES });
const end_status = text('Status after.', { enum: ACCOUNT_STATUSES });

export const Transaction = namedObject(
  'Transaction',
  {
    account: address('Account that it is of.'),
    hash: hash('Hash of the transaction.'),
    lt: decimal('Logical time.'),
    now: integer('When its block was made: unix time in seconds.'),
    mc_block_seqno: integer('Masterchain block that commits it.'),
    trace_id: optional(hash('Trace that it is in: the hash of its first transaction.')),
    trace_external_hash: optional(hash('Of transactions that are not in a block yet; not told here.')),
    prev_trans_hash: hash('The transaction of the account before it.'),
    prev_trans_lt: decimal('Its logical time; 0 for the first one.'),
    orig_status,
    end_status,
    total_fees: decimal('Nanotons.'),
    total_fees_extra_currencies: currencies,
    description: TransactionDescr,
    block_ref: BlockId,
    in_msg: nullable(Message),
    out_msgs: Type.Array(Message, { description: 'In the order of sending.' }),
    account_state_before: AccountState,
    account_state_after: AccountState,
    emulated: flag('False: it is in a block.'),
    finality: text('`finalized`: the masterchain commits its block. All of the index is.'),
  },
  'A transaction, with its messages and what it did.',
);

export const TransactionsResponse = namedObject('TransactionsResponse', {
  transactions: Type.Array(Transaction),
  address_book: AddressBook,
});

export const MessagesResponse = namedObject('MessagesResponse', {
  messages: Type.Array(Message),
  address_book: AddressBook,
  metadata: Metadata,
});

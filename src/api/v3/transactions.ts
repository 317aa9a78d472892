import { Type } from '@sinclair/typebox';
import { type AnyEndpoint, jsonText } from '#api/http/endpoint.js';
import { AddressBookJson, MetadataJson } from '#api/v3/address-book.js';
import {
  addressField,
  answerObject,
  bocField,
  booleanField,
  currenciesField,
  currenciesText,
  decimalField,
  decimalText,
  hash256Field,
  hashBase64,
  hashText,
  integerField,
  listText,
  nullableField,
  optionalField,
  optionalMember,
  type ProfileFormat,
  profileFormat,
  textField,
} from '#api/v3/answer-type.js';
import { BlockIdJson } from '#api/v3/block.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { MessageJson, messageText } from '#api/v3/message.js';
import { AddressCollector, checkPage, pageAddressesText, pageOf, requireIndexedMcBlock, rowsOf } from '#api/v3/page.js';
import {
  accountListParameter,
  accountParameter,
  blockSeqnoParameter,
  hash256ListParameter,
  hash256Parameter,
  ltParameter,
  MAX_PAGE_ROWS,
  mcSeqnoParameter,
  messageDirectionParameter,
  opcodeIn,
  opcodeParameter,
  pageFields,
  seqnoParameter,
  shardParameter,
  sortParameter,
  timeParameters,
  workchainParameter,
} from '#api/v3/parameters.js';
import type { IndexedTransaction, ShardPosition, StateSummary } from '#drivers/store/read/index-types.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { AccountStatus, AccStatusChange, StorageUsed } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import {
  type ComputeSkipReason,
  type SplitMergeInfo,
  type TrActionPhase,
  Transaction,
  type TransactionDescr,
  type TrBouncePhase,
  type TrComputePhase,
  type TrCreditPhase,
  type TrStoragePhase,
} from '#formats/tlb/transaction.js';

export const ACCOUNT_STATUSES = ['uninit', 'active', 'frozen', 'nonexist'] as const;
const STATUS_CHANGE = 'What became of the account: `unchanged`, `frozen` or `deleted`.';

const MsgSize = answerObject('MsgSize', {
  cells: decimalField('Distinct cells.'),
  bits: decimalField('Bits of data in them.'),
});

const StoragePhase = answerObject('StoragePhase', {
  storage_fees_collected: decimalField('Nanotons taken as rent.'),
  storage_fees_due: optionalField(decimalField('Nanotons of rent still owed.')),
  status_change: textField(STATUS_CHANGE),
});

const CreditPhase = answerObject('CreditPhase', {
  due_fees_collected: optionalField(decimalField('Nanotons of old debts that were taken.')),
  credit: decimalField('Nanotons that the message brought.'),
  credit_extra_currencies: optionalField(currenciesField),
});

const ComputePhase = answerObject(
  'ComputePhase',
  {
    skipped: booleanField('No code ran; there is only a `reason`.'),
    reason: optionalField(textField('`no_state`, `bad_state`, `no_gas` or `suspended`.')),
    success: optionalField(booleanField('The code ended well.')),
    msg_state_used: optionalField(booleanField('The state came with the message.')),
    account_activated: optionalField(booleanField('The account was deployed or thawed.')),
    gas_fees: optionalField(decimalField('Nanotons.')),
    gas_used: optionalField(decimalField('Gas.')),
    gas_limit: optionalField(decimalField('Gas.')),
    gas_credit: optionalField(decimalField('Gas before a message from outside is accepted.')),
    mode: optionalField(integerField('Mode of the virtual machine.')),
    exit_code: optionalField(integerField('0 and 1 are success.')),
    exit_arg: optionalField(integerField('Argument of an exception.')),
    vm_steps: optionalField(integerField('Instructions.')),
    vm_init_state_hash: optionalField(hash256Field('Of the machine before.')),
    vm_final_state_hash: optionalField(hash256Field('Of the machine after.')),
  },
  'The run of the contract’s code.',
);

const ActionPhase = answerObject(
  'ActionPhase',
  {
    success: booleanField('All was done.'),
    valid: booleanField('The list of actions could be read.'),
    no_funds: booleanField('Something failed for lack of coins.'),
    status_change: textField(STATUS_CHANGE),
    total_fwd_fees: optionalField(decimalField('Nanotons for the ways of all messages.')),
    total_action_fees: optionalField(decimalField('Nanotons of these that stay with the validators of the sender.')),
    result_code: integerField('0 is success.'),
    result_arg: optionalField(integerField('Number of the action that failed.')),
    tot_actions: integerField('Actions in the list.'),
    spec_actions: integerField('Actions besides messages and reserves.'),
    skipped_actions: integerField('Actions that were allowed to fail and did.'),
    msgs_created: integerField('Messages that were sent.'),
    action_list_hash: hash256Field('Of the list.'),
    tot_msg_size: MsgSize,
  },
  'What was done of the actions that the code asked for.',
);

const BouncePhase = answerObject(
  'BouncePhase',
  {
    type: textField(
      '`ok`: the message went back. `nofunds`: there were not enough coins for that. `negfunds`: none at all.',
    ),
    msg_size: optionalField(MsgSize),
    req_fwd_fees: optionalField(decimalField('Nanotons that would have been needed.')),
    msg_fees: optionalField(decimalField('Nanotons that stay with the validators.')),
    fwd_fees: optionalField(decimalField('Nanotons for the way.')),
  },
  'What became of a message after a failure.',
);

const SplitInfo = answerObject('SplitInfo', {
  cur_shard_pfx_len: integerField('Bits of the shard’s prefix.'),
  acc_split_depth: integerField('How often the account may be split.'),
  this_addr: hash256Field('This half.'),
  sibling_addr: hash256Field('The other half.'),
});

const TransactionDescrJson = answerObject(
  'TransactionDescr',
  {
    type: textField(
      '`ord`, `storage`, `tick_tock`, `split_prepare`, `split_install`, `merge_prepare` or `merge_install`.',
    ),
    aborted: optionalField(booleanField('It had no effect but its fees.')),
    destroyed: optionalField(booleanField('The account is gone.')),
    credit_first: optionalField(booleanField('The value was added before the rent was taken.')),
    is_tock: optionalField(booleanField('Of tick-tock: at the end of the block.')),
    installed: optionalField(booleanField('Of splits.')),
    storage_ph: optionalField(StoragePhase),
    credit_ph: optionalField(CreditPhase),
    compute_ph: optionalField(ComputePhase),
    action: optionalField(ActionPhase),
    bounce: optionalField(BouncePhase),
    split_info: optionalField(SplitInfo),
  },
  'Kind and phases; what a kind does not have is not there.',
);

export const AccountStateJson = answerObject(
  'AccountState',
  {
    hash: hash256Field('Of the account’s cell.'),
    balance: nullableField(decimalField('Nanotons.')),
    extra_currencies: nullableField(currenciesField),
    account_status: nullableField(textField('`uninit`, `active`, `frozen` or `nonexist`.')),
    frozen_hash: nullableField(hash256Field('State that a frozen account had.')),
    data_hash: nullableField(hash256Field('Of the data.')),
    code_hash: nullableField(hash256Field('Of the code.')),
    data_boc: optionalField(bocField('Not filled here.')),
    code_boc: optionalField(bocField('Not filled here.')),
  },
  'A state of an account. Between transactions of one block only its hash is known, and before the indexed history.',
);

const orig_status = textField('Status before.', { enum: ACCOUNT_STATUSES });
const end_status = textField('Status after.', { enum: ACCOUNT_STATUSES });

export const TransactionJson = answerObject(
  'Transaction',
  {
    account: addressField('Account that it is of.'),
    hash: hash256Field('Hash of the transaction.'),
    lt: decimalField('Logical time.'),
    now: integerField('When its block was made: unix time in seconds.'),
    mc_block_seqno: integerField('Masterchain block that commits it.'),
    trace_id: optionalField(hash256Field('Trace that it is in: the hash of its first transaction.')),
    trace_external_hash: optionalField(hash256Field('Of transactions that are not in a block yet; not told here.')),
    prev_trans_hash: hash256Field('The transaction of the account before it.'),
    prev_trans_lt: decimalField('Its logical time; 0 for the first one.'),
    orig_status,
    end_status,
    total_fees: decimalField('Nanotons.'),
    total_fees_extra_currencies: currenciesField,
    description: TransactionDescrJson,
    block_ref: BlockIdJson,
    in_msg: nullableField(MessageJson),
    out_msgs: Type.Array(MessageJson, { description: 'In the order of sending.' }),
    account_state_before: AccountStateJson,
    account_state_after: AccountStateJson,
    emulated: booleanField('False: it is in a block.'),
    finality: textField('`finalized`: the masterchain commits its block. All of the index is.'),
  },
  'A transaction, with its messages and what it did.',
);

export const TransactionsResponse = answerObject('TransactionsResponse', {
  transactions: Type.Array(TransactionJson),
  address_book: AddressBookJson,
});

export const MessagesResponse = answerObject('MessagesResponse', {
  messages: Type.Array(MessageJson),
  address_book: AddressBookJson,
  metadata: MetadataJson,
});

const ACCOUNT_STATUS_TEXTS: Readonly<Record<AccountStatus, string>> = {
  acc_state_uninit: '"uninit"',
  acc_state_frozen: '"frozen"',
  acc_state_active: '"active"',
  acc_state_nonexist: '"nonexist"',
};

/** A transaction as JSON, and what the tree of its trace needs to know of it. */
export interface WrittenTransaction {
  readonly json: string;
  /** Base64. */
  readonly hash: string;
  readonly lt: bigint;
  /** Raw form. */
  readonly account: string;
  readonly in_msg_hash: string | null;
  readonly out_msg_hashes: readonly string[];
}

/**
 * A transaction as `/transactions` and `/traces` show it. Its account, the source of its incoming message and the
 * destinations of the outgoing ones are collected.
 */
export function writeTransaction(
  indexed: IndexedTransaction,
  dialect: ProfileFormat,
  addresses: AddressCollector,
): WrittenTransaction {
  const { block, global_version, trace_id } = indexed;
  const cell = parseBocRoot(indexed.boc);
  const hash = hashBase64(cell.hash());
  const transaction = decodeCell(Transaction, cell);
  const { lt, in_msg } = transaction;
  const account = addresses.add(Address.ofParts(block.workchain, transaction.account_addr));
  const out_msgs: string[] = [];
  const out_msg_hashes: string[] = [];
  for (const [, message] of transaction.out_msgs) {
    out_msgs.push(messageText(message, { global_version }, dialect, addresses));
    out_msg_hashes.push(hashBase64(message.cell.hash()));
  }
  const update = transaction.state_update.value;
  const json =
    `{"account":${account},"hash":"${hash}","lt":${decimalText(lt)},"now":${transaction.now}` +
    `,"mc_block_seqno":${indexed.mc_seqno}${optionalMember('trace_id', trace_id === null ? null : hashText(trace_id))}` +
    `,"prev_trans_hash":${hashText(transaction.prev_trans_hash)},"prev_trans_lt":${decimalText(transaction.prev_trans_lt)}` +
    `,"orig_status":${ACCOUNT_STATUS_TEXTS[transaction.orig_status]},"end_status":${ACCOUNT_STATUS_TEXTS[transaction.end_status]}` +
    `,"total_fees":${decimalText(transaction.total_fees.grams)}` +
    `,"total_fees_extra_currencies":${currenciesText(transaction.total_fees.other)}` +
    `,"description":${descriptionText(transaction.description.value)}` +
    `,"block_ref":${blockIdText(block, dialect)}` +
    dialect.nullable('in_msg', in_msg === null ? null : messageText(in_msg, { global_version }, dialect, addresses)) +
    `,"out_msgs":${listText(out_msgs)}` +
    `,"account_state_before":${stateText(update.old_hash, indexed.state_before, dialect)}` +
    `,"account_state_after":${stateText(update.new_hash, indexed.state_after, dialect)}` +
    ',"emulated":false,"finality":"finalized"}';
  return {
    json,
    hash,
    lt,
    account: account.slice(1, -1),
    in_msg_hash: in_msg === null ? null : hashBase64(in_msg.cell.hash()),
    out_msg_hashes,
  };
}

/** `BlockId` */
export function blockIdText({ workchain, shard, seqno }: ShardPosition, dialect: ProfileFormat): string {
  return `{"workchain":${workchain},"shard":${dialect.shard(shard)},"seqno":${seqno}}`;
}

/** A state of the account before or after; of one that no block tells only the hash is known. */
function stateText(hash: Uint8Array, state: StateSummary | null, dialect: ProfileFormat): string {
  const known = <T>(value: T | null | undefined, write: (value: T) => string) =>
    value === null || value === undefined ? null : write(value);
  return (
    `{"hash":${hashText(hash)}` +
    dialect.nullable('balance', known(state?.balance, decimalText)) +
    dialect.nullable('extra_currencies', known(state?.extra_currencies, currenciesText)) +
    dialect.nullable(
      'account_status',
      known(state?.status, (status) => `"${status}"`),
    ) +
    dialect.nullable('frozen_hash', known(state?.frozen_hash, hashText)) +
    dialect.nullable('data_hash', known(state?.data_hash, hashText)) +
    dialect.nullable('code_hash', known(state?.code_hash, hashText)) +
    '}'
  );
}

/** `description` of a transaction: what kind it is, and its phases. What a kind does not have is left out. */
export function descriptionText(descr: TransactionDescr): string {
  switch (descr.kind) {
    case 'trans_ord':
      return (
        `{"type":"ord","aborted":${descr.aborted},"destroyed":${descr.destroyed},"credit_first":${descr.credit_first}` +
        `${phasesText(descr)}}`
      );
    case 'trans_tick_tock':
      return (
        `{"type":"tick_tock","aborted":${descr.aborted},"destroyed":${descr.destroyed},"is_tock":${descr.is_tock}` +
        `${phasesText(descr)}}`
      );
    case 'trans_storage':
      return `{"type":"storage"${phasesText(descr)}}`;
    case 'trans_split_prepare':
      return (
        `{"type":"split_prepare","aborted":${descr.aborted},"destroyed":${descr.destroyed}` +
        `${phasesText(descr)},"split_info":${splitInfoText(descr.split_info)}}`
      );
    case 'trans_split_install':
      return `{"type":"split_install","installed":${descr.installed},"split_info":${splitInfoText(descr.split_info)}}`;
    case 'trans_merge_prepare':
      return (
        `{"type":"merge_prepare","aborted":${descr.aborted}${phasesText(descr)}` +
        `,"split_info":${splitInfoText(descr.split_info)}}`
      );
    case 'trans_merge_install':
      return (
        `{"type":"merge_install","aborted":${descr.aborted},"destroyed":${descr.destroyed}` +
        `${phasesText(descr)},"split_info":${splitInfoText(descr.split_info)}}`
      );
  }
}

type Ordinary = Extract<TransactionDescr, { kind: 'trans_ord' }>;
type Phases = Partial<Pick<Ordinary, 'storage_ph' | 'credit_ph' | 'compute_ph' | 'action' | 'bounce'>>;

function phasesText({ storage_ph, credit_ph, compute_ph, action, bounce }: Phases): string {
  return (
    optionalMember('storage_ph', storage_ph ? storagePhaseText(storage_ph) : null) +
    optionalMember('credit_ph', credit_ph ? creditPhaseText(credit_ph) : null) +
    optionalMember('compute_ph', compute_ph === undefined ? null : computePhaseText(compute_ph)) +
    optionalMember('action', action ? actionPhaseText(action.value) : null) +
    optionalMember('bounce', bounce ? bouncePhaseText(bounce) : null)
  );
}

/** Both halves of the account; 32 bytes each, as the live service writes them. */
function splitInfoText({ cur_shard_pfx_len, acc_split_depth, this_addr, sibling_addr }: SplitMergeInfo): string {
  return (
    `{"cur_shard_pfx_len":${cur_shard_pfx_len},"acc_split_depth":${acc_split_depth}` +
    `,"this_addr":${hashText(this_addr)},"sibling_addr":${hashText(sibling_addr)}}`
  );
}

const STATUS_CHANGES: Readonly<Record<AccStatusChange, string>> = {
  acst_unchanged: '"unchanged"',
  acst_frozen: '"frozen"',
  acst_deleted: '"deleted"',
};

const SKIP_REASONS: Readonly<Record<ComputeSkipReason, string>> = {
  cskip_no_state: '"no_state"',
  cskip_bad_state: '"bad_state"',
  cskip_no_gas: '"no_gas"',
  cskip_suspended: '"suspended"',
};

export function storagePhaseText(phase: TrStoragePhase): string {
  return (
    `{"storage_fees_collected":${decimalText(phase.storage_fees_collected)}` +
    optionalMember('storage_fees_due', maybeDecimal(phase.storage_fees_due)) +
    `,"status_change":${STATUS_CHANGES[phase.status_change]}}`
  );
}

export function creditPhaseText({ due_fees_collected, credit }: TrCreditPhase): string {
  return (
    (due_fees_collected === null ? '{' : `{"due_fees_collected":${decimalText(due_fees_collected)},`) +
    `"credit":${decimalText(credit.grams)}` +
    optionalMember('credit_extra_currencies', credit.other.isEmpty ? null : currenciesText(credit.other)) +
    '}'
  );
}

export function computePhaseText(phase: TrComputePhase): string {
  if (phase.kind === 'tr_phase_compute_skipped') return `{"skipped":true,"reason":${SKIP_REASONS[phase.reason]}}`;
  return (
    `{"skipped":false,"success":${phase.success},"msg_state_used":${phase.msg_state_used}` +
    `,"account_activated":${phase.account_activated},"gas_fees":${decimalText(phase.gas_fees)}` +
    `,"gas_used":${decimalText(phase.gas_used)},"gas_limit":${decimalText(phase.gas_limit)}` +
    optionalMember('gas_credit', maybeDecimal(phase.gas_credit)) +
    `,"mode":${phase.mode},"exit_code":${phase.exit_code}` +
    optionalMember('exit_arg', phase.exit_arg === null ? null : String(phase.exit_arg)) +
    `,"vm_steps":${phase.vm_steps},"vm_init_state_hash":${hashText(phase.vm_init_state_hash)}` +
    `,"vm_final_state_hash":${hashText(phase.vm_final_state_hash)}}`
  );
}

export function actionPhaseText(phase: TrActionPhase): string {
  return (
    `{"success":${phase.success},"valid":${phase.valid},"no_funds":${phase.no_funds}` +
    `,"status_change":${STATUS_CHANGES[phase.status_change]}` +
    optionalMember('total_fwd_fees', maybeDecimal(phase.total_fwd_fees)) +
    optionalMember('total_action_fees', maybeDecimal(phase.total_action_fees)) +
    `,"result_code":${phase.result_code}` +
    optionalMember('result_arg', phase.result_arg === null ? null : String(phase.result_arg)) +
    `,"tot_actions":${phase.tot_actions},"spec_actions":${phase.spec_actions}` +
    `,"skipped_actions":${phase.skipped_actions},"msgs_created":${phase.msgs_created}` +
    `,"action_list_hash":${hashText(phase.action_list_hash)},"tot_msg_size":${sizeText(phase.tot_msg_size)}}`
  );
}

export function bouncePhaseText(phase: TrBouncePhase): string {
  switch (phase.kind) {
    case 'tr_phase_bounce_negfunds':
      return '{"type":"negfunds"}';
    case 'tr_phase_bounce_nofunds':
      return `{"type":"nofunds","msg_size":${sizeText(phase.msg_size)},"req_fwd_fees":${decimalText(phase.req_fwd_fees)}}`;
    case 'tr_phase_bounce_ok':
      return (
        `{"type":"ok","msg_size":${sizeText(phase.msg_size)},"msg_fees":${decimalText(phase.msg_fees)}` +
        `,"fwd_fees":${decimalText(phase.fwd_fees)}}`
      );
  }
}

function sizeText({ cells, bits }: StorageUsed): string {
  return `{"cells":${decimalText(cells)},"bits":${decimalText(bits)}}`;
}

function maybeDecimal(value: bigint | null): string | null {
  return value === null ? null : decimalText(value);
}

const TAG = 'Blockchain Data';
const GET = ['GET'] as const;
const STATUSES = [404, 422, 504];

async function transactionsJson(transactions: readonly IndexedTransaction[], context: V3Context) {
  const dialect = profileFormat(context.profile);
  const addresses = new AddressCollector();
  const texts = transactions.map((transaction) => writeTransaction(transaction, dialect, addresses).json);
  const last = await pageAddressesText(addresses, context, { metadata: false });
  return jsonText(`{"transactions":${listText(texts)},${last}}`);
}

const transactions = v3Endpoint({
  name: 'transactions',
  verbs: GET,
  tag: TAG,
  summary: 'Transactions',
  description:
    'Transactions that meet all conditions given, by logical time; by unix time where one is a bound. The block that they ' +
    'are in is named by `workchain`, `shard` and `seqno`, the one that commits that by `mc_seqno`.',
  params: Type.Object(
    {
      workchain: workchainParameter,
      shard: shardParameter,
      seqno: blockSeqnoParameter,
      mc_seqno: mcSeqnoParameter,
      account: Type.Optional(accountListParameter('Only of these accounts')),
      exclude_account: Type.Optional(accountListParameter('Not of these accounts')),
      hash: Type.Optional(hash256ListParameter('Only those with one of these hashes')),
      lt: ltParameter('Only those with this logical time.'),
      ...timeParameters('now', 'lt'),
      ...pageFields,
      sort: sortParameter('By time.'),
    },
    { additionalProperties: false },
  ),
  check: checkPage,
  result: TransactionsResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async (params, context) => {
    const { limit: _, offset: __, cursor: ___, sort: ____, ...filter } = params;
    const listed = await context.network.index.transactions(filter, pageOf(params, context), context.query);
    if (listed.rows.length === 0 && filter.mc_seqno !== undefined)
      await requireIndexedMcBlock(filter.mc_seqno, context);
    return transactionsJson(rowsOf(listed, context), context);
  },
});

const transactionsByMasterchainBlock = v3Endpoint({
  name: 'transactionsByMasterchainBlock',
  verbs: GET,
  tag: TAG,
  summary: 'Transactions that a masterchain block commits',
  description: 'Transactions of the masterchain block and of all blocks of shards that it is the first to commit.',
  params: Type.Object(
    {
      seqno: seqnoParameter('Number of the masterchain block; one that is not indexed is an error (404).'),
      ...pageFields,
      sort: sortParameter('By logical time.'),
    },
    { additionalProperties: false },
  ),
  check: checkPage,
  result: TransactionsResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ seqno, ...page }, context) => {
    const { index } = context.network;
    const listed = await index.transactions({ mc_seqno: seqno }, pageOf(page, context), context.query);
    if (listed.rows.length === 0) await requireIndexedMcBlock(seqno, context);
    return transactionsJson(rowsOf(listed, context), context);
  },
});

const transactionsByMessage = v3Endpoint({
  name: 'transactionsByMessage',
  verbs: GET,
  tag: TAG,
  summary: 'Transactions by a message',
  description:
    'Transactions that sent or received a message which meets all conditions given, each once. One of `msg_hash`, ' +
    '`body_hash` and `opcode` must be there.',
  params: Type.Object(
    {
      msg_hash: Type.Optional(hash256ListParameter('Hash of the message, as it is or normalised (TEP-467)')),
      body_hash: Type.Optional(hash256Parameter('Hash of the body')),
      opcode: opcodeParameter,
      source: Type.Optional(accountParameter('Sender of the message')),
      destination: Type.Optional(accountParameter('Receiver of the message')),
      direction: messageDirectionParameter,
      ...pageFields,
      sort: sortParameter('By logical time.'),
    },
    { additionalProperties: false },
  ),
  check: (params) => {
    checkPage(params);
    const { msg_hash, body_hash, opcode: asked } = params;
    if (msg_hash !== undefined || body_hash !== undefined || asked !== undefined) return;
    throw v3Errors.parameters({ problem: 'at least one of msg_hash, body_hash, opcode should be specified' });
  },
  result: TransactionsResponse,
  statuses: [422, 504],
  freshness: 'head',
  handle: async (params, context) => {
    const { msg_hash, body_hash, source, destination, direction: side } = params;
    const asked = opcodeIn(context.profile, params.opcode);
    const filter = { msg_hash, body_hash, opcode: asked, source, destination, direction: side };
    const { index } = context.network;
    const listed = await index.transactionsByMessage(filter, pageOf(params, context), context.query);
    return transactionsJson(rowsOf(listed, context), context);
  },
});

/** They are few: a transaction sends at most 255 messages. */
const adjacentPage = {
  limit: Type.Optional(
    Type.Integer({
      description: `At most this many rows, 1 to ${MAX_PAGE_ROWS}. Default: all.`,
      format: 'int32',
      minimum: 1,
      maximum: MAX_PAGE_ROWS,
    }),
  ),
  offset: Type.Optional(
    Type.Integer({
      description: 'Rows to leave out first.',
      format: 'int32',
      default: 0,
      minimum: 0,
      maximum: MAX_PAGE_ROWS,
    }),
  ),
};

const adjacentTransactions = v3Endpoint({
  name: 'adjacentTransactions',
  verbs: GET,
  tag: TAG,
  summary: 'Transactions before and after a transaction',
  description:
    'Transactions that share a message with one: what sent its incoming message, and what received its outgoing ones. None ' +
    'is an error (404).',
  params: Type.Object(
    {
      hash: hash256Parameter('Hash of the transaction'),
      direction: Type.Optional(
        Type.Union([Type.Literal('in'), Type.Literal('out'), Type.Literal('both')], {
          description: '`in`: the one before; `out`: those after. Default: both.',
        }),
      ),
      ...adjacentPage,
      sort: sortParameter('By logical time.', 'asc'),
    },
    { additionalProperties: false },
  ),
  result: TransactionsResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ hash, direction: side, limit = MAX_PAGE_ROWS, offset: skipped = 0, sort = 'asc' }, context) => {
    const way = side === 'both' ? undefined : side;
    const found = await context.network.index.adjacentTransactions(hash, way, context.query);
    if (found === null || found.length === 0) throw v3Errors['adjacent-not-found']({});
    const sorted = sort === 'asc' ? found : found.toReversed();
    return transactionsJson(sorted.slice(skipped, skipped + limit), context);
  },
});

/** Methods about transactions, in the order of the document. */
export const transactionEndpoints: readonly AnyEndpoint<V3Context>[] = [
  transactions,
  transactionsByMasterchainBlock,
  transactionsByMessage,
  adjacentTransactions,
];

import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import {
  accountDependencies,
  accountDependency,
  messageDependency,
  traceDependency,
  transactionDependency,
} from '#api/v3/answer-keys.js';
import {
  AddressCollector,
  type AnswerPage,
  type AnswerValue,
  address,
  answerType,
  boc,
  currencies,
  decimal,
  flag,
  hash,
  hashInBase64,
  integer,
  jsonOf,
  nullable,
  optional,
  required,
  word,
  writeAnswerJson,
} from '#api/v3/answer-type.js';
import { BlockIdJson, namesBlock } from '#api/v3/blocks.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { NEEDS_HISTORY } from '#api/v3/coverage.js';
import { v3Errors } from '#api/v3/errors.js';
import { TransactionText, type WrittenOrKept, type WrittenTransaction } from '#api/v3/kept-texts.js';
import { MessageAnswer, writeMessage } from '#api/v3/messages.js';
import { checkPage, filterOf, listAnswer, type PiecedRow, pageOf, requireIndexedMcBlock } from '#api/v3/page.js';
import {
  excludeSystemParameter,
  ltParameter,
  MAX_PAGE_ROWS,
  mcSeqnoParameter,
  messageDirectionParameter,
  opcodeIn,
  opcodeParameter,
  pageFields,
  seqnoParameter,
  sortParameter,
  timeParameters,
  v3AccountListParameter,
  v3AccountParameter,
  v3BlockSeqnoParameter,
  v3HashListParameter,
  v3HashParameter,
  v3ShardParameter,
  v3WorkchainParameter,
} from '#api/v3/parameters.js';
import { pagePrice, ROW_PRICE } from '#api/v3/price.js';
import type {
  HeldTransaction,
  IndexedTransaction,
  Listed,
  Page,
  StateSummary,
  TransactionFilter,
} from '#drivers/store/read/index-types.js';
import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { AccountStatus, AccStatusChange } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import {
  type ComputeSkipReason,
  type TrActionPhase,
  Transaction,
  type TransactionDescr,
  type TrBouncePhase,
  type TrComputePhase,
  type TrCreditPhase,
} from '#formats/tlb/transaction.js';
import { toBase64 } from '#kernel/bytes.js';

const ACCOUNT_STATUSES: Readonly<Record<AccountStatus, string>> = {
  acc_state_uninit: 'uninit',
  acc_state_active: 'active',
  acc_state_frozen: 'frozen',
  acc_state_nonexist: 'nonexist',
};
const STATUS_CHANGES: Readonly<Record<AccStatusChange, string>> = {
  acst_unchanged: 'unchanged',
  acst_frozen: 'frozen',
  acst_deleted: 'deleted',
};
const SKIP_REASONS: Readonly<Record<ComputeSkipReason, string>> = {
  cskip_no_state: 'no_state',
  cskip_bad_state: 'bad_state',
  cskip_no_gas: 'no_gas',
  cskip_suspended: 'suspended',
};
const BOUNCE_TYPES: Readonly<Record<TrBouncePhase['kind'], string>> = {
  tr_phase_bounce_negfunds: 'negfunds',
  tr_phase_bounce_nofunds: 'nofunds',
  tr_phase_bounce_ok: 'ok',
};
const TRANSACTION_TYPES: Readonly<Record<TransactionDescr['kind'], string>> = {
  trans_ord: 'ord',
  trans_storage: 'storage',
  trans_tick_tock: 'tick_tock',
  trans_split_prepare: 'split_prepare',
  trans_split_install: 'split_install',
  trans_merge_prepare: 'merge_prepare',
  trans_merge_install: 'merge_install',
};

const statusChange = required(
  word('Change of the account status: `unchanged`, `frozen` or `deleted`.'),
  ({ status_change }: { readonly status_change: AccStatusChange }) => STATUS_CHANGES[status_change],
);

const MsgSize = answerType('MsgSize', {
  cells: decimal('Distinct cells.'),
  bits: decimal('Bits of data in them.'),
});

const StoragePhase = answerType('StoragePhase', {
  storage_fees_collected: decimal('Storage fees collected, in nanotons.'),
  storage_fees_due: optional(decimal('Storage fees still due, in nanotons.')),
  status_change: statusChange,
});

const CreditPhase = answerType('CreditPhase', {
  due_fees_collected: optional(decimal('Due storage fees collected, in nanotons.')),
  credit: required(decimal('Nanotons that the message carries.'), (phase: TrCreditPhase) => phase.credit.grams),
  credit_extra_currencies: optional(currencies, ({ credit }: TrCreditPhase) =>
    credit.other.isEmpty ? null : credit.other,
  ),
});

const ComputePhase = answerType(
  'ComputePhase',
  {
    skipped: required(
      flag('No code ran; the only other member is `reason`.'),
      (phase: TrComputePhase) => phase.kind === 'tr_phase_compute_skipped',
    ),
    reason: optional(word('`no_state`, `bad_state`, `no_gas` or `suspended`.'), (phase: TrComputePhase) =>
      phase.kind === 'tr_phase_compute_skipped' ? SKIP_REASONS[phase.reason] : null,
    ),
    success: optional(flag('The code succeeded.')),
    msg_state_used: optional(flag('The state came with the message.')),
    account_activated: optional(flag('The account was deployed or unfrozen.')),
    gas_fees: optional(decimal('Nanotons.')),
    gas_used: optional(decimal('Gas.')),
    gas_limit: optional(decimal('Gas.')),
    gas_credit: optional(decimal('Gas granted before an external-in message is accepted.')),
    mode: optional(integer('Mode of the TVM.')),
    exit_code: optional(integer('0 and 1 are success.')),
    exit_arg: optional(integer('Argument of an exception.')),
    vm_steps: optional(integer('Instructions.')),
    vm_init_state_hash: optional(hash('Hash of the TVM state before.')),
    vm_final_state_hash: optional(hash('Hash of the TVM state after.')),
  },
  'Execution of the contract’s code.',
);

const ActionPhase = answerType(
  'ActionPhase',
  {
    success: flag('All actions were performed.'),
    valid: flag('The action list was valid.'),
    no_funds: flag('An action failed for lack of funds.'),
    status_change: statusChange,
    total_fwd_fees: optional(decimal('Forward fees of all messages, in nanotons.')),
    total_action_fees: optional(decimal('The part of them that the validators of the sender collect, in nanotons.')),
    result_code: integer('0 is success.'),
    result_arg: optional(integer('Index of the failed action.')),
    tot_actions: integer('Actions in the list.'),
    spec_actions: integer('Actions other than sending messages and reserving.'),
    skipped_actions: integer('Actions that failed and were skipped, as their mode allows.'),
    msgs_created: integer('Messages that were sent.'),
    action_list_hash: hash('Hash of the action list.'),
    tot_msg_size: MsgSize,
  },
  'Execution of the actions that the code produced.',
);

const BouncePhase = answerType(
  'BouncePhase',
  {
    type: required(
      word('`ok`: the message was bounced. `nofunds`: the funds did not cover that. `negfunds`: there were no funds.'),
      (phase: TrBouncePhase) => BOUNCE_TYPES[phase.kind],
    ),
    msg_size: optional(MsgSize),
    req_fwd_fees: optional(decimal('Forward fees that would have been required, in nanotons.')),
    msg_fees: optional(decimal('Fees that the validators collect, in nanotons.')),
    fwd_fees: optional(decimal('Forward fees, in nanotons.')),
  },
  'Bounce of a message after a failure.',
);

const SplitInfo = answerType('SplitInfo', {
  cur_shard_pfx_len: integer('Length of the shard prefix in bits.'),
  acc_split_depth: integer('How often the account may be split.'),
  this_addr: hash('This half.'),
  sibling_addr: hash('The other half.'),
});

const descrMembers = {
  type: required(
    word('`ord`, `storage`, `tick_tock`, `split_prepare`, `split_install`, `merge_prepare` or `merge_install`.'),
    (descr: TransactionDescr) => TRANSACTION_TYPES[descr.kind],
  ),
  aborted: optional(flag('It had no effect except its fees.')),
  destroyed: optional(flag('The account was deleted.')),
  credit_first: optional(flag('The credit phase preceded the storage phase.')),
  is_tock: optional(flag('Of tick-tock transactions: it is a tock transaction, at the end of the block.')),
  installed: optional(flag('Of splits.')),
  storage_ph: optional(StoragePhase),
  credit_ph: optional(CreditPhase),
  compute_ph: optional(ComputePhase),
  action: optional(ActionPhase, (descr: TransactionDescr): TrActionPhase | undefined =>
    'action' in descr ? descr.action?.value : undefined,
  ),
  bounce: optional(BouncePhase),
  split_info: optional(SplitInfo),
} as const;

const TransactionDescrJson = answerType(
  'TransactionDescr',
  descrMembers,
  'Type and phases; members that a type does not have are left out.',
);

/** The live service writes these members of all transactions that it does not read from its index. */
const PredictedDescrJson = answerType('TransactionDescr', {
  ...descrMembers,
  is_tock: required(flag(''), (descr: TransactionDescr) => 'is_tock' in descr && descr.is_tock),
  installed: required(flag(''), (descr: TransactionDescr) => 'installed' in descr && descr.installed),
});

interface DescrSource {
  readonly descr: TransactionDescr;
  readonly isPredicted: boolean;
}

const AnyDescrJson: AnswerValue<DescrSource> = {
  schema: TransactionDescrJson.schema,
  write: {
    spec: ({ descr }, page) => TransactionDescrJson.write.spec(descr, page),
    toncenter: ({ descr, isPredicted }, page) =>
      (isPredicted ? PredictedDescrJson : TransactionDescrJson).write.toncenter(descr, page),
  },
};

interface StateSource {
  readonly hash: Uint8Array;
  readonly state: StateSummary | null;
}

export const AccountStateJson = answerType(
  'AccountState',
  {
    hash: hash('Hash of the account cell.'),
    balance: nullable(decimal('Nanotons.'), ({ state }: StateSource) => state?.balance),
    extra_currencies: nullable(currencies, ({ state }: StateSource) => state?.extra_currencies),
    account_status: nullable(
      word('`uninit`, `active`, `frozen` or `nonexist`.'),
      ({ state }: StateSource) => state?.status,
    ),
    frozen_hash: nullable(
      hash('Hash of the state that a frozen account had.'),
      ({ state }: StateSource) => state?.frozen_hash,
    ),
    data_hash: nullable(hash('Hash of the data.'), ({ state }: StateSource) => state?.data_hash),
    code_hash: nullable(hash('Hash of the code.'), ({ state }: StateSource) => state?.code_hash),
    data_boc: optional(boc('Not filled here.'), () => null),
    code_boc: optional(boc('Not filled here.'), () => null),
  },
  'A state of an account. Only the hash of states between transactions of one block, and before the indexed history, is known.',
);

const STATUS_NAMES = { enum: ['uninit', 'active', 'frozen', 'nonexist'] };

/** How certain a transaction is that the index does not have. */
interface TransactionPrediction {
  /** `pending` (emulated), `confirmed` or `finalized` */
  readonly finality: string;
  /** Hash of the message that began its trace; null where the answer does not give it. */
  readonly trace_external_hash: Uint8Array | null;
}

/** Where a transaction is, or is expected, and what its cell does not contain. */
export interface PlacedTransaction
  extends Pick<
    IndexedTransaction,
    'mc_seqno' | 'block' | 'global_version' | 'trace_id' | 'state_before' | 'state_after'
  > {
  /** Absent: it is of the index. */
  readonly predicted?: TransactionPrediction;
}

/** What a transaction is written from: its place, its decoded cells, and its outgoing messages, which are written first. */
interface TransactionSource {
  readonly placed: PlacedTransaction;
  readonly transaction: Transaction;
  /** JSON of its address. */
  readonly account: string;
  /** Base64. */
  readonly hash: string;
  /** JSON. */
  readonly in_msg: string | null;
  readonly out_msgs: string;
  readonly state_before: StateSource;
  readonly state_after: StateSource;
}

const TransactionJson = answerType(
  'Transaction',
  {
    account: jsonOf(address('Its account.').schema),
    hash: hashInBase64('Hash of the transaction.'),
    lt: required(decimal('Logical time.'), ({ transaction }: TransactionSource) => transaction.lt),
    now: required(
      integer('Generation time of its block: unix time in seconds.'),
      ({ transaction }: TransactionSource) => transaction.now,
    ),
    mc_block_seqno: required(
      integer('Masterchain block that commits it.'),
      ({ placed }: TransactionSource) => placed.mc_seqno,
    ),
    trace_id: optional(
      hash('Its trace: the hash of the first transaction of that.'),
      ({ placed }: TransactionSource) => placed.trace_id,
    ),
    trace_external_hash: optional(
      hash('Of transactions that are not indexed yet: the message that began their trace.'),
      ({ placed }: TransactionSource) => placed.predicted?.trace_external_hash,
    ),
    prev_trans_hash: required(
      hash('The previous transaction of the account.'),
      ({ transaction }: TransactionSource) => transaction.prev_trans_hash,
    ),
    prev_trans_lt: required(
      decimal('Its logical time; 0 for the first one.'),
      ({ transaction }: TransactionSource) => transaction.prev_trans_lt,
    ),
    orig_status: required(
      word('Status before.', STATUS_NAMES),
      ({ transaction }: TransactionSource) => ACCOUNT_STATUSES[transaction.orig_status],
    ),
    end_status: required(
      word('Status after.', STATUS_NAMES),
      ({ transaction }: TransactionSource) => ACCOUNT_STATUSES[transaction.end_status],
    ),
    total_fees: required(decimal('Nanotons.'), ({ transaction }: TransactionSource) => transaction.total_fees.grams),
    total_fees_extra_currencies: required(
      currencies,
      ({ transaction }: TransactionSource) => transaction.total_fees.other,
    ),
    description: required(AnyDescrJson, ({ transaction, placed }: TransactionSource) => ({
      descr: transaction.description.value,
      isPredicted: placed.predicted !== undefined,
    })),
    block_ref: required(BlockIdJson, ({ placed }: TransactionSource) => placed.block),
    in_msg: nullable(jsonOf(MessageAnswer.schema)),
    out_msgs: jsonOf(Type.Array(MessageAnswer.schema, { description: 'In the order of sending.' })),
    account_state_before: required(AccountStateJson, 'state_before'),
    account_state_after: required(AccountStateJson, 'state_after'),
    emulated: required(
      flag('False: it is in a block.'),
      ({ placed }: TransactionSource) => placed.predicted?.finality === 'pending',
    ),
    finality: required(
      word(
        '`finalized`: the masterchain commits its block, as it does for all that is indexed. `confirmed`: it is in a block that the ' +
          'masterchain has not committed. `pending`: it is emulated.',
      ),
      ({ placed }: TransactionSource) => placed.predicted?.finality ?? 'finalized',
    ),
  },
  'A transaction with its messages and phases.',
);

/** A transaction of the index, or a {@link TransactionText}. */
export type AnswerTransaction = HeldTransaction | IndexedTransaction;

/**
 * A transaction as `/transactions` and `/traces` return it. Its account, the source of its incoming message and the
 * destinations of the outgoing ones are added to the address book. What is final
 * is written once.
 */
export function writeTransaction(listed: AnswerTransaction, page: AnswerPage): WrittenOrKept {
  const { addresses, texts } = page;
  const known = listed instanceof TransactionText ? listed : texts?.find(listed);
  if (known !== undefined) {
    addresses.addWritten(known.addresses);
    return known.written;
  }
  // All rows that are held are texts.
  const indexed = listed as IndexedTransaction;
  const { cell } = indexed;
  if (texts === undefined || !indexed.isFinal) return writeCells(indexed, cell, page);
  const own = new AddressCollector();
  const written = writeCells(indexed, cell, { ...page, addresses: own });
  const text = new TransactionText(indexed, cell.hash().slice(), written, [...own.byRaw]);
  texts.add(indexed, text);
  addresses.addWritten(text.addresses);
  return text.written;
}

/** Writes a transaction from its cell. @param cell `Transaction` */
export function writeCells(placed: PlacedTransaction, cell: Cell, page: AnswerPage): WrittenTransaction {
  const { block, global_version } = placed;
  const isLive = placed.predicted !== undefined;
  const hash = toBase64(cell.hash());
  const transaction = decodeCell(Transaction, cell);
  const { lt, in_msg } = transaction;
  const account = page.addresses.add(Address.ofParts(block.workchain, transaction.account_addr));
  const out_msg_hashes: string[] = [];
  let out_msgs = '';
  for (const [, message] of transaction.out_msgs) {
    const { json, hash: out_hash } = writeMessage(message, global_version, isLive, page);
    out_msgs += out_msgs === '' ? json : `,${json}`;
    out_msg_hashes.push(out_hash);
  }
  const received = in_msg === null ? null : writeMessage(in_msg, global_version, isLive, page);
  const update = transaction.state_update.value;
  const source: TransactionSource = {
    placed,
    transaction,
    account,
    hash,
    in_msg: received?.json ?? null,
    out_msgs: `[${out_msgs}]`,
    state_before: { hash: update.old_hash, state: placed.state_before },
    state_after: { hash: update.new_hash, state: placed.state_after },
  };
  return {
    json: writeAnswerJson(TransactionJson, source, page),
    hash,
    lt,
    account: account.slice(1, -1),
    in_msg_hash: received?.hash ?? null,
    out_msg_hashes,
  };
}

/** A transaction of the index as a row of an answer. */
export const transactionRow: PiecedRow<AnswerTransaction> = {
  schema: TransactionJson.schema,
  pieces: (listed, page) => [writeTransaction(listed, page).json],
};

/** A page of transactions; those whose texts are kept are not read. */
async function listTransactions(filter: TransactionFilter, page: Page, context: V3Context) {
  const { index, texts } = context.network;
  const listed: Listed<AnswerTransaction> =
    texts === undefined
      ? await index.transactions(filter, page, context.query)
      : await index.transactionsBesideHeld(filter, page, texts.of(context.profile), context.query);
  for (const row of listed.rows) {
    if ('trace_id' in row && row.trace_id === null) context.dependsOn(traceDependency(row.trace_root));
  }
  return listed;
}

const Transactions = listAnswer('TransactionsResponse', 'transactions', transactionRow, { metadata: false });

const TAG = 'Blockchain Data';
const GET = ['GET'] as const;
const STATUSES = [404, 422, 504];

const transactions = v3Endpoint({
  name: 'transactions',
  verbs: GET,
  tag: TAG,
  summary: 'Transactions',
  description:
    'Transactions that match all given conditions, ordered by logical time; by unix time if the request bounds that. `workchain`, ' +
    '`shard` and `seqno` name their block, `mc_seqno` the masterchain block that commits it.',
  params: Type.Object(
    {
      workchain: v3WorkchainParameter,
      shard: v3ShardParameter,
      seqno: v3BlockSeqnoParameter,
      mc_seqno: mcSeqnoParameter,
      account: Type.Optional(v3AccountListParameter('Only of these accounts')),
      exclude_account: Type.Optional(v3AccountListParameter('Not of these accounts')),
      hash: Type.Optional(v3HashListParameter('Only those with one of these hashes')),
      lt: ltParameter('Only those with this logical time.'),
      exclude_system: excludeSystemParameter(
        'tick-tock transactions, and those of special messages of the masterchain',
      ),
      ...timeParameters('now', 'lt'),
      ...pageFields,
      sort: sortParameter('By time.'),
    },
    { additionalProperties: false },
  ),
  check: checkPage,
  result: Transactions.schema,
  statuses: STATUSES,
  price: pagePrice(ROW_PRICE.transaction),
  // Traces and earlier states of accounts may reach further back than the masterchain block of a transaction.
  coverage: {
    needs: ['history'],
    mcBlock: ({ mc_seqno, workchain, seqno }) => mc_seqno ?? (workchain === -1 ? seqno : undefined),
  },
  freshness: 'head',
  depends: ({ account, hash, mc_seqno }) =>
    hash?.map(transactionDependency) ??
    (account !== undefined ? accountDependencies(account) : mc_seqno === undefined ? null : []),
  handle: async (params, context) => {
    const filter = filterOf(params);
    const listed = await listTransactions(filter, pageOf(params, context), context);
    if (listed.rows.length === 0 && filter.mc_seqno !== undefined)
      await requireIndexedMcBlock(filter.mc_seqno, context);
    if (listed.rows.length === 0 && namesBlock(params)) context.coverage.requireHistory();
    return Transactions.write(listed, context);
  },
});

const transactionsByMasterchainBlock = v3Endpoint({
  name: 'transactionsByMasterchainBlock',
  verbs: GET,
  tag: TAG,
  summary: 'Transactions that a masterchain block commits',
  description: 'Transactions of the masterchain block and of all shard blocks that it newly commits.',
  params: Type.Object(
    {
      seqno: seqnoParameter('Seqno of the masterchain block; one that is not indexed is an error (404).'),
      ...pageFields,
      sort: sortParameter('By logical time.'),
    },
    { additionalProperties: false },
  ),
  check: checkPage,
  result: Transactions.schema,
  statuses: STATUSES,
  price: pagePrice(ROW_PRICE.transaction),
  coverage: { needs: ['history'], mcBlock: ({ seqno }) => seqno },
  freshness: 'head',
  depends: () => [],
  handle: async ({ seqno, ...page }, context) => {
    const listed = await listTransactions({ mc_seqno: seqno }, pageOf(page, context), context);
    if (listed.rows.length === 0) await requireIndexedMcBlock(seqno, context);
    return Transactions.write(listed, context);
  },
});

const transactionsByMessage = v3Endpoint({
  name: 'transactionsByMessage',
  verbs: GET,
  tag: TAG,
  summary: 'Transactions of a message',
  description:
    'Transactions that sent or received a message that matches all given conditions, each once. One of `msg_hash`, ' +
    '`body_hash` and `opcode` is required.',
  params: Type.Object(
    {
      msg_hash: Type.Optional(v3HashListParameter('Hash of the message, as it is or normalised (TEP-467)')),
      body_hash: Type.Optional(v3HashParameter('Hash of the body')),
      opcode: opcodeParameter,
      source: Type.Optional(v3AccountParameter('Sender of the message')),
      destination: Type.Optional(v3AccountParameter('Receiver of the message')),
      direction: messageDirectionParameter,
      ...pageFields,
      sort: sortParameter('By logical time.'),
    },
    { additionalProperties: false },
  ),
  check: (params) => {
    checkPage(params);
    const { msg_hash, body_hash, opcode } = params;
    if (msg_hash !== undefined || body_hash !== undefined || opcode !== undefined) return;
    throw v3Errors.parameters({ problem: 'at least one of msg_hash, body_hash, opcode should be specified' });
  },
  result: Transactions.schema,
  statuses: [422, 504],
  price: pagePrice(ROW_PRICE.transaction),
  coverage: NEEDS_HISTORY,
  freshness: 'head',
  depends: ({ msg_hash, source, destination, direction }) => {
    if (msg_hash !== undefined) return msg_hash.map(messageDependency);
    if (direction === 'out' && source !== undefined) return [accountDependency(source)];
    return direction === 'in' && destination !== undefined ? [accountDependency(destination)] : null;
  },
  handle: async (params, context) => {
    const { msg_hash, body_hash, source, destination, direction: side } = params;
    const opcode = opcodeIn(context.profile, params.opcode);
    const filter = { msg_hash, body_hash, opcode, source, destination, direction: side };
    const { index } = context.network;
    const listed = await index.transactionsByMessage(filter, pageOf(params, context), context.query);
    return Transactions.write(listed, context);
  },
});

/** How many there usually are. */
const ADJACENT_ROWS = { spec: 4, toncenter: 4 } as const;

/** No cursor: a transaction sends at most 255 messages. */
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
      description: 'Rows to skip.',
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
    'Transactions that share a message with the given one: the one that sent its incoming message, and those that received its ' +
    'outgoing messages. If there are none, it is an error (404).',
  params: Type.Object(
    {
      hash: v3HashParameter('Hash of the transaction'),
      direction: Type.Optional(
        Type.Union([Type.Literal('in'), Type.Literal('out'), Type.Literal('both')], {
          description: '`in`: the previous one; `out`: the next ones. Default: both.',
        }),
      ),
      ...adjacentPage,
      sort: sortParameter('By logical time.', 'asc'),
    },
    { additionalProperties: false },
  ),
  result: Transactions.schema,
  statuses: STATUSES,
  price: pagePrice(ROW_PRICE.transaction, ADJACENT_ROWS),
  coverage: NEEDS_HISTORY,
  freshness: 'head',
  depends: ({ hash }) => [transactionDependency(hash)],
  handle: async ({ hash, direction: side, limit, offset = 0, sort = 'asc' }, context) => {
    const { network, profile, query, dependsOn, worked } = context;
    const way = side === 'both' ? undefined : side;
    const page = { limit: limit ?? MAX_PAGE_ROWS, offset, sort };
    const found = await network.index.adjacentTransactions(hash, way, page, query);
    if (found === null || found.trace_roots.length === 0) throw v3Errors['adjacent-not-found']({});
    const { rows, trace_roots } = found;
    for (const root of trace_roots) dependsOn(traceDependency(root));
    worked(Math.max(0, rows.length - (limit ?? ADJACENT_ROWS[profile])) * ROW_PRICE.transaction);
    return Transactions.write({ rows, next: null }, context);
  },
});

/** Methods about transactions, in the order of the document. */
export const transactionEndpoints: readonly AnyEndpoint<V3Context>[] = [
  transactions,
  transactionsByMasterchainBlock,
  transactionsByMessage,
  adjacentTransactions,
];

import { type StaticDecode, Type } from '@sinclair/typebox';
import { type AnyEndpoint, type JsonText, jsonText } from '#api/http/endpoint.js';
import { AddressBookJson, MetadataJson } from '#api/v3/address-book.js';
import {
  answerObject,
  booleanField,
  decimalField,
  decimalText,
  hash256Field,
  hashText,
  integerField,
  listText,
  mapField,
  nullableField,
  optionalField,
  optionalMember,
  type ProfileFormat,
  profileFormat,
  quotedText,
  textField,
} from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { MessageJson } from '#api/v3/message.js';
import { AddressCollector, checkPage, pageAddressesText, pageOf, requireIndexedMcBlock, rowsOf } from '#api/v3/page.js';
import {
  accountParameter,
  hash256ListParameter,
  pageFields,
  seqnoParameter,
  sortParameter,
  timeParameters,
} from '#api/v3/parameters.js';
import { TransactionJson, type WrittenTransaction, writeTransaction } from '#api/v3/transactions.js';
import { type TraceTree, traceNodeJson, traceTree } from '#domain/traces/trace-tree.js';
import type { IndexedTrace, IndexedTransaction } from '#drivers/store/read/index-types.js';

const TraceMeta = answerObject('TraceMeta', {
  trace_state: textField(
    '`complete`: all its messages arrived. `pending`: some are on their way. `broken`: it began before the indexed history.',
  ),
  messages: integerField('Messages that arrived.'),
  transactions: integerField('Transactions.'),
  pending_messages: integerField('Messages on their way.'),
  classification_state: textField('`unclassified`: it was not looked for actions.'),
});

const TraceNode = Type.Recursive(
  (This) =>
    Type.Object(
      {
        tx_hash: hash256Field('The transaction.'),
        in_msg_hash: Type.Optional(hash256Field('The message that began it; tick-tock transactions have none.')),
        transaction: Type.Optional(TransactionJson),
        in_msg: Type.Optional(MessageJson),
        children: Type.Array(This, {
          description: 'Transactions that its messages began. Live services have null for none that arrived.',
        }),
      },
      { description: 'A transaction in the tree. `transaction` and `in_msg` are not filled.' },
    ),
  { $id: 'TraceNode' },
);

const Action = Type.Object({}, { $id: 'Action', additionalProperties: true, description: 'Not told yet.' });

export const TraceJson = answerObject(
  'Trace',
  {
    trace_id: hash256Field('Hash of its first transaction.'),
    external_hash: nullableField(
      hash256Field('The message from outside, or of the validators, that began it; other traces have none.'),
    ),
    mc_seqno_start: decimalField('Masterchain block that commits its first transaction.'),
    mc_seqno_end: decimalField('Masterchain block that commits its last one.'),
    start_lt: decimalField('Of its first transaction.'),
    start_utime: integerField('Of its first transaction: unix time in seconds.'),
    end_lt: decimalField('Greatest of all its transactions.'),
    end_utime: integerField('Latest of all its transactions: unix time in seconds.'),
    trace_info: TraceMeta,
    is_incomplete: booleanField('It has too many transactions (above 4,000), which are left out.'),
    warning: optionalField(textField('What is wrong with it.')),
    actions: optionalField(
      Type.Array(Action, {
        description:
          'With `include_actions`. Traces are not looked for actions yet, which `classification_state` says: it is empty.',
      }),
    ),
    trace: optionalField(TraceNode),
    transactions_order: optionalField(Type.Array(Type.String(), { description: 'Hashes by logical time.' })),
    transactions: optionalField(mapField(TransactionJson, { description: 'By hash.' })),
  },
  'Transactions that messages connect.',
);

export const TracesResponse = answerObject('TracesResponse', {
  traces: Type.Array(TraceJson),
  address_book: AddressBookJson,
  metadata: MetadataJson,
});

export const EventsResponse = answerObject('DeprecatedEventsResponse', {
  events: Type.Array(TraceJson),
  address_book: AddressBookJson,
  metadata: MetadataJson,
});

/** Traces with more transactions are answered without them. */
export const MAX_TRACE_TRANSACTIONS = 4_000;

const TOO_LARGE = 'trace is too large';

/** What is known of the transactions of a trace. */
export interface TraceTransactions {
  /** The first one. */
  readonly root: WrittenTransaction | null;
  /** In the order of lt and account; null when there are too many. */
  readonly all: readonly WrittenTransaction[] | null;
}

/**
 * A trace as `/traces` shows it.
 *
 * @param withActions whether the member is wanted; nothing is classified, so that there are none
 */
export function traceText(
  trace: IndexedTrace,
  { root, all }: TraceTransactions,
  withActions: boolean,
  dialect: ProfileFormat,
): string {
  const tree = all === null ? null : traceTree(all);
  const warning = tree === null ? TOO_LARGE : tree.warning;
  // The sender of a message that began a broken trace is an account, only not indexed.
  const external_hash = trace.state === 'broken' || root === null ? null : root.in_msg_hash;
  return (
    `{"trace_id":${hashText(trace.trace_id)}` +
    dialect.nullable('external_hash', external_hash === null ? null : quotedText(external_hash)) +
    `,"mc_seqno_start":${decimalText(trace.mc_seqno_start)},"mc_seqno_end":${decimalText(trace.mc_seqno_end)}` +
    `,"start_lt":${decimalText(trace.start_lt)},"start_utime":${trace.start_utime}` +
    `,"end_lt":${decimalText(trace.end_lt)},"end_utime":${trace.end_utime}` +
    `,"trace_info":{"trace_state":"${trace.state}","messages":${trace.edges},"transactions":${trace.nodes}` +
    `,"pending_messages":${trace.pending_edges},"classification_state":"unclassified"}` +
    `,"is_incomplete":${all === null}` +
    optionalMember('warning', warning === null ? null : quotedText(warning)) +
    optionalMember('actions', withActions ? '[]' : null) +
    (tree === null ? '' : transactionsText(tree, all ?? [], dialect)) +
    '}'
  );
}

function transactionsText(
  { trace, transactions_order }: TraceTree,
  transactions: readonly WrittenTransaction[],
  dialect: ProfileFormat,
): string {
  return (
    optionalMember('trace', trace === null ? null : dialect.traceTree(traceNodeJson(trace))) +
    `,"transactions_order":${listText(transactions_order.map(quotedText))}` +
    `,"transactions":{${transactions.map(({ hash, json }) => `"${hash}":${json}`).join(',')}}`
  );
}

const TAG = 'Actions and traces';
const GET = ['GET'] as const;
const STATUSES = [404, 422, 504];

const include_actions = Type.Optional(
  Type.Boolean({
    description:
      'Give each trace its `actions`. Traces are not looked for actions yet: the list is empty, and ' +
      '`classification_state` says `unclassified`.',
    default: false,
  }),
);

const params = Type.Object(
  {
    account: Type.Optional(accountParameter('Only traces with a transaction of this account')),
    trace_id: Type.Optional(hash256ListParameter('Only traces whose first transaction has one of these hashes')),
    tx_hash: Type.Optional(hash256ListParameter('Only traces with one of these transactions')),
    msg_hash: Type.Optional(
      hash256ListParameter('Only traces with one of these messages, by the hash as it is or normalised (TEP-467)'),
    ),
    mc_seqno: Type.Optional(
      seqnoParameter(
        'Only complete traces that ended in this masterchain block; one that is not indexed is an error (404).',
      ),
    ),
    ...timeParameters('end_utime', 'end_lt'),
    include_actions,
    supported_action_types: Type.Optional(
      Type.Array(Type.String({ maxLength: 100 }), {
        description: 'Types of actions that the client knows. Accepted, and without effect while there are no actions.',
        maxItems: 200,
      }),
    ),
    ...pageFields,
    sort: sortParameter('By the end of the trace.'),
  },
  { additionalProperties: false },
);
type TraceParameters = StaticDecode<typeof params>;

function checkTraces(given: TraceParameters): void {
  checkPage(given);
  const { account, trace_id, tx_hash, msg_hash } = given;
  if ([account, trace_id, tx_hash, msg_hash].filter((one) => one !== undefined).length <= 1) return;
  throw v3Errors.parameters({ problem: 'only one of account, trace_id, tx_hash, msg_hash should be specified' });
}

/** @param member what the list is called */
async function listTraces(given: TraceParameters, context: V3Context, member: 'traces' | 'events'): Promise<JsonText> {
  const {
    limit: _,
    offset: __,
    cursor: ___,
    sort: ____,
    include_actions: wanted,
    supported_action_types: _____,
    ...filter
  } = given;
  const { network, query, profile } = context;
  const listed = await network.index.traces(filter, pageOf(given, context), query);
  if (listed.rows.length === 0 && filter.mc_seqno !== undefined) await requireIndexedMcBlock(filter.mc_seqno, context);
  const traces = rowsOf(listed, context);
  const transactions = await transactionsOf(traces, context);
  const dialect = profileFormat(profile);
  const addresses = new AddressCollector();
  const withActions = wanted === true || member === 'events';
  const texts = traces.map((trace) => {
    const all = transactions.get(trace.root) ?? [];
    const isWhole = trace.nodes <= MAX_TRACE_TRANSACTIONS;
    const written = all.map((one) => writeTransaction(one, dialect, addresses));
    return traceText(trace, { root: written[0] ?? null, all: isWhole ? written : null }, withActions, dialect);
  });
  return jsonText(`{"${member}":${listText(texts)},${await pageAddressesText(addresses, context)}}`);
}

/** All transactions of each trace; of one with too many only the first. */
async function transactionsOf(
  traces: readonly IndexedTrace[],
  { network: { index }, query }: V3Context,
): Promise<ReadonlyMap<bigint, readonly IndexedTransaction[]>> {
  if (traces.length === 0) return new Map();
  const roots = traces.map(({ root }) => root);
  const found = await index.transactionsOfTraces(roots, MAX_TRACE_TRANSACTIONS, query);
  const large = traces.filter(({ nodes }) => nodes > MAX_TRACE_TRANSACTIONS);
  if (large.length === 0) return found;
  const page = { limit: large.length, offset: 0, sort: 'desc', cursor: null } as const;
  const firsts = await index.transactions({ hash: large.map(({ trace_id }) => trace_id) }, page, query);
  return new Map([...found, ...firsts.rows.map((row) => [row.id, [row]] as const)]);
}

const DESCRIPTION =
  'Traces that meet all conditions given, by the logical time of their end; by unix time where one is a bound. A trace is a ' +
  'transaction and all that follow from it through messages. Of `account`, `trace_id`, `tx_hash` and `msg_hash` only one may ' +
  `be given. A trace with more than ${MAX_TRACE_TRANSACTIONS.toLocaleString('en')} transactions comes without them.`;

const traces = v3Endpoint({
  name: 'traces',
  verbs: GET,
  tag: TAG,
  summary: 'Traces',
  description: DESCRIPTION,
  params,
  check: checkTraces,
  result: TracesResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: (given, context) => listTraces(given, context, 'traces'),
});

const events = v3Endpoint({
  name: 'events',
  verbs: GET,
  tag: TAG,
  unpublished: true,
  summary: 'Traces, by their old name',
  description: `As \`traces\` with \`include_actions\`, for older clients. ${DESCRIPTION}`,
  params,
  check: checkTraces,
  result: EventsResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: (given, context) => listTraces(given, context, 'events'),
});

/** Methods about traces. */
export const traceEndpoints: readonly AnyEndpoint<V3Context>[] = [traces, events];

import { type StaticDecode, Type } from '@sinclair/typebox';
import type { AnyEndpoint, JsonText } from '#api/http/endpoint.js';
import {
  type AnswerPage,
  answerType,
  answerValue,
  decimal,
  flag,
  hash,
  hashInBase64,
  integer,
  jsonOf,
  mapSchema,
  nullable,
  optional,
  required,
  text,
  word,
  writeAnswerJson,
} from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { MessageAnswer } from '#api/v3/messages.js';
import { checkPage, filterOf, listAnswer, pageOf, requireIndexedMcBlock } from '#api/v3/page.js';
import {
  pageFields,
  seqnoParameter,
  sortParameter,
  timeParameters,
  v3AccountParameter,
  v3HashListParameter,
} from '#api/v3/parameters.js';
import { pagePrice, ROW_PRICE } from '#api/v3/price.js';
import { transactionValue, type WrittenTransaction, writeTransaction } from '#api/v3/transactions.js';
import { type TraceTree, traceNodeJson, traceTree } from '#domain/traces/trace-tree.js';
import type { IndexedTrace, IndexedTransaction } from '#drivers/store/read/index-types.js';

/** Traces with more transactions are returned without them. */
const MAX_TRACE_TRANSACTIONS = 4_000;

/** Transactions of all traces of an answer. */
const MAX_TRANSACTIONS = 10_000;

const TOO_LARGE = 'trace is too large';

const TraceMeta = answerType('TraceMeta', {
  trace_state: required(
    word(
      '`complete`: all its messages were received. `pending`: some are in flight. `broken`: it started before the indexed history.',
    ),
    'state',
  ),
  messages: required(integer('Messages that were received.'), 'edges'),
  transactions: required(integer('Transactions.'), 'nodes'),
  pending_messages: required(integer('Messages in flight.'), 'pending_edges'),
  classification_state: required(
    word('`unclassified`: it was not classified into actions.'),
    (_: IndexedTrace) => 'unclassified',
  ),
});

/** Written by `domain/traces`, without recursion: trees may be thousands of nodes deep. */
const TraceNodeSchema = Type.Recursive(
  (This) =>
    Type.Object(
      {
        tx_hash: hash('The transaction.').schema,
        in_msg_hash: Type.Optional(hash('The message that triggered it; tick-tock transactions have none.').schema),
        transaction: Type.Optional(transactionValue.schema),
        in_msg: Type.Optional(MessageAnswer.schema),
        children: Type.Array(This, {
          description:
            'Transactions that its messages triggered. Null under /toncenter when none of its messages was received.',
        }),
      },
      { description: 'A transaction in the tree. `transaction` and `in_msg` are not filled.' },
    ),
  { $id: 'TraceNode' },
);

const Action = Type.Object({}, { $id: 'Action', additionalProperties: true, description: 'Not implemented yet.' });

/** What a trace is written from. */
interface TraceSource {
  readonly trace: IndexedTrace;
  /** Null when no transaction is indexed. */
  readonly external_hash: string | null;
  /** Null when it has too many transactions. */
  readonly tree: TraceTree | null;
  readonly actions: string | null;
  /** JSON. */
  readonly treeJson: string | null;
  readonly transactionsJson: string | null;
}

/** Hashes in base64. */
const transactionsOrder = answerValue<readonly string[]>(
  Type.Array(Type.String(), { description: 'Hashes by logical time.' }),
  (hashes) => JSON.stringify(hashes),
);

const TraceJson = answerType(
  'Trace',
  {
    trace_id: required(hash('Hash of its first transaction.'), ({ trace }: TraceSource) => trace.trace_id),
    external_hash: nullable(
      hashInBase64(
        'The external-in message, or the message of the validators, that started it; other traces have none.',
      ),
    ),
    mc_seqno_start: required(
      decimal('Masterchain block that commits its first transaction.'),
      ({ trace }: TraceSource) => trace.mc_seqno_start,
    ),
    mc_seqno_end: required(
      decimal('Masterchain block that commits its last one.'),
      ({ trace }: TraceSource) => trace.mc_seqno_end,
    ),
    start_lt: required(decimal('Of its first transaction.'), ({ trace }: TraceSource) => trace.start_lt),
    start_utime: required(
      integer('Of its first transaction: unix time in seconds.'),
      ({ trace }: TraceSource) => trace.start_utime,
    ),
    end_lt: required(decimal('Largest of all its transactions.'), ({ trace }: TraceSource) => trace.end_lt),
    end_utime: required(
      integer('Latest of all its transactions: unix time in seconds.'),
      ({ trace }: TraceSource) => trace.end_utime,
    ),
    trace_info: required(TraceMeta, 'trace'),
    is_incomplete: required(
      flag('It has too many transactions (above 4,000), which are left out.'),
      ({ tree }: TraceSource) => tree === null,
    ),
    warning: optional(text('Problem of the trace.'), ({ tree }: TraceSource) =>
      tree === null ? TOO_LARGE : tree.warning,
    ),
    actions: optional(
      jsonOf(
        Type.Array(Action, {
          description:
            'With `include_actions`. Traces are not classified into actions yet (see `classification_state`): empty.',
        }),
      ),
    ),
    trace: optional(jsonOf(TraceNodeSchema), 'treeJson'),
    transactions_order: optional(transactionsOrder, ({ tree }: TraceSource) => tree?.transactions_order),
    transactions: optional(jsonOf(mapSchema(transactionValue.schema, { description: 'By hash.' })), 'transactionsJson'),
  },
  'Transactions that are connected by messages.',
);

/** @param all its transactions by logical time and account; of a trace with too many only the first */
export function writeTrace(
  trace: IndexedTrace,
  all: readonly IndexedTransaction[],
  withActions: boolean,
  page: AnswerPage,
): string {
  const written = all.map((one) => writeTransaction(one, page));
  const root = written[0] ?? null;
  const tree = trace.nodes <= MAX_TRACE_TRANSACTIONS ? traceTree(written) : null;
  const source: TraceSource = {
    trace,
    // The sender of the message that started a broken trace is an account that is not indexed.
    external_hash: trace.state === 'broken' || root === null ? null : root.in_msg_hash,
    tree,
    actions: withActions ? '[]' : null,
    treeJson: tree?.trace ? treeJson(traceNodeJson(tree.trace), page) : null,
    transactionsJson: tree === null ? null : transactionsJson(written),
  };
  return writeAnswerJson(TraceJson, source, page);
}

/** In the published document `children` is never null. */
function treeJson(json: string, { profile }: AnswerPage): string {
  // All strings in it are hashes, which hold no quotes.
  return profile === 'spec' ? json.replaceAll('"children":null', '"children":[]') : json;
}

function transactionsJson(written: readonly WrittenTransaction[]): string {
  return `{${written.map(({ hash: txHash, json }) => `"${txHash}":${json}`).join(',')}}`;
}

/** What the list of traces is written from. */
interface TraceRow {
  readonly trace: IndexedTrace;
  readonly transactions: readonly IndexedTransaction[];
  readonly withActions: boolean;
}

const traceRow = answerValue(TraceJson.schema, ({ trace, transactions, withActions }: TraceRow, page) =>
  writeTrace(trace, transactions, withActions, page),
);

const Traces = listAnswer('TracesResponse', 'traces', traceRow, { metadata: true });
const Events = listAnswer('DeprecatedEventsResponse', 'events', traceRow, { metadata: true });

const TAG = 'Actions and traces';
const GET = ['GET'] as const;
const STATUSES = [404, 422, 504];

const include_actions = Type.Optional(
  Type.Boolean({
    description:
      'Include `actions`. Traces are not classified into actions yet: the list is empty, and `classification_state` is ' +
      '`unclassified`.',
    default: false,
  }),
);

const params = Type.Object(
  {
    account: Type.Optional(v3AccountParameter('Only traces with a transaction of this account')),
    trace_id: Type.Optional(v3HashListParameter('Only traces whose first transaction has one of these hashes')),
    tx_hash: Type.Optional(v3HashListParameter('Only traces with one of these transactions')),
    msg_hash: Type.Optional(
      v3HashListParameter('Only traces with one of these messages, by the hash as it is or normalised (TEP-467)'),
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
        description:
          'Types of actions that the client supports. Accepted, and without effect while there are no actions.',
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

async function listTraces(
  given: TraceParameters,
  context: V3Context,
  answer: typeof Traces,
  withActions: boolean,
): Promise<JsonText> {
  const { include_actions: _, supported_action_types: __, ...filter } = filterOf(given);
  const { rows, next } = await context.network.index.traces(filter, pageOf(given, context), context.query);
  if (rows.length === 0 && filter.mc_seqno !== undefined) await requireIndexedMcBlock(filter.mc_seqno, context);
  const loaded = rows.reduce((sum, { nodes }) => sum + (nodes > MAX_TRACE_TRANSACTIONS ? 1 : nodes), 0);
  if (loaded > MAX_TRANSACTIONS) throw v3Errors['answer-too-large']({ limit: `${MAX_TRANSACTIONS} transactions` });
  context.foresee(loaded * ROW_PRICE.transaction);
  const found = await transactionsOf(rows, context);
  const traces = rows.map((trace) => ({ trace, transactions: found.get(trace.root) ?? [], withActions }));
  return answer.write({ rows: traces, next }, context);
}

/** All transactions of each trace; of a trace with too many only the first. */
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
  'Traces that match all given conditions, ordered by the logical time of their end; by unix time if the request bounds that. A ' +
  'trace is a transaction and all that it triggers through messages. Only one of `account`, `trace_id`, `tx_hash` and `msg_hash` ' +
  `may be given. A trace with more than ${MAX_TRACE_TRANSACTIONS.toLocaleString('en')} transactions is returned without them.`;

const traces = v3Endpoint({
  name: 'traces',
  verbs: GET,
  tag: TAG,
  summary: 'Traces',
  description: DESCRIPTION,
  params,
  check: checkTraces,
  result: Traces.schema,
  statuses: STATUSES,
  price: pagePrice(ROW_PRICE.trace),
  freshness: 'head',
  handle: (given, context) => listTraces(given, context, Traces, given.include_actions === true),
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
  result: Events.schema,
  statuses: STATUSES,
  price: pagePrice(ROW_PRICE.trace),
  freshness: 'head',
  handle: (given, context) => listTraces(given, context, Events, true),
});

/** Methods about traces. */
export const traceEndpoints: readonly AnyEndpoint<V3Context>[] = [traces, events];

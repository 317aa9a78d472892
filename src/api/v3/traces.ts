import { type StaticDecode, Type } from '@sinclair/typebox';
import type { AnyEndpoint, JsonText, SerializedJson } from '#api/http/endpoint.js';
import { actionsJson, actionValue, shownActionTypes, supportedActionTypes } from '#api/v3/actions.js';
import {
  messageDependency,
  traceDependency,
  tracesOfAccountDependency,
  transactionDependency,
} from '#api/v3/answer-keys.js';
import {
  AddressCollector,
  type AnswerPage,
  answerType,
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
import { NEEDS_HISTORY } from '#api/v3/coverage.js';
import { v3Errors } from '#api/v3/errors.js';
import { jsonPieces } from '#api/v3/json-pieces.js';
import { type TraceText, TransactionText, type WrittenOrKept, type WrittenTransaction } from '#api/v3/kept-texts.js';
import { MessageAnswer } from '#api/v3/messages.js';
import { checkPage, filterOf, listAnswer, type PiecedRow, pageOf, requireIndexedMcBlock } from '#api/v3/page.js';
import {
  excludeSystemParameter,
  pageFields,
  seqnoParameter,
  sortParameter,
  timeParameters,
  v3AccountParameter,
  v3HashListParameter,
} from '#api/v3/parameters.js';
import { pagePrice, ROW_PRICE } from '#api/v3/price.js';
import { type AnswerTransaction, transactionRow, writeTransaction } from '#api/v3/transactions.js';
import { type TraceTree, traceNodeJson, traceTree } from '#domain/traces/trace-tree.js';
import type { IndexedAction } from '#drivers/store/read/actions.js';
import type { IndexedTrace, IndexedTransaction } from '#drivers/store/read/index-types.js';

/** Traces with more transactions are returned without them. */
const MAX_TRACE_TRANSACTIONS = 4_000;

/** Transactions of all traces of an answer. */
const MAX_TRANSACTIONS = 10_000;

/** A trace is written without a pause: half as many transactions of one trace as of several are for a reader thread. */
const UNDIVIDED = 2;

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
    word(
      '`ok`: its actions are known. `unclassified`: not yet. `broken`: a contract contradicts its messages. `failed`: only what its ' +
        'single messages say is known.',
      { enum: ['unclassified', 'ok', 'failed', 'broken'] },
    ),
    'classification_state',
  ),
});

/** Written by `domain/traces`, without recursion: trees may be thousands of nodes deep. */
export const TraceNodeSchema = Type.Recursive(
  (This) =>
    Type.Object(
      {
        tx_hash: hash('The transaction.').schema,
        in_msg_hash: Type.Optional(hash('The message that triggered it; tick-tock transactions have none.').schema),
        transaction: Type.Optional(transactionRow.schema),
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

/** A trace of the index, or one that is not indexed yet. */
interface AnswerTrace extends Omit<IndexedTrace, 'root' | 'trace_id'> {
  /** Null while its first transaction is emulated. */
  readonly trace_id: Uint8Array | null;
}

/** What a trace is written from. */
export interface TraceSource {
  readonly trace: AnswerTrace;
  /** An emulation that was cut; absent: it is incomplete when it has too many transactions. */
  readonly isCut?: boolean;
  /** Null when no transaction is indexed. */
  readonly external_hash: string | null;
  readonly warning: string | null;
  readonly actions: string | null;
  /** JSON; null when it has too many transactions. */
  readonly orderJson: string | null;
  readonly treeJson: string | null;
  readonly transactionsJson: string | null;
}

export const TraceJson = answerType(
  'Trace',
  {
    trace_id: nullable(
      hash('Hash of its first transaction. None while that is emulated.'),
      ({ trace }: TraceSource) => trace.trace_id,
    ),
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
      flag('It has too many transactions (above 4,000), which are left out; or its emulation was cut.'),
      ({ orderJson, isCut }: TraceSource) => isCut ?? orderJson === null,
    ),
    warning: optional(text('Problem of the trace.')),
    actions: optional(
      jsonOf(
        Type.Array(actionValue.schema, {
          description: 'With `include_actions`: what happened, by start and end; as in `actions`.',
        }),
      ),
    ),
    trace: optional(jsonOf(TraceNodeSchema), 'treeJson'),
    transactions_order: optional(
      jsonOf(Type.Array(Type.String(), { description: 'Hashes by logical time.' })),
      'orderJson',
    ),
    transactions: optional(jsonOf(mapSchema(transactionRow.schema, { description: 'By hash.' })), 'transactionsJson'),
  },
  'Transactions that are connected by messages.',
);

/** Its members but the last ones, which may be kept. */
const WITHOUT_END = { orderJson: null, treeJson: null, transactionsJson: null } as const;

/** @returns its JSON, in two pieces where its end may be kept */
function tracePieces({ trace, transactions: all, actions: found }: TraceRow, page: AnswerPage): SerializedJson[] {
  const actions = found === null ? null : actionsJson(found, page);
  // The sender of the message that started a broken trace is an account that is not indexed.
  const externalHash = (in_msg_hash: string | null) => (trace.state === 'broken' ? null : in_msg_hash);
  if ('end' in all || trace.nodes <= MAX_TRACE_TRANSACTIONS) {
    const { in_msg_hash, warning, end } = textOf(trace, all, page);
    const source = { trace, actions, warning, ...WITHOUT_END, isCut: false, external_hash: externalHash(in_msg_hash) };
    return [writeAnswerJson(TraceJson, source, page).slice(0, -1), end];
  }
  const [root = null] = all.map((one) => writeTransaction(one, page));
  const external_hash = externalHash(root?.in_msg_hash ?? null);
  return [writeAnswerJson(TraceJson, { trace, actions, warning: TOO_LARGE, ...WITHOUT_END, external_hash }, page)];
}

function textOf(trace: IndexedTrace, all: readonly AnswerTransaction[] | TraceText, page: AnswerPage): TraceText {
  if ('end' in all) {
    page.addresses.addWritten(all.addresses);
    return all;
  }
  const { profile, texts, messages } = page;
  const own = new AddressCollector();
  const isWhole = all.length === trace.nodes && all.every((one) => one instanceof TransactionText || isFinal(one));
  // The transactions of a trace that is kept are not kept a second time.
  const ofTransactions = isWhole ? undefined : texts;
  const written = all.map((one) => writeTransaction(one, { profile, addresses: own, texts: ofTransactions, messages }));
  const tree = traceTree(written);
  const text: TraceText = {
    in_msg_hash: written[0]?.in_msg_hash ?? null,
    warning: tree.warning,
    end: endOfTrace(tree, written, page),
    addresses: [...own.byRaw],
  };
  page.addresses.addWritten(text.addresses);
  if (isWhole) texts?.addTrace(trace, text);
  return text;
}

/** The members behind the others: `trace` if there is any transaction, `transactions_order`, `transactions`. */
function endOfTrace(tree: TraceTree, written: readonly WrittenOrKept[], page: AnswerPage): Uint8Array {
  const node = tree.trace === null ? '' : `,"trace":${treeJson(traceNodeJson(tree.trace), page)}`;
  const pieces = jsonPieces(`${node},"transactions_order":${JSON.stringify(tree.transactions_order)},"transactions":{`);
  for (const [i, { hash, json }] of written.entries()) pieces.add(`${i === 0 ? '' : ','}"${hash}":`, json);
  pieces.add('}}');
  return pieces.inUtf8();
}

function isFinal(listed: AnswerTransaction): boolean {
  return (listed as IndexedTransaction).isFinal;
}

/** In the published document `children` is never null. */
export function treeJson(json: string, { profile }: AnswerPage): string {
  // All strings in it are hashes, which hold no quotes.
  return profile === 'spec' ? json.replaceAll('"children":null', '"children":[]') : json;
}

export function transactionsJson(written: readonly WrittenTransaction[]): string {
  return `{${written.map(({ hash: txHash, json }) => `"${txHash}":${json}`).join(',')}}`;
}

/** What the list of traces is written from. */
interface TraceRow {
  readonly trace: IndexedTrace;
  readonly transactions: readonly AnswerTransaction[] | TraceText;
  readonly actions: readonly IndexedAction[] | null;
}

export const indexedTraceRow: PiecedRow<TraceRow> = { schema: TraceJson.schema, pieces: tracePieces };

const Traces = listAnswer('TracesResponse', 'traces', indexedTraceRow, { metadata: true });
const Events = listAnswer('DeprecatedEventsResponse', 'events', indexedTraceRow, { metadata: true });

const TAG = 'Actions and traces';
const GET = ['GET'] as const;
const STATUSES = [404, 422, 504];

const include_actions = Type.Optional(Type.Boolean({ description: 'Include `actions`.', default: false }));

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
    exclude_system: excludeSystemParameter(
      'traces of tick-tock transactions and of special messages of the masterchain',
    ),
    include_actions,
    supported_action_types: supportedActionTypes,
    ...pageFields,
    sort: sortParameter('By the end of the trace.'),
  },
  { additionalProperties: false },
);
type TraceParameters = StaticDecode<typeof params>;

function tracesDepend({ account, trace_id, tx_hash, msg_hash, mc_seqno }: TraceParameters): readonly string[] | null {
  if (account !== undefined) return [tracesOfAccountDependency(account)];
  const transactions = trace_id ?? tx_hash;
  if (transactions !== undefined) return transactions.map(transactionDependency);
  return msg_hash?.map(messageDependency) ?? (mc_seqno === undefined ? null : []);
}

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
  const { include_actions: _, supported_action_types: supported, ...filter } = filterOf(given);
  const { rows, next } = await context.network.index.traces(filter, pageOf(given, context), context.query);
  if (rows.length === 0 && filter.mc_seqno !== undefined) await requireIndexedMcBlock(filter.mc_seqno, context);
  for (const { root } of rows) context.dependsOn(traceDependency(root));
  const sizeOf = ({ nodes }: IndexedTrace) => (nodes > MAX_TRACE_TRANSACTIONS ? 1 : nodes);
  const all = rows.reduce((sum, trace) => sum + sizeOf(trace), 0);
  if (all > MAX_TRANSACTIONS) throw v3Errors['answer-too-large']({ limit: `${MAX_TRANSACTIONS} transactions` });
  const texts = context.network.texts?.of(context.profile);
  const kept = new Map<bigint, TraceText>();
  for (const trace of rows) {
    const text = texts?.findTrace(trace);
    if (text !== undefined) kept.set(trace.root, text);
  }
  const others = rows.filter(({ root }) => !kept.has(root));
  const sizes = others.map(sizeOf);
  const loaded = Math.max(
    sizes.reduce((sum, size) => sum + size, 0),
    UNDIVIDED * Math.max(0, ...sizes),
  );
  context.foresee(loaded * ROW_PRICE.transaction);
  const found = await transactionsOf(others, context);
  const actions = withActions ? await actionsOf(rows, supported, context) : null;
  const traces = rows.map((trace) => ({
    trace,
    transactions: kept.get(trace.root) ?? found.get(trace.root) ?? [],
    actions: actions === null ? null : (actions.get(trace.root) ?? []),
  }));
  return answer.write({ rows: traces, next }, context);
}

/** All transactions of each trace; of a trace with too many only the first. */
async function transactionsOf(
  traces: readonly IndexedTrace[],
  { network: { index, texts }, profile, query }: V3Context,
): Promise<ReadonlyMap<bigint, readonly AnswerTransaction[]>> {
  if (traces.length === 0) return new Map();
  const kept = texts?.of(profile);
  const roots = traces.map(({ root }) => root);
  // Where not even its first transaction is kept, hardly any is.
  const isKept = kept !== undefined && roots.some((root) => kept.has(root));
  const found: ReadonlyMap<bigint, readonly AnswerTransaction[]> = isKept
    ? await index.transactionsOfTracesBesideHeld(roots, MAX_TRACE_TRANSACTIONS, kept, query)
    : await index.transactionsOfTraces(roots, MAX_TRACE_TRANSACTIONS, query);
  const large = traces.filter(({ nodes }) => nodes > MAX_TRACE_TRANSACTIONS);
  if (large.length === 0) return found;
  const page = { limit: large.length, offset: 0, sort: 'desc', cursor: null } as const;
  const firsts = await index.transactions({ hash: large.map(({ trace_id }) => trace_id) }, page, query);
  return new Map([...found, ...firsts.rows.map((row) => [row.id, [row]] as const)]);
}

/** The actions of each trace that is written with its transactions. */
async function actionsOf(
  traces: readonly IndexedTrace[],
  supported: readonly string[] | undefined,
  context: V3Context,
): Promise<ReadonlyMap<bigint, readonly IndexedAction[]>> {
  const { network, query } = context;
  const roots = traces.filter(({ nodes }) => nodes <= MAX_TRACE_TRANSACTIONS).map(({ root }) => root);
  const actions = await network.index.actionsOfTraces(roots, shownActionTypes(supported, context), query);
  let count = 0;
  for (const each of actions.values()) count += each.length;
  context.foresee(count * ROW_PRICE.action);
  return actions;
}

const DESCRIPTION =
  'Traces that match all given conditions, ordered by the logical time of their end; by unix time if the request bounds that. A ' +
  'trace is a transaction and all that it triggers through messages. Only one of `account`, `trace_id`, `tx_hash` and `msg_hash` ' +
  `may be given. A trace with more than ${MAX_TRACE_TRANSACTIONS.toLocaleString('en')} transactions is returned without them.`;

const TRACE_COVERAGE = {
  ...NEEDS_HISTORY,
  mcBlock: ({ mc_seqno }: { readonly mc_seqno?: number | undefined }) => mc_seqno,
};

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
  coverage: TRACE_COVERAGE,
  freshness: 'head',
  depends: tracesDepend,
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
  coverage: TRACE_COVERAGE,
  freshness: 'head',
  depends: tracesDepend,
  handle: (given, context) => listTraces(given, context, Events, true),
});

/** Methods about traces. */
export const traceEndpoints: readonly AnyEndpoint<V3Context>[] = [traces, events];

import { type StaticDecode, Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { type JsonText, jsonText } from '#api/http/json-text.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { checkPage, pageOf, rowsOf } from '#api/v3/page.js';
import {
  addressParameter,
  hashListParameter,
  pageFields,
  seqnoParameter,
  sortParameter,
  timeParameters,
} from '#api/v3/parameters.js';
import { checkRound } from '#api/v3/routes/check-round.js';
import { EventsResponse, TracesResponse } from '#api/v3/schemas/traces.js';
import { AddressCollector } from '#api/v3/serialize/address-collector.js';
import { dialectOf } from '#api/v3/serialize/dialect.js';
import { pageAddressesText } from '#api/v3/serialize/page-addresses.js';
import { listText } from '#api/v3/serialize/texts.js';
import { MAX_TRACE_TRANSACTIONS, traceText } from '#api/v3/serialize/trace.js';
import { serializeTransaction } from '#api/v3/serialize/transaction.js';
import type { IndexedTrace, IndexedTransaction } from '#drivers/store/read/index-reads.js';

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
    account: Type.Optional(addressParameter('Only traces with a transaction of this account')),
    trace_id: Type.Optional(hashListParameter('Only traces whose first transaction has one of these hashes')),
    tx_hash: Type.Optional(hashListParameter('Only traces with one of these transactions')),
    msg_hash: Type.Optional(
      hashListParameter('Only traces with one of these messages, by the hash as it is or normalised (TEP-467)'),
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
  if (listed.rows.length === 0 && filter.mc_seqno !== undefined) await checkRound(filter.mc_seqno, context);
  const traces = rowsOf(listed, context);
  const transactions = await transactionsOf(traces, context);
  const dialect = dialectOf(profile);
  const addresses = new AddressCollector();
  const withActions = wanted === true || member === 'events';
  const texts = traces.map((trace) => {
    const all = transactions.get(trace.root) ?? [];
    const isWhole = trace.nodes <= MAX_TRACE_TRANSACTIONS;
    const written = all.map((one) => serializeTransaction(one, dialect, addresses));
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

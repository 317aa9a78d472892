import { type StaticDecode, Type } from '@sinclair/typebox';
import type { AnyEndpoint, JsonText } from '#api/http/endpoint.js';
import { actionValue, shownActionTypes, supportedActionTypes } from '#api/v3/actions.js';
import { AddressCollector, type AnswerPage, answerValue } from '#api/v3/answer-type.js';
import { type V3ChainContext, v3ChainEndpoint } from '#api/v3/context.js';
import { NEEDS_NOTHING } from '#api/v3/coverage.js';
import { v3Errors } from '#api/v3/errors.js';
import { jsonPieces } from '#api/v3/json-pieces.js';
import { extentOf, writeLiveActions, writeLiveTrace, writeLiveTransaction } from '#api/v3/live-answers.js';
import { addRows, listAnswer, withAddresses } from '#api/v3/page.js';
import { v3AccountListParameter, v3AccountParameter, v3HashListParameter } from '#api/v3/parameters.js';
import { itemsPrice, ROW_PRICE } from '#api/v3/price.js';
import { TraceJson } from '#api/v3/traces.js';
import { transactionRow } from '#api/v3/transactions.js';
import type { Address } from '#formats/address/address.js';
import { toHex } from '#kernel/bytes.js';
import { systemClock } from '#kernel/clock.js';
import type { LiveMessages } from '#services/pending/live-messages.js';
import type { LiveTrace, LiveTransaction } from '#services/pending/live-trace.js';

/** Traces of an answer, and transactions of all of them: the newest traces come first, older ones are left out. */
const MAX_TRACES = 100;
const MAX_TRANSACTIONS = 10_000;

/** How long an answer waits for actions of a trace that has just changed. */
const CLASSIFIED_MS = 300;

/** A transaction of a live trace. */
interface PendingTransaction {
  readonly transaction: LiveTransaction;
  readonly trace: LiveTrace;
}

const pendingTransaction = answerValue(transactionRow.schema, ({ transaction, trace }: PendingTransaction, page) => {
  const { trace_id, external_hash: trace_external_hash } = trace;
  return writeLiveTransaction(transaction, { trace_id, trace_external_hash }, page).json;
});

const Transactions = listAnswer('TransactionsResponse', 'transactions', pendingTransaction, { metadata: false });

const Traces = listAnswer('TracesResponse', 'traces', TraceJson, { metadata: true });
const Actions = listAnswer('ActionsResponse', 'actions', actionValue, { metadata: true });

/** @throws v3/no-pending */
function liveOf({ network }: V3ChainContext): LiveMessages {
  if (network.pending === undefined) throw v3Errors['no-pending']({});
  return network.pending;
}

const selection = {
  account: Type.Optional(v3AccountParameter('Only traces with a transaction of this account')),
  ext_msg_hash: Type.Optional(
    v3HashListParameter(
      'Only traces that these external-in messages begin, by the hash as it is or normalised (TEP-467)',
    ),
  ),
  supported_action_types: supportedActionTypes,
};
const traceParams = Type.Object(selection, { additionalProperties: false });
type Selection = StaticDecode<typeof traceParams>;

/** @throws v3/parameters */
function checkSelection({ account, ext_msg_hash }: Selection): void {
  if (account === undefined && ext_msg_hash === undefined) {
    throw v3Errors.parameters({ problem: 'account or ext_msg_hash should be specified' });
  }
}

/** The traces that a request selects: by their ends, the newest first. */
async function selected(
  { account, ext_msg_hash = [] }: Selection,
  context: V3ChainContext,
): Promise<readonly LiveTrace[]> {
  const live = liveOf(context);
  const found =
    account === undefined
      ? [...new Set(ext_msg_hash.map((hash) => live.find(hash)))].filter((trace) => trace !== null)
      : live.ofAccounts([account], MAX_TRACES);
  const classified = await Promise.all(found.map((trace) => whenClassified(trace, live, context.query.signal)));
  const ends = new Map(classified.map((trace) => [trace, extentOf(trace.transactions).end_lt]));
  classified.sort((a, b) => (ends.get(a)! > ends.get(b)! ? -1 : 1));
  return withinBounds(classified);
}

/** The trace with its actions, if these come soon: those of a trace that just changed are being found. */
async function whenClassified(trace: LiveTrace, live: LiveMessages, signal: AbortSignal): Promise<LiveTrace> {
  const { external_hash_norm: hash } = trace;
  const until = systemClock.now() + CLASSIFIED_MS;
  for (let now: LiveTrace | null = trace; ; now = live.find(hash)) {
    if (now === null) return trace;
    const left = until - systemClock.now();
    if (now.actions !== null || left <= 0 || signal.aborted) return now;
    await new Promise<void>((resolve) => {
      const end = () => {
        unwatch();
        cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const unwatch = live.watch(hash, end);
      const cancel = systemClock.schedule(left, end);
      signal.addEventListener('abort', end);
    });
  }
}

function withinBounds(traces: readonly LiveTrace[]): readonly LiveTrace[] {
  let count = 0;
  return traces.slice(0, MAX_TRACES).filter(({ transactions }) => {
    count += transactions.length;
    return count <= MAX_TRANSACTIONS;
  });
}

/** An answer with a list whose items `write` adds as JSON. @throws v3/answer-too-large */
async function writtenList(
  member: string,
  context: V3ChainContext,
  write: (page: AnswerPage, texts: string[]) => Promise<void>,
): Promise<JsonText> {
  const page = { profile: context.profile, addresses: new AddressCollector(), messages: new Map() };
  const texts: string[] = [];
  await write(page, texts);
  const head = jsonPieces(`{"${member}":[`);
  await addRows(head, texts, (text) => [text], context);
  head.add('],');
  return withAddresses(head, page.addresses, context, true);
}

const TAG = 'Actions and traces';
const GET = ['GET'] as const;
const STATUSES = [422, 503, 504];

const WHAT =
  'Pending are messages that were sent through this server, or that it has seen elsewhere: each is emulated at once, and its ' +
  'transactions give way to those in blocks as these come.';

const pendingTraces = v3ChainEndpoint({
  name: 'pendingTraces',
  verbs: GET,
  tag: TAG,
  summary: 'Traces that are not final yet',
  description:
    `Traces on their way from a message to finalized transactions, with their actions. ${WHAT} Each transaction has its own ` +
    '`finality`: `pending` (emulated), `confirmed` (in a shard block that the masterchain has not committed) or `finalized`. ' +
    'A trace is shown until the index has it with its actions. With `account` and `ext_msg_hash`, `account` counts. At most ' +
    `${MAX_TRACES} traces, the newest first.`,
  params: traceParams,
  check: checkSelection,
  result: Traces.schema,
  statuses: STATUSES,
  price: itemsPrice(ROW_PRICE.trace),
  coverage: NEEDS_NOTHING,
  freshness: 'none',
  handle: async (given, context) => {
    const traces = await selected(given, context);
    if (traces.length === 0 && context.profile === 'toncenter')
      return withAddresses(jsonPieces('{"traces":null,'), new AddressCollector(), context, true);
    const shown = shownActionTypes(given.supported_action_types, context);
    return writtenList('traces', context, async (page, texts) => {
      for (const trace of traces) texts.push(await writeLiveTrace(trace, shown, page, context.slices));
    });
  },
});

const actionParams = Type.Object(
  {
    ...selection,
    include_transactions: Type.Optional(Type.Boolean({ description: 'Include `transactions_full`.', default: false })),
  },
  { additionalProperties: false },
);

const pendingActions = v3ChainEndpoint({
  name: 'pendingActions',
  verbs: GET,
  tag: TAG,
  summary: 'Actions that are not final yet',
  description:
    `The actions of pending traces, by the end of their traces and then by their own, the newest first. ${WHAT} The \`finality\` ` +
    'of an action is the lowest of its transactions. `trace_id` is null until the first transaction is in a block.',
  params: actionParams,
  check: checkSelection,
  result: Actions.schema,
  statuses: STATUSES,
  price: itemsPrice(ROW_PRICE.trace),
  coverage: NEEDS_NOTHING,
  freshness: 'none',
  handle: async (given, context): Promise<JsonText> => {
    const traces = await selected(given, context);
    const shown = shownActionTypes(given.supported_action_types, context);
    const how = { shown, withTransactions: given.include_transactions === true };
    return writtenList('actions', context, async (page, texts) => {
      for (const trace of traces) texts.push(...(await writeLiveActions(trace, how, page, context.slices)));
    });
  },
});

const transactionParams = Type.Object(
  {
    account: Type.Optional(v3AccountListParameter('Accounts')),
    trace_id: Type.Optional(
      v3HashListParameter('Without effect: accounts are required, and their emulated transactions are listed'),
    ),
  },
  { additionalProperties: false },
);

const pendingTransactions = v3ChainEndpoint({
  name: 'pendingTransactions',
  verbs: GET,
  tag: 'Blockchain Data',
  summary: 'Transactions that are emulated only',
  description: `The emulated transactions of some accounts, by logical time, the newest first. ${WHAT} When there are none, the answer is 404.`,
  params: transactionParams,
  check: ({ account = [] }) => {
    if (account.length === 0) throw v3Errors.parameters({ problem: 'at least 1 account address required' });
  },
  result: Transactions.schema,
  statuses: [404, ...STATUSES],
  price: itemsPrice(ROW_PRICE.transaction),
  coverage: NEEDS_NOTHING,
  freshness: 'none',
  handle: async ({ account: accounts = [] }, context) => {
    const asked = new Set(accounts.map((account: Address) => account.toRaw()));
    const traces = withinBounds(liveOf(context).ofAccounts(accounts, MAX_TRACES));
    const rows = traces.flatMap((trace) =>
      trace.transactions
        .filter(({ finality, account }) => finality === 'pending' && asked.has(account.toRaw()))
        .map((transaction) => ({ trace, transaction })),
    );
    if (rows.length === 0) throw v3Errors['nothing-pending']({});
    const newestFirst = rows.map((row) => ({
      row,
      lt: extentOf([row.transaction]).end_lt,
      key: toHex(row.transaction.cell.hash()),
    }));
    newestFirst.sort((a, b) => (a.lt === b.lt ? (a.key < b.key ? -1 : 1) : a.lt > b.lt ? -1 : 1));
    return Transactions.write({ rows: newestFirst.map(({ row }) => row), next: null }, context);
  },
});

/** Methods about what is not final yet. */
export const pendingEndpoints: readonly AnyEndpoint<V3ChainContext>[] = [
  pendingTraces,
  pendingActions,
  pendingTransactions,
];

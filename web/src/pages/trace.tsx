import { useMemo, useState } from 'preact/hooks';
import { ActionLine } from '../actions/action-line.js';
import type { Trace, TracesAnswer } from '../api/answers.js';
import { askV3 } from '../api/ask.js';
import { countText } from '../format/amount.js';
import { hashOf } from '../format/chain-text.js';
import { durationText } from '../format/time.js';
import { useLoad } from '../live/use-load.js';
import { AccountLink } from '../parts/address.js';
import { KnownAddresses } from '../parts/address-facts.js';
import { Ton } from '../parts/amount.js';
import { Fact, Facts, JsonText, Section } from '../parts/facts.js';
import { Moment } from '../parts/moment.js';
import { Loading, NotFound, Notice, ProblemNotice } from '../parts/notice.js';
import { HashText, McBlockLink, TransactionLink } from '../parts/reference.js';
import { Sliced } from '../parts/sliced.js';
import { TableFrame } from '../parts/table-frame.js';
import { Tabs } from '../parts/tabs.js';
import { accountFlows, feesOf, outcomeOf, type TraceRow, traceRows } from '../trace/trace-rows.js';
import { TraceTree } from '../trace/trace-tree.js';

interface FoundTrace extends TracesAnswer {
  readonly coverage: string | null;
}

/** The trace that a hash names: of its first transaction, of any other one, or of a message in it. */
async function findTrace(hash: string, signal: AbortSignal): Promise<FoundTrace> {
  let coverage: string | null = null;
  for (const name of ['tx_hash', 'msg_hash']) {
    const answer = await askV3<TracesAnswer>('traces', { [name]: hash, include_actions: true, limit: 1 }, signal);
    coverage = answer.coverage ?? coverage;
    if (answer.value.traces.length > 0) return { ...answer.value, coverage };
  }
  return { traces: [], coverage };
}

/** Whether a trace is final and classified: then it is not loaded again, which for thousands of transactions takes long. */
function cannotChange({ trace_info: info, is_incomplete, transactions }: Trace): boolean {
  return (
    info.trace_state === 'complete' &&
    info.pending_messages === 0 &&
    info.classification_state !== 'unclassified' &&
    !is_incomplete &&
    Object.values(transactions ?? {}).every(({ emulated }) => emulated !== true)
  );
}

/** A trace: its actions, its tree, what it moved, and when. @param hash as it stands in the address */
export function TracePage({ hash: given }: { readonly hash: string }) {
  const hash = hashOf(given);
  const [isSettled, setSettled] = useState(false);
  const { value, problem, isLoading } = useLoad(
    hash === null ? null : `trace:${hash}`,
    async (signal) => {
      const found = await findTrace(hash!, signal);
      setSettled(found.traces[0] !== undefined && cannotChange(found.traces[0]));
      return found;
    },
    { live: !isSettled },
  );
  if (hash === null) {
    return (
      <Notice kind="error" title="This is no hash.">
        The hash of a trace has 32 bytes: 64 hex digits, or 44 characters of base64.
      </Notice>
    );
  }
  const trace = value?.traces[0];
  if (trace === undefined) {
    if (problem !== null) return <ProblemNotice problem={problem} what="trace" />;
    return isLoading || value === null ? (
      <Loading what="the trace" />
    ) : (
      <NotFound what="trace" coverage={value.coverage} />
    );
  }
  return (
    <KnownAddresses of={value}>
      <TraceView trace={trace} marked={hash} />
    </KnownAddresses>
  );
}

interface TraceViewProps {
  readonly trace: Trace;
  /** A transaction that is shown open. */
  readonly marked: string | null;
}

export function TraceView({ trace, marked }: TraceViewProps) {
  const rows = useMemo(() => traceRows(trace), [trace]);
  const [first] = rows;
  const { trace_info: info, actions } = trace;
  const failed = rows.filter(({ transaction }) => outcomeOf(transaction).kind === 'failure').length;
  const fees = rows.reduce((sum, { transaction }) => sum + feesOf(transaction), 0n);
  const seconds = trace.end_utime - trace.start_utime;
  const isOpen = info.pending_messages > 0 || info.trace_state === 'pending';
  return (
    <>
      <header class="page-head">
        <h1>
          Trace {isOpen && <span class="badge badge-wait">under way</span>}
          {!isOpen && failed > 0 && <span class="badge badge-bad">{countText(failed)} failed</span>}
          {!isOpen && failed === 0 && <span class="badge badge-good">complete</span>}
        </h1>
        {trace.trace_id != null && <HashText hash={trace.trace_id} what="trace id" />}
      </header>
      {trace.warning != null && <Notice kind="warning" title={trace.warning} />}
      {actions != null && actions.length > 0 && (
        <Section title={actions.length === 1 ? 'What happened' : `What happened: ${countText(actions.length)} actions`}>
          <div class="actions">
            {actions.map((action) => (
              <ActionLine key={action.action_id} action={action} inTrace />
            ))}
          </div>
        </Section>
      )}
      <section class="card">
        <Facts>
          <Fact name="Transactions">{countText(info.transactions)}</Fact>
          <Fact name="Began">
            <Moment at={trace.start_utime} full />
          </Fact>
          <Fact name="Took">{seconds === 0 ? 'less than a second' : durationText(seconds)}</Fact>
          <Fact name="Masterchain blocks">
            <McBlockLink seqno={trace.mc_seqno_start} />
            {trace.mc_seqno_end !== trace.mc_seqno_start && (
              <>
                {' to '}
                <McBlockLink seqno={trace.mc_seqno_end} />
              </>
            )}
          </Fact>
          <Fact name="All fees">
            <Ton nano={fees} />
          </Fact>
          {trace.external_hash != null && (
            <Fact name="External message">
              <HashText hash={trace.external_hash} what="hash of the external message" />
            </Fact>
          )}
        </Facts>
      </section>
      <Tabs
        name="view"
        tabs={[
          {
            id: 'tree',
            title: 'Tree',
            content: () => <TraceTree rows={rows} marked={marked === first?.transaction.hash ? null : marked} />,
          },
          { id: 'time', title: 'Time line', content: () => <TimeLine rows={rows} /> },
          { id: 'flow', title: 'Value flow', content: () => <ValueFlow rows={rows} /> },
          { id: 'json', title: 'JSON', content: () => <JsonText value={trace} /> },
        ]}
      />
    </>
  );
}

/** What each account got, gave, and was left with. */
function ValueFlow({ rows }: { readonly rows: readonly TraceRow[] }) {
  const flows = useMemo(() => accountFlows(rows), [rows]);
  return (
    <Sliced
      rows={flows}
      step={SLICE}
      what="accounts"
      frame={(drawn) => (
        <TableFrame>
          <table class="table">
            <thead>
              <tr>
                <th scope="col">Account</th>
                <th scope="col" class="number">
                  Received
                </th>
                <th scope="col" class="number">
                  Sent
                </th>
                <th scope="col" class="number">
                  Balance change
                </th>
                <th scope="col" class="number">
                  Transactions
                </th>
              </tr>
            </thead>
            <tbody>{drawn}</tbody>
          </table>
        </TableFrame>
      )}
      row={({ account, received, sent, change, transactions }) => (
        <tr key={account}>
          <td>
            <AccountLink address={account} />
          </td>
          <td class="number">
            <Ton nano={received} />
          </td>
          <td class="number">
            <Ton nano={sent} />
          </td>
          <td class="number">
            {change === null ? (
              '–'
            ) : (
              <Ton nano={change} signed class={change < 0n ? 'bad' : change > 0n ? 'good' : ''} />
            )}
          </td>
          <td class="number">{countText(transactions)}</td>
        </tr>
      )}
    />
  );
}

/** Rows of a table that are drawn at once. */
const SLICE = 200;

/** The transactions in the order of their logical times, with the time since the first one. */
function TimeLine({ rows }: { readonly rows: readonly TraceRow[] }) {
  const ordered = useMemo(
    () =>
      rows
        .map(({ transaction }) => transaction)
        .sort((a, b) => a.now - b.now || (BigInt(a.lt) < BigInt(b.lt) ? -1 : 1)),
    [rows],
  );
  const start = ordered[0]?.now ?? 0;
  const length = Math.max(1, (ordered.at(-1)?.now ?? 0) - start);
  return (
    <Sliced
      rows={ordered}
      step={SLICE}
      what="transactions"
      frame={(drawn) => (
        <TableFrame>
          <table class="table time-line">
            <thead>
              <tr>
                <th scope="col">After</th>
                <th scope="col">Block</th>
                <th scope="col">Account</th>
                <th scope="col">Transaction</th>
                <th scope="col">Outcome</th>
              </tr>
            </thead>
            <tbody>{drawn}</tbody>
          </table>
        </TableFrame>
      )}
      row={(transaction) => {
        const after = transaction.now - start;
        const outcome = outcomeOf(transaction);
        return (
          <tr key={transaction.hash}>
            <td class="time-cell">
              <span class="time-bar" style={{ width: `${(after / length) * 100}%` }} />
              <span class="time-text">{after} s</span>
            </td>
            <td>{transaction.mc_block_seqno != null && <McBlockLink seqno={transaction.mc_block_seqno} />}</td>
            <td>
              <AccountLink address={transaction.account} bare />
            </td>
            <td>
              <TransactionLink hash={transaction.hash} bare />
            </td>
            <td class={outcome.kind === 'failure' ? 'bad' : 'muted'}>{outcome.text}</td>
          </tr>
        );
      }}
    />
  );
}

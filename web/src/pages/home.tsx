import type { ComponentChildren } from 'preact';
import { ActionLine } from '../actions/action-line.js';
import type { ActionsAnswer, Block, BlocksAnswer, TransactionsAnswer } from '../api/answers.js';
import { askV3 } from '../api/ask.js';
import { countText } from '../format/amount.js';
import { durationText } from '../format/time.js';
import { useLoad } from '../live/use-load.js';
import { useNetwork } from '../live/use-network.js';
import { KnownAddresses } from '../parts/address-facts.js';
import { Section } from '../parts/facts.js';
import { Moment } from '../parts/moment.js';
import { Loading, Notice, ProblemNotice } from '../parts/notice.js';
import { BlockLink, McBlockLink, TraceLink } from '../parts/reference.js';
import { SearchBox } from '../parts/search-box.js';
import { pathOf } from '../routing/location.js';
import { Link } from '../routing/router.js';

const BLOCKS = 10;
const ACTIONS = 15;

/** Transactions in which the newest traces are looked for. */
const TRANSACTIONS = 60;

interface Newest extends ActionsAnswer {
  /** The newest traces, which have no known actions when there are none here. */
  readonly traces: readonly string[];
}

/** The actions of the newest traces of the basechain: the masterchain has some in each block that nobody caused. */
async function newestActions(signal: AbortSignal): Promise<Newest> {
  const query = { workchain: 0, limit: TRANSACTIONS, sort: 'desc' };
  const { value } = await askV3<TransactionsAnswer>('transactions', query, signal);
  const traces = [...new Set(value.transactions.flatMap(({ trace_id }) => trace_id ?? []))].slice(0, ACTIONS);
  if (traces.length === 0) return { actions: [], traces };
  const found = await askV3<ActionsAnswer>('actions', { trace_id: traces, limit: ACTIONS, sort: 'desc' }, signal);
  return { ...found.value, traces };
}

/** Head, blocks as they come, and what happened last. */
export function HomePage() {
  const { hasIndex, local, head } = useNetwork();
  const blocks = useLoad(
    hasIndex ? 'home-blocks' : null,
    async (signal) =>
      (await askV3<BlocksAnswer>('blocks', { workchain: -1, limit: BLOCKS, sort: 'desc' }, signal)).value,
    { live: true },
  );
  const actions = useLoad(hasIndex ? 'home-actions' : null, newestActions, { live: true });
  return (
    <>
      <div class="hero">
        <h1>{local == null ? 'Explorer' : 'Local network'}</h1>
        <SearchBox isLarge />
      </div>
      <HeadFigures />
      {!hasIndex && (
        <Notice title="This server has no index (API v3).">
          Blocks, history, traces and tokens are not available; accounts are read from liteservers.
        </Notice>
      )}
      <div class="columns">
        <Section title="Newest actions" side={<Link to={pathOf(['actions'])}>all</Link>}>
          {actions.problem !== null && actions.value === null && (
            <ProblemNotice problem={actions.problem} what="action" />
          )}
          {actions.value === null && actions.isLoading && <Loading what="actions" />}
          {actions.value?.actions.length === 0 && actions.value.traces.length > 0 && (
            <p class="muted">
              Of what the newest traces did nothing is known:{' '}
              {actions.value.traces.map((id) => (
                <span key={id}>
                  <TraceLink id={id} />{' '}
                </span>
              ))}
            </p>
          )}
          {actions.value?.actions.length === 0 && actions.value.traces.length === 0 && (
            <div class="empty">
              <p>Nothing has happened yet.</p>
              {local != null && (
                <p>
                  <Link to={pathOf(['local'])} class="button">
                    Take coins from the faucet
                  </Link>
                </p>
              )}
            </div>
          )}
          <KnownAddresses of={actions.value}>
            <div class="actions">
              {actions.value?.actions.map((action) => (
                <ActionLine key={action.action_id} action={action} />
              ))}
            </div>
          </KnownAddresses>
        </Section>
        <Section title="Masterchain blocks" side={<Link to={pathOf(['blocks'])}>all</Link>}>
          {blocks.problem !== null && blocks.value === null && <ProblemNotice problem={blocks.problem} what="block" />}
          {blocks.value === null && blocks.isLoading && <Loading what="blocks" />}
          <ol class="block-list">
            {blocks.value?.blocks.map((block) => (
              <BlockRow key={block.seqno} block={block} />
            ))}
          </ol>
          {!hasIndex && head > 0 && (
            <p>
              The newest masterchain block is <McBlockLink seqno={head} />.
            </p>
          )}
        </Section>
      </div>
    </>
  );
}

function BlockRow({ block }: { readonly block: Block }) {
  return (
    <li class="block-row">
      <BlockLink block={block} short />
      {block.key_block && <span class="badge">key</span>}
      <span class="muted">
        {countText(block.tx_count)} {block.tx_count === 1 ? 'transaction' : 'transactions'}
      </span>
      <Moment at={block.gen_utime} />
    </li>
  );
}

/** The newest block, how fast blocks come, and how far the index is behind. */
function HeadFigures() {
  const { head, rate, readiness, local } = useNetwork();
  const [name, health] = Object.entries(readiness?.networks ?? {})[0] ?? [];
  const lag = health?.details?.index_lag_seconds;
  const age = health?.head_age_ms;
  return (
    <dl class="figures">
      <Figure name="Newest block">{head === 0 ? '–' : <McBlockLink seqno={head} />}</Figure>
      <Figure name="Blocks per second">
        {local?.paused === true ? 'paused' : rate === null ? '–' : rate.toFixed(rate < 10 ? 2 : 0)}
      </Figure>
      <Figure name="Age of the head">{age == null ? '–' : durationText(Math.max(0, age) / 1000)}</Figure>
      <Figure name="Index behind">{typeof lag === 'number' ? durationText(lag) : '–'}</Figure>
      <Figure name="Network">{name ?? '–'}</Figure>
    </dl>
  );
}

function Figure({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

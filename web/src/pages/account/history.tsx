import { ActionLine } from '../../actions/action-line.js';
import type { Action, ActionsAnswer, Transaction, TransactionsAnswer } from '../../api/answers.js';
import { type Answer, askV3 } from '../../api/ask.js';
import { useAccountEvents } from '../../live/account-stream.js';
import { useFacts } from '../../live/use-facts.js';
import { usePages } from '../../live/use-pages.js';
import { KnownAddresses } from '../../parts/address-facts.js';
import { MorePages } from '../../parts/more-pages.js';
import { CoverageNotice, ProblemNotice } from '../../parts/notice.js';
import { TransactionTable } from '../block.js';

const PAGE = 30;

/** What an account did, newest first. New actions appear by themselves. */
export function AccountActions({ raw }: { readonly raw: string }) {
  const [facts, addFacts] = useFacts();
  const pages = usePages<Action>(
    `actions:${raw}`,
    async (cursor, signal) => {
      const answer: Answer<ActionsAnswer> = await askV3(
        'actions',
        { account: raw, cursor, limit: PAGE, sort: 'desc' },
        signal,
      );
      addFacts(answer.value);
      return { ...answer, value: answer.value.actions };
    },
    ({ action_id }) => action_id,
    { live: true },
  );
  const isStreaming = useAccountEvents(raw, pages.refresh);
  return (
    <KnownAddresses of={facts}>
      <p class="live muted small">
        <span class={`network-dot${isStreaming ? ' live-open' : ''}`} aria-hidden="true" />{' '}
        {isStreaming ? 'live: new actions come by the stream' : 'new actions come with new blocks'}
      </p>
      <CoverageNotice coverage={pages.coverage} />
      {pages.problem !== null && <ProblemNotice problem={pages.problem} what="action" />}
      <div class="actions">
        {pages.rows.map((action) => (
          <ActionLine key={action.action_id} action={action} />
        ))}
      </div>
      {pages.rows.length === 0 && !pages.isLoading && pages.problem === null && (
        <p class="muted">Nothing has happened here yet.</p>
      )}
      <MorePages pages={pages} />
    </KnownAddresses>
  );
}

/** The transactions of an account, newest first. */
export function AccountTransactions({ raw }: { readonly raw: string }) {
  const [facts, addFacts] = useFacts();
  const pages = usePages<Transaction>(
    `transactions:${raw}`,
    async (cursor, signal) => {
      const query = { account: [raw], cursor, limit: PAGE, sort: 'desc' };
      const answer: Answer<TransactionsAnswer> = await askV3('transactions', query, signal);
      addFacts(answer.value);
      return { ...answer, value: answer.value.transactions };
    },
    ({ hash }) => hash,
    { live: true },
  );
  return (
    <KnownAddresses of={facts}>
      <CoverageNotice coverage={pages.coverage} />
      {pages.problem !== null && <ProblemNotice problem={pages.problem} what="transaction" />}
      <TransactionTable transactions={pages.rows} />
      {pages.rows.length === 0 && !pages.isLoading && pages.problem === null && <p class="muted">None yet.</p>}
      <MorePages pages={pages} />
    </KnownAddresses>
  );
}

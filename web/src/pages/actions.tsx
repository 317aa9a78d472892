import { ActionLine } from '../actions/action-line.js';
import type { Action, ActionsAnswer } from '../api/answers.js';
import { type Answer, askV3 } from '../api/ask.js';
import { useFacts } from '../live/use-facts.js';
import { usePages } from '../live/use-pages.js';
import { KnownAddresses } from '../parts/address-facts.js';
import { MorePages } from '../parts/more-pages.js';
import { CoverageNotice, ProblemNotice } from '../parts/notice.js';

const PAGE = 40;

/** The actions of the network, newest first, without those of the machinery of the masterchain. */
export function ActionsPage() {
  const [facts, addFacts] = useFacts();
  const pages = usePages<Action>(
    'all-actions',
    async (cursor, signal) => {
      const answer: Answer<ActionsAnswer> = await askV3(
        'actions',
        { cursor, limit: PAGE, sort: 'desc', exclude_system: true },
        signal,
      );
      addFacts(answer.value);
      return { ...answer, value: answer.value.actions };
    },
    ({ action_id }) => action_id,
  );
  return (
    <KnownAddresses of={facts}>
      <h1>Actions</h1>
      <CoverageNotice coverage={pages.coverage} />
      <section class="card">
        {pages.problem !== null && <ProblemNotice problem={pages.problem} what="action" />}
        <div class="actions">
          {pages.rows.map((action) => (
            <ActionLine key={action.action_id} action={action} />
          ))}
        </div>
        {pages.rows.length === 0 && !pages.isLoading && <p class="muted">Nothing has happened yet.</p>}
        <MorePages pages={pages} />
      </section>
    </KnownAddresses>
  );
}

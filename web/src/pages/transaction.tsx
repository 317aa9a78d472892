import type { TransactionsAnswer } from '../api/answers.js';
import { askV3 } from '../api/ask.js';
import { hashOf } from '../format/chain-text.js';
import { useLoad } from '../live/use-load.js';
import { AccountLink } from '../parts/address.js';
import { KnownAddresses } from '../parts/address-facts.js';
import { Loading, NotFound, Notice, ProblemNotice } from '../parts/notice.js';
import { HashText, TraceLink } from '../parts/reference.js';
import { outcomeOf } from '../trace/trace-rows.js';
import { TransactionDetails } from '../trace/transaction-details.js';

/** One transaction. @param hash as it stands in the address */
export function TransactionPage({ hash: given }: { readonly hash: string }) {
  const hash = hashOf(given);
  const { value, problem } = useLoad(
    hash === null ? null : `tx:${hash}`,
    async (signal) => {
      const { value: answer, coverage } = await askV3<TransactionsAnswer>('transactions', { hash: hash! }, signal);
      return { ...answer, coverage };
    },
    { live: (value) => value?.transactions[0] === undefined },
  );
  if (hash === null) {
    return (
      <Notice kind="error" title="This is no hash.">
        The hash of a transaction has 32 bytes: 64 hex digits, or 44 characters of base64.
      </Notice>
    );
  }
  if (value === null) {
    return problem === null ? (
      <Loading what="the transaction" />
    ) : (
      <ProblemNotice problem={problem} what="transaction" />
    );
  }
  const [transaction] = value.transactions;
  if (transaction === undefined) return <NotFound what="transaction" coverage={value.coverage} />;
  const outcome = outcomeOf(transaction);
  return (
    <KnownAddresses of={value}>
      <header class="page-head">
        <h1>
          Transaction{' '}
          <span
            class={`badge badge-${outcome.kind === 'failure' ? 'bad' : outcome.kind === 'success' ? 'good' : 'plain'}`}
          >
            {outcome.text}
          </span>
        </h1>
        <HashText hash={transaction.hash} what="transaction hash" />
      </header>
      <p class="lead">
        On <AccountLink address={transaction.account} />
        {transaction.trace_id != null && (
          <>
            {' '}
            in the trace <TraceLink id={transaction.trace_id} />
          </>
        )}
      </p>
      <section class="card">
        <TransactionDetails transaction={transaction} />
      </section>
    </KnownAddresses>
  );
}

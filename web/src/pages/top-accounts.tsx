import { useState } from 'preact/hooks';
import { type Answer, askV3 } from '../api/ask.js';
import { usePages } from '../live/use-pages.js';
import { AccountLink } from '../parts/address.js';
import { Ton } from '../parts/amount.js';
import { MorePages } from '../parts/more-pages.js';
import { CoverageNotice, ProblemNotice } from '../parts/notice.js';
import { TableFrame } from '../parts/table-frame.js';

interface AccountBalance {
  readonly account: string;
  readonly balance: string;
}

const PAGE = 50;

/** The accounts with the largest balances. */
export function TopAccountsPage() {
  const [order] = useState(() => new Map<string, number>());
  const pages = usePages<AccountBalance>(
    'top',
    async (cursor, signal) => {
      const answer: Answer<readonly AccountBalance[]> = await askV3(
        'topAccountsByBalance',
        { cursor, limit: PAGE },
        signal,
      );
      for (const { account } of answer.value) if (!order.has(account)) order.set(account, order.size + 1);
      return answer;
    },
    ({ account }) => account,
  );
  return (
    <>
      <h1>Largest balances</h1>
      <CoverageNotice coverage={pages.coverage} />
      <section class="card">
        {pages.problem !== null && <ProblemNotice problem={pages.problem} what="account" />}
        <TableFrame>
          <table class="table">
            <thead>
              <tr>
                <th scope="col">Rank</th>
                <th scope="col">Account</th>
                <th scope="col" class="number">
                  Balance
                </th>
              </tr>
            </thead>
            <tbody>
              {pages.rows.map(({ account, balance }) => (
                <tr key={account}>
                  <td>{order.get(account)}</td>
                  <td>
                    <AccountLink address={account} />
                  </td>
                  <td class="number">
                    <Ton nano={balance} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableFrame>
        <MorePages pages={pages} />
      </section>
    </>
  );
}

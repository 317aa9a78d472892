import { amountLine } from '../../../web/src/format/amount.js';
import type { CheckReport } from '../check-report.js';
import { answer, expectText } from './newcomer-checks.js';
import type { WatchedBrowser } from './watched-browser.js';

interface Traces {
  readonly traces: readonly {
    readonly trace_id: string;
    readonly transactions: Readonly<
      Record<string, { readonly lt: string; readonly in_msg?: { readonly value?: string } | null }>
    >;
  }[];
}

interface Oldest {
  readonly transactions: readonly { readonly trace_id: string }[];
}

const MOST_TRACES = 25;

const ton = (nano: string) => amountLine(BigInt(nano), 9, 'en-GB');

/** Until a search has led somewhere; beside other suites, a query may reach its time limit and be asked again. */
const MOST_SEARCH_MS = 90_000;

/** Values on pages are those of the APIs. */
export async function checkValues(browser: WatchedBrowser, url: string, report: CheckReport): Promise<void> {
  const watched = await browser.open();
  try {
    await report.check('values: the tree of each trace has every message with its value', async () => {
      // Of the basechain: the masterchain has traces without messages in each block. The oldest: the newest may be one long trace.
      const oldest = await answer<Oldest>(url, '/api/v3/transactions?workchain=0&limit=200&sort=asc');
      const ids = [...new Set(oldest.transactions.map(({ trace_id }) => trace_id))].slice(0, MOST_TRACES);
      const asked = ids.map((id) => `trace_id=${encodeURIComponent(id)}`).join('&');
      const { traces } = await answer<Traces>(url, `/api/v3/traces?limit=${MOST_TRACES}&${asked}`);
      let compared = 0;
      for (const { trace_id, transactions } of traces) {
        await watched.go(`/trace/${Buffer.from(trace_id, 'base64').toString('hex')}`);
        const all = Object.values(transactions);
        const rows = await watched.page.locator('.tree-row').count();
        if (rows !== all.length) throw new Error(`${rows} rows for ${all.length} transactions of ${trace_id}`);
        // Their content: rows out of sight are not laid out, and have no inner text.
        const shown = await watched.page.locator('.tree-amount').allTextContents();
        for (const { in_msg } of all) {
          if (in_msg?.value == null) continue;
          if (!shown.some((text) => text.startsWith(`${ton(in_msg.value!)} TON`)))
            throw new Error(
              `${ton(in_msg.value)} TON is not in the tree of ${trace_id}: ${shown.slice(0, 12).join(' | ')}`,
            );
          compared++;
        }
      }
      return `${traces.length} traces, ${compared} amounts`;
    });
    await report.check('values: balances of accounts are those of API v2', async () => {
      const top = await answer<readonly { readonly account: string }[]>(url, '/api/v3/topAccountsByBalance?limit=5');
      for (const { account } of top) {
        await watched.go(`/account/${account}`);
        const read = async () =>
          (await answer<{ readonly result: string }>(url, `/api/v2/getAddressBalance?address=${account}`)).result;
        // It may change between the two: then the page follows.
        await watched.page.waitForFunction(
          (wanted) => wanted.some((each) => document.querySelector('.account-balance')?.textContent?.startsWith(each)),
          [ton(await read())],
        );
      }
      return `${top.length} accounts`;
    });
    await report.check('values: jettons by their decimals', async () => {
      interface Wallets {
        readonly jetton_wallets: readonly {
          readonly owner: string;
          readonly balance: string;
          readonly jetton: string;
        }[];
        readonly metadata: Readonly<
          Record<string, { readonly token_info?: readonly { readonly extra?: { readonly decimals?: string } }[] }>
        >;
      }
      const { jetton_wallets, metadata } = await answer<Wallets>(
        url,
        '/api/v3/jetton/wallets?limit=5&exclude_zero_balance=true',
      );
      for (const { owner, balance, jetton } of jetton_wallets) {
        await watched.go(`/account/${owner}?show=jettons`);
        const decimals = Number(metadata[jetton]?.token_info?.[0]?.extra?.decimals ?? 9);
        const wanted = amountLine(BigInt(balance), decimals, 'en-GB');
        await watched.page.locator('.table .number', { hasText: wanted }).first().waitFor();
      }
      return `${jetton_wallets.length} wallets`;
    });
    await report.check('values: search leads to the pages of what it finds', async () => {
      const { blocks } = await answer<{
        readonly blocks: readonly { readonly root_hash: string; readonly seqno: number }[];
      }>(url, '/api/v3/blocks?limit=1&sort=asc&workchain=-1');
      const [block] = blocks;
      const [transaction] = (
        await answer<{
          readonly transactions: readonly {
            readonly hash: string;
            readonly in_msg?: { readonly hash: string } | null;
          }[];
        }>(url, '/api/v3/transactions?workchain=0&limit=1&sort=desc')
      ).transactions;
      const expected: [string, string][] = [
        [String(block!.seqno), '/block/'],
        [block!.root_hash, '/block/'],
        [transaction!.hash, '/tx/'],
        [Buffer.from(transaction!.hash, 'base64').toString('hex'), '/tx/'],
        [transaction!.in_msg!.hash, '/trace/'],
      ];
      for (const [typed, path] of expected) {
        await watched.go('/');
        await watched.page.locator('#search-large').fill(typed);
        await watched.page.keyboard.press('Enter');
        await watched.page
          .waitForURL((found) => found.pathname.startsWith(path), { timeout: MOST_SEARCH_MS })
          .catch(async (error: Error) => {
            const shown = await watched.page.locator('main').innerText();
            throw new Error(`${typed} led to ${watched.page.url()}: ${shown.slice(0, 200)}; ${error.message}`);
          });
      }
      await watched.go('/');
      await watched.page.locator('#search-large').fill('0:12');
      await watched.page.keyboard.press('Enter');
      expectText(await watched.page.getByRole('alert').innerText(), '64 hex digits');
      return `${expected.length} ways, and a refusal that says why`;
    });
  } finally {
    await watched.close();
  }
}

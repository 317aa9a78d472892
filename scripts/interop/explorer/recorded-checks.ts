import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServedTern } from '#test/support/served-tern.js';
import { vectorPath } from '#test/support/vector-files.js';
import type { CheckReport } from '../check-report.js';
import { walkChain } from './chain-values.js';
import { walkTokens } from './contract-values.js';
import { answer } from './newcomer-checks.js';
import { type Appearance, checkPages, commonPages, pagesOfContent, requirePages } from './page-checks.js';
import { checkValues } from './value-checks.js';
import { ValueWalk } from './value-walk.js';
import { WatchedBrowser } from './watched-browser.js';

/** How long the index may take. */
const PATIENCE_MS = 5 * 60_000;

/** Pages that only a local network has, or that are the same everywhere. */
const LEFT_OUT = ['local', 'message', 'status'];

/** The explorer on a real network that was recorded: what real wallets, jettons and NFTs look like, and that its values are right. */
export async function checkRecorded(
  command: string,
  appearances: readonly Appearance[],
  pictures: string | null,
  report: CheckReport,
): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'tern-recorded-'));
  let served: ServedTern | null = null;
  let browser: WatchedBrowser | null = null;
  try {
    const chain = vectorPath('collection/recorded-net/chain');
    served = await ServedTern.start(['dev', '--replay', chain, '--data', data, '--port', '0', '--profile', 'spec']);
    const head = await wholeIndex(served.url);
    await report.check('recorded: the index is whole', async () => `${head} masterchain blocks`);
    browser = await WatchedBrowser.start(command, served.url);
    const common = commonPages().filter(({ name }) => !LEFT_OUT.includes(name));
    const pages = [...common, ...requirePages(await pagesOfContent(served.url))];
    await checkPages(browser, pages, { appearances, pictures }, report);
    await checkValues(browser, served.url, report);
    const watched = await browser.open();
    try {
      const walk = new ValueWalk(watched, served.url, report);
      await walkTokens(walk);
      await walkChain(walk);
    } finally {
      await watched.close();
    }
  } finally {
    await browser?.close();
    await served?.close();
    rmSync(data, { recursive: true, force: true });
  }
}

/** Figures of the index that are 0 when nothing is left to do. */
const LEFT = ['tern_index_fill_missing_blocks', 'tern_index_actions_left', 'tern_index_contracts_queued'];

/** Waits until the index has the whole chain, and knows its contracts and actions. @returns the newest masterchain seqno */
async function wholeIndex(url: string): Promise<number> {
  interface Info {
    readonly result: { readonly last: { readonly seqno: number } };
  }
  const { last } = (await answer<Info>(url, '/api/v2/getMasterchainInfo')).result;
  for (const until = Date.now() + PATIENCE_MS; ; await new Promise((resolve) => setTimeout(resolve, 1_000))) {
    const ready = (await (await fetch(`${url}/readyz`)).json()) as {
      readonly networks: Readonly<Record<string, { readonly details?: Readonly<Record<string, unknown>> }>>;
    };
    const coverage = String(Object.values(ready.networks)[0]?.details?.index_coverage);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const left = LEFT.map((name) => Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(metrics)?.[1]));
    const isWhole = new RegExp(`history=1-${last.seqno}(?!\\d)`).test(coverage);
    if (isWhole && left.every((count) => count === 0)) return last.seqno;
    if (Date.now() > until) throw new Error(`the index has ${coverage} of ${last.seqno}; left: ${left.join(', ')}`);
  }
}

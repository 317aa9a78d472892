import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServedTern } from '#test/support/served-tern.js';
import { vectorPath } from '#test/support/vector-files.js';
import { wholeIndex } from '#test/support/whole-index.js';
import type { CheckReport } from '../check-report.js';
import { walkChain } from './chain-values.js';
import { walkTokens } from './contract-values.js';
import { type Appearance, checkPages, commonPages, pagesOfContent, requirePages } from './page-checks.js';
import { checkValues } from './value-checks.js';
import { ValueWalk } from './value-walk.js';
import { WatchedBrowser } from './watched-browser.js';

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

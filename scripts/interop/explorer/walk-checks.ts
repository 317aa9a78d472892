import type { CheckReport } from '../check-report.js';
import { walkChain } from './chain-values.js';
import type { Contents } from './contents.js';
import { walkContracts, walkTokens } from './contract-values.js';
import { ValueWalk } from './value-walk.js';
import type { WatchedBrowser } from './watched-browser.js';

/** Walks the pages of tokens, contracts, blocks and lists: their values are those of the APIs. */
export async function checkWalk(
  browser: WatchedBrowser,
  url: string,
  contents: Contents,
  report: CheckReport,
): Promise<void> {
  const watched = await browser.open();
  const walk = new ValueWalk(watched, url, report);
  try {
    await walkTokens(walk);
    await walkContracts(walk, contents);
    await walkChain(walk);
  } finally {
    await watched.close();
  }
}

import type { CheckReport } from '../check-report.js';
import type { LocalNetwork } from '../localnet/local-network.js';
import { nothing } from './newcomer-checks.js';
import type { WatchedBrowser } from './watched-browser.js';

/** What a page says when its server is away, and when the chain is another one; and that it goes on by itself. */
export async function checkOutages(browser: WatchedBrowser, network: LocalNetwork, report: CheckReport): Promise<void> {
  const watched = await browser.open();
  const { page } = watched;
  try {
    await report.check('outage: a page without a connection says so, and goes on by itself', async () => {
      await watched.go('/');
      await page.context().setOffline(true);
      await page.getByText('The connection to the server is lost').waitFor();
      await page.context().setOffline(false);
      await page.getByText('The connection to the server is lost').waitFor({ state: 'detached' });
      return 'lost, then back';
    });
    browser.noted();
    await report.check('outage: a reset of the network is said, and everything is shown anew', async () => {
      await watched.go('/blocks');
      const before = await page.locator('.table tbody tr').first().innerText();
      await network.control('reset');
      await page.getByText('The network was reset').waitFor();
      await page.locator('.table tbody tr').first().waitFor();
      const after = await page.locator('.table tbody tr').first().innerText();
      return `${before.split('\n')[0]}, then ${after.split('\n')[0]}`;
    });
    await report.check('outage: nothing that a page must not do', async () => nothing(browser.noted()));
  } finally {
    await watched.close();
  }
}

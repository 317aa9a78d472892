import type { CheckReport } from '../check-report.js';
import { nothing } from './newcomer-checks.js';
import type { WatchedBrowser } from './watched-browser.js';

/** What somebody does who has no mouse: skips the links, searches, and changes tabs; the page that opens has the focus. */
export async function checkKeyboard(browser: WatchedBrowser, account: string, report: CheckReport): Promise<void> {
  const watched = await browser.open();
  const { page } = watched;
  const focused = () => page.evaluate(() => document.activeElement?.id ?? '');
  const expectFocus = async (id: string, after: string) => {
    const found = await focused();
    if (found !== id) throw new Error(`after ${after} the focus is on "${found}", not on "${id}"`);
  };
  try {
    await report.check('keyboard: search, links and tabs', async () => {
      await watched.go('/blocks');
      await page.keyboard.press('Tab');
      const skip = page.locator(':focus', { hasText: 'Skip to the content' });
      await skip.waitFor();
      await page.keyboard.press('Enter');
      await expectFocus('main', 'skipping');
      for (const [path, field] of [
        ['/blocks', 'search'],
        ['/', 'search-large'],
      ] as const) {
        await watched.go(path);
        await page.keyboard.press('/');
        await expectFocus(field, `the key / on ${path}`);
      }
      await page.keyboard.type('1');
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.pathname === '/block/-1/8000000000000000/1');
      await expectFocus('main', 'a search');
      await watched.go(`/account/${account}`);
      await page.getByRole('tab', { name: 'History' }).focus();
      await page.keyboard.press('ArrowRight');
      await page.getByRole('tab', { name: 'Transactions', selected: true }).waitFor();
      if (!page.url().endsWith('?show=transactions')) throw new Error(`the address is ${page.url()}`);
      await page.keyboard.press('ArrowLeft');
      await page.getByRole('tab', { name: 'History', selected: true }).waitFor();
      return nothing(browser.noted());
    });
  } finally {
    await watched.close();
  }
}

import type { CheckReport } from '../check-report.js';
import type { LocalNetwork } from '../localnet/local-network.js';
import { answer, nothing } from './newcomer-checks.js';
import type { WatchedBrowser } from './watched-browser.js';

/** Comments that are made to break a page. */
const COMMENTS = [
  '<script>globalThis.broken = 1</script><img src=x onerror="globalThis.broken = 2">',
  '"><svg onload=globalThis.broken=3>',
  'javascript:globalThis.broken=4',
  `\u202e${'reversed '.repeat(20)}`,
  'x'.repeat(1_000),
  `z${'\u0301'.repeat(490)}`,
  '{{constructor.constructor("globalThis.broken=5")()}}',
  `${'\u200b'.repeat(200)}hidden`,
];

/** What others wrote runs nowhere, and stays in its box. */
export async function checkHostile(browser: WatchedBrowser, network: LocalNetwork, report: CheckReport): Promise<void> {
  const account = `0:${'5A'.repeat(32)}`;
  await report.check('hostile: comments run nowhere and stay in their boxes', async () => {
    await Promise.all(COMMENTS.map((comment) => network.control('faucet', { address: account, amount: '1', comment })));
    for (const until = Date.now() + 60_000; ; ) {
      const { actions } = await answer<{ readonly actions: readonly unknown[] }>(
        network.url,
        `/api/v3/actions?account=${account}&limit=50`,
      );
      if (actions.length >= COMMENTS.length) break;
      if (Date.now() > until) throw new Error(`${actions.length} actions of ${COMMENTS.length}`);
    }
    for (const width of [1280, 390]) {
      const watched = await browser.open({ width });
      try {
        for (const path of [`/account/${account}`, `/account/${account}?show=transactions`, '/']) {
          await watched.go(path);
          await watched.page.locator('.action, .table tbody tr, .empty').first().waitFor();
          const broken = await watched.page.evaluate(() => (globalThis as { broken?: unknown }).broken ?? null);
          if (broken !== null) throw new Error(`script number ${String(broken)} ran`);
          const wider = await watched.overflow();
          if (wider > 0) throw new Error(`${path} is ${wider} pixels wider than ${width}`);
          const outside = await watched.page.evaluate(
            () =>
              [...document.querySelectorAll('.comment')].filter((box) => {
                const card = box.closest('.card');
                return card !== null && box.getBoundingClientRect().right > card.getBoundingClientRect().right + 1;
              }).length,
          );
          if (outside > 0) throw new Error(`${outside} comments are wider than their card`);
          if (/[\u202a-\u202e\u2066-\u2069]/.test(await watched.text()))
            throw new Error('a control of direction is on the page');
        }
      } finally {
        await watched.close();
      }
    }
    return `${COMMENTS.length} comments; ${nothing(browser.noted())}`;
  });
  await report.check('hostile: addresses of pages that are nonsense', async () => {
    const watched = await browser.open();
    try {
      for (const path of [
        '/account/%3Cscript%3E',
        `/account/${'A'.repeat(3_000)}`,
        '/block/-1/zz/1',
        '/block/0/8000000000000000/-1',
        '/dns/%E2%80%AEnot.evil.ton',
        '/search?q=%3Cimg%20src%3Dx%3E',
        '/message?boc=te6ccgEBAQEAAgAAAA',
        '/tx/%00',
        '/trace/..%2f..%2fetc',
      ]) {
        await watched.go(path);
      }
    } finally {
      await watched.close();
    }
    return nothing(browser.noted());
  });
}

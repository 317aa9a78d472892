import type { CheckReport } from '../check-report.js';
import type { WatchedBrowser } from './watched-browser.js';

/** Looks at a page on which ages change. */
const AGE_LOOKS = 5;

/** The seconds of an age as it is shown. */
function secondsOf(text: string): number {
  if (text === 'now') return 0;
  const found = /^(\d+) (sec|min|hr)\.? ago$/.exec(text);
  if (found === null) throw new Error(`"${text}" is no age`);
  return Number(found[1]) * { sec: 1, min: 60, hr: 3_600 }[found[2] as 'sec' | 'min' | 'hr'];
}

/** While blocks come, the ages in a list of blocks rise from the newest one on: all are counted from the same moment. */
export async function checkAges(browser: WatchedBrowser, report: CheckReport): Promise<void> {
  const watched = await browser.open();
  try {
    await report.check('values: ages of blocks rise from the newest one on', async () => {
      for (const path of ['/', '/blocks']) {
        await watched.go(path);
        await watched.page.locator('main .moment').nth(5).waitFor();
        for (let look = 0; look < AGE_LOOKS; look++) {
          const shown = await watched.page
            .locator('main .block-row .moment, main .table .moment')
            .evaluateAll((found) => found.map((each) => (each as HTMLElement).innerText));
          const ages = shown.map(secondsOf);
          const wrong = ages.findIndex((age, index) => age < (ages[index - 1] ?? 0));
          if (wrong >= 0) throw new Error(`on ${path}: ${shown.slice(Math.max(0, wrong - 2), wrong + 2).join(', ')}`);
          await watched.page.waitForTimeout(700);
        }
      }
      return `${2 * AGE_LOOKS} looks at 2 pages while blocks came`;
    });
  } finally {
    await watched.close();
  }
}

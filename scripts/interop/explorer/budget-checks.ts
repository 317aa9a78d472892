import type { CheckReport } from '../check-report.js';
import type { WatchedBrowser } from './watched-browser.js';

const MOST_SCRIPT = 150_000;
/** A loaded machine needs a quarter of this. */
const MOST_PAINT_MS = 1_000;
const OPENINGS = 5;

/** The script that is sent, and when something is seen first: the best of several openings. */
export async function checkBudgets(browser: WatchedBrowser, report: CheckReport): Promise<void> {
  await report.check('budget: compressed script and first paint', async () => {
    const times: number[] = [];
    let bytes = 0;
    for (let opening = 0; opening < OPENINGS; opening++) {
      const watched = await browser.open();
      await watched.go('/');
      const { firstPaint, scriptBytes } = await watched.paint();
      times.push(firstPaint);
      bytes = Math.max(bytes, scriptBytes);
      await watched.close();
    }
    const best = Math.min(...times);
    if (bytes === 0 || bytes > MOST_SCRIPT) throw new Error(`${bytes} bytes of script`);
    if (best > MOST_PAINT_MS) throw new Error(`the first paint came after ${best.toFixed(0)} ms`);
    return `${(bytes / 1000).toFixed(0)} kB of script, first paint after ${best.toFixed(0)} ms (of ${times.map((each) => each.toFixed(0)).join(', ')})`;
  });
}

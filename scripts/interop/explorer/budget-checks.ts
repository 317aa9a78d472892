import type { CheckReport } from '../check-report.js';
import type { PaintTimes, WatchedBrowser } from './watched-browser.js';

const MOST_SCRIPT = 150_000;
/** A machine that does nothing else needs a quarter of this. */
const MOST_PAINT_MS = 1_000;
/** The page is opened again while a machine that is busy with something else takes longer. */
const OPENINGS = 20;

/** The script that is sent, and when something, and what the page is about, is seen first: of the best opening. */
export async function checkBudgets(browser: WatchedBrowser, report: CheckReport): Promise<void> {
  await report.check('budget: compressed script and first useful paint', async () => {
    const times: PaintTimes[] = [];
    while (times.length < OPENINGS && times.every(({ usefulPaint }) => usefulPaint > MOST_PAINT_MS)) {
      const watched = await browser.open();
      await watched.go('/');
      times.push(await watched.paint());
      await watched.close();
    }
    const bytes = Math.max(...times.map(({ scriptBytes }) => scriptBytes));
    const [first, useful] = [
      Math.min(...times.map(({ firstPaint }) => firstPaint)),
      Math.min(...times.map(({ usefulPaint }) => usefulPaint)),
    ];
    if (bytes === 0 || bytes > MOST_SCRIPT) throw new Error(`${bytes} bytes of script`);
    if (useful > MOST_PAINT_MS) throw new Error(`the first useful paint came after ${useful.toFixed(0)} ms`);
    const all = times.map(({ usefulPaint }) => usefulPaint.toFixed(0)).join(', ');
    return `${(bytes / 1000).toFixed(0)} kB of script, first paint after ${first.toFixed(0)} ms, useful after ${useful.toFixed(0)} ms (of ${all})`;
  });
}

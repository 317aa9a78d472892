import type { CheckReport } from '../check-report.js';
import { LONG_TRACE } from './contents.js';
import { nothing } from './newcomer-checks.js';
import type { WatchedBrowser } from './watched-browser.js';

/** While somebody scrolls: one frame, and 19 of 20. A loaded machine needs a half of it. */
const MOST_FRAME_MS = 500;
const MOST_USUAL_MS = 100;
/** Until the first rows are there. */
const MOST_OPENING_MS = 5_000;
const OPENINGS = 3;

interface Scrolled {
  readonly rows: number;
  /** Milliseconds between frames, in order of size. */
  readonly frames: readonly number[];
}

/** A trace of thousands of transactions opens, and scrolls to its end without a stop; the best of several openings counts. */
export async function checkLongTrace(browser: WatchedBrowser, traceId: string, report: CheckReport): Promise<void> {
  const path = `/trace/${Buffer.from(traceId, 'base64').toString('hex')}`;
  for (const [name, query, selector] of [
    ['tree', '', '.tree-row'],
    ['time line', '?view=time', '.time-line tbody tr'],
  ] as const) {
    await report.check(`long trace: the ${name} of ${LONG_TRACE} transactions scrolls`, async () => {
      const runs: { readonly opening: number; readonly scrolled: Scrolled }[] = [];
      for (let opening = 0; opening < OPENINGS; opening++) {
        const watched = await browser.open();
        try {
          const before = performance.now();
          await watched.go(`${path}${query}`);
          await watched.page.locator(selector).first().waitFor();
          const took = performance.now() - before;
          runs.push({ opening: took, scrolled: await watched.page.evaluate(scrollToEnd, selector) });
        } finally {
          await watched.close();
        }
      }
      const [least] = runs.map(({ scrolled }) => scrolled.rows).sort((a, b) => a - b);
      if (least !== LONG_TRACE) throw new Error(`${least} rows were drawn of ${LONG_TRACE}`);
      const best = (of: (run: (typeof runs)[number]) => number) => Math.min(...runs.map(of));
      const longest = best(({ scrolled }) => scrolled.frames.at(-1)!);
      const usual = best(({ scrolled }) => scrolled.frames[Math.floor(scrolled.frames.length * 0.95)]!);
      const opened = best((run) => run.opening);
      const figures = `opens in ${opened.toFixed(0)} ms, 95 % of frames within ${usual.toFixed(0)} ms, the longest ${longest.toFixed(0)} ms`;
      if (longest > MOST_FRAME_MS || usual > MOST_USUAL_MS || opened > MOST_OPENING_MS) throw new Error(figures);
      return `${figures}; ${nothing(browser.noted())}`;
    });
  }
}

/** Scrolls by half a window in each frame. Runs in the page. */
async function scrollToEnd(selector: string): Promise<Scrolled> {
  const frames: number[] = [];
  let last = performance.now();
  // At the end for some frames: no further rows come.
  for (let atEnd = 0; atEnd < 10; ) {
    scrollBy(0, innerHeight / 2);
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    frames.push(now - last);
    last = now;
    atEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 2 ? atEnd + 1 : 0;
  }
  return { rows: document.querySelectorAll(selector).length, frames: frames.sort((a, b) => a - b) };
}

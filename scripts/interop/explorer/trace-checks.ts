import type { CheckReport } from '../check-report.js';
import { LONG_TRACE } from './contents.js';
import { nothing } from './newcomer-checks.js';
import type { WatchedBrowser } from './watched-browser.js';

/** While somebody scrolls: one frame, and 19 of 20. A quiet machine needs a sixth of it; without slices it takes seconds each. */
const MOST_FRAME_MS = 1_500;
const MOST_USUAL_MS = 400;
/** Until the first rows are there. */
const MOST_OPENING_MS = 8_000;
const OPENINGS = 3;
/** A quiet machine needs a few seconds. */
const MOST_SCROLLING_MS = 60_000;
/** A browser that draws nothing (it may believe that nobody looks) is not waited for. */
const MOST_FRAME_WAIT_MS = 1_000;

interface Scrolled {
  readonly rows: number;
  /** Whether the end was reached in time. */
  readonly atEnd: boolean;
  /** Milliseconds between frames, in order of size. */
  readonly frames: readonly number[];
}

/**
 * A trace of thousands of transactions opens, and scrolls to its end; where all is checked, without a stop: beside other suites the
 * processor is theirs as well. A machine that was busy has further tries.
 */
export async function checkLongTrace(
  browser: WatchedBrowser,
  traceId: string,
  isAll: boolean,
  report: CheckReport,
): Promise<void> {
  const path = `/trace/${Buffer.from(traceId, 'base64').toString('hex')}`;
  const views = [
    ['tree', '', '.tree-row'],
    ['time line', '?view=time', '.time-line tbody tr'],
  ] as const;
  for (const [name, query, selector] of isAll ? views : views.slice(0, 1)) {
    await report.check(`long trace: the ${name} of ${LONG_TRACE} transactions scrolls`, async () => {
      let figures = '';
      for (let opening = 0; opening < OPENINGS; opening++) {
        const watched = await browser.open();
        try {
          const before = performance.now();
          await watched.go(`${path}${query}`);
          await watched.page.locator(selector).first().waitFor();
          const opened = performance.now() - before;
          const { rows, atEnd, frames } = await watched.page.evaluate(scrollToEnd, {
            ...{ selector, mostMs: MOST_SCROLLING_MS, mostFrameMs: MOST_FRAME_WAIT_MS },
          });
          if (!atEnd) {
            figures = `after ${MOST_SCROLLING_MS / 1000} s and ${frames.length} frames ${rows} rows were drawn`;
            continue;
          }
          if (rows !== LONG_TRACE) throw new Error(`${rows} rows were drawn of ${LONG_TRACE}`);
          const [longest, usual] = [frames.at(-1)!, frames[Math.floor(frames.length * 0.95)]!];
          figures = `opens in ${opened.toFixed(0)} ms, 95 % of ${frames.length} frames within ${usual.toFixed(0)} ms, the longest ${longest.toFixed(0)} ms`;
          const isSmooth = longest <= MOST_FRAME_MS && usual <= MOST_USUAL_MS && opened <= MOST_OPENING_MS;
          if (isSmooth || !isAll) {
            return `${figures}; ${nothing(browser.noted())}`;
          }
        } finally {
          await watched.close();
        }
      }
      throw new Error(figures);
    });
  }
}

interface Scrolling {
  readonly selector: string;
  readonly mostMs: number;
  readonly mostFrameMs: number;
}

/** Scrolls by a window in each frame. Runs in the page. */
async function scrollToEnd({ selector, mostMs, mostFrameMs }: Scrolling): Promise<Scrolled> {
  const frames: number[] = [];
  const began = performance.now();
  let last = began;
  // At the end for some frames, and nothing says that further rows come.
  let atEnd = 0;
  while (atEnd < 10 && last - began < mostMs) {
    scrollBy(0, innerHeight);
    await new Promise((resolve) => {
      requestAnimationFrame(resolve);
      setTimeout(resolve, mostFrameMs);
    });
    const now = performance.now();
    frames.push(now - last);
    last = now;
    const isLow = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
    atEnd = isLow && document.querySelector('main .more') === null ? atEnd + 1 : 0;
  }
  const rows = document.querySelectorAll(selector).length;
  return { rows, atEnd: atEnd >= 10, frames: frames.sort((a, b) => a - b) };
}

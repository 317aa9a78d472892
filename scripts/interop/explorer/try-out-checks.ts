import type { CheckReport } from '../check-report.js';
import { nothing } from './newcomer-checks.js';
import type { WatchedBrowser } from './watched-browser.js';

/** Methods that are executed by clicking; the request that the page would send is made for all. */
const CLICKED: Readonly<Record<string, readonly string[]>> = {
  v2: ['getAddressInformation', 'lookupBlock', 'getConfigParam'],
  v3: ['traces', 'transactionsByMessage'],
};

/** Methods that may have nothing to answer, with the status that says so. */
const EMPTY: Readonly<Record<string, number>> = { pendingTransactions: 404 };

/** "Try it out" of each GET method of the API reference, as it is prefilled on a local network with some activity, has an answer. */
export async function checkTryOut(browser: WatchedBrowser, report: CheckReport): Promise<void> {
  for (const [api, clicked] of Object.entries(CLICKED)) {
    await report.check(`API reference ${api}: each GET method, as it is prefilled`, async () => {
      const watched = await browser.open();
      const { page } = watched;
      try {
        await page.goto(`${browser.url}/api/${api}`);
        await page.locator('.opblock-get').first().waitFor();
        const answers = await page.evaluate(askPrefilled);
        const wrong = answers.filter(({ name, status }) => status !== 200 && status !== EMPTY[name]);
        if (wrong.length > 0) throw new Error(wrong.map(({ url, status }) => `${url}: ${status}`).join(', '));
        for (const name of clicked) {
          const block = page.locator(`.opblock-get:has([data-path="/api/${api}/${name}"])`);
          await block.locator('.opblock-summary-control').click();
          await block.locator('.execute').click();
          await block.locator('.live-responses-table .response-col_status', { hasText: '200' }).first().waitFor();
          await block.locator('.opblock-summary-control').click();
        }
        nothing(browser.noted());
        return `${answers.length} methods, of which ${clicked.length} by clicking`;
      } finally {
        await watched.close();
      }
    });
  }
}

interface PrefilledAnswer {
  readonly name: string;
  readonly url: string;
  /** 0: a parameter that is required is empty. */
  readonly status: number;
}

interface ShownParameter {
  readonly name: string;
  readonly required?: boolean;
  readonly example?: unknown;
}

/** Runs in the page: asks what "Execute" would, with the document that the page shows. */
async function askPrefilled(): Promise<PrefilledAnswer[]> {
  const { ui } = window as unknown as { ui: { specSelectors: { specJson(): { toJS(): Record<string, unknown> } } } };
  const { paths } = ui.specSelectors.specJson().toJS() as {
    paths: Record<string, { parameters?: ShownParameter[]; get?: { parameters?: ShownParameter[] } }>;
  };
  const answers: PrefilledAnswer[] = [];
  for (const [path, { get, parameters: shared = [] }] of Object.entries(paths)) {
    if (get === undefined) continue;
    const query = new URLSearchParams();
    let isComplete = true;
    for (const { name, required, example } of [...shared, ...(get.parameters ?? [])]) {
      if (example !== undefined) for (const each of [example].flat()) query.append(name, String(each));
      else if (required === true) isComplete = false;
    }
    const url = `${path}?${query}`;
    const status = isComplete ? (await fetch(url)).status : 0;
    answers.push({ name: path.replace(/^.*\/v\d\//, ''), url, status });
  }
  return answers;
}

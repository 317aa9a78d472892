import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** The width of a desk and of a phone. */
export const WIDTHS = [1280, 390] as const;

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** No window, and no request that no page asked for. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

interface ShownFact {
  readonly text: string;
  readonly links: readonly string[];
}

/** Measured by the browser itself, in milliseconds from the navigation on. */
export interface PaintTimes {
  readonly firstPaint: number;
  /** When the page showed what it is about and waited for nothing. */
  readonly usefulPaint: number;
  readonly scriptBytes: number;
}

/** A Chromium in which everything that a page must not do is noted: errors, requests to other hosts, breaches of the policy. */
export class WatchedBrowser {
  readonly #browser: Browser;
  readonly #url: string;
  readonly #noted: string[] = [];

  private constructor(browser: Browser, url: string) {
    this.#browser = browser;
    this.#url = url;
  }

  /** @param url the only server that pages may talk to */
  static async start(command: string, url: string): Promise<WatchedBrowser> {
    return new WatchedBrowser(await launchBrowser(command), url);
  }

  async open({
    width = WIDTHS[0],
    theme = 'light',
  }: {
    readonly width?: number;
    readonly theme?: 'light' | 'dark';
  } = {}): Promise<WatchedPage> {
    const context = await this.#browser.newContext({
      viewport: { width, height: width > 600 ? 860 : 844 },
      colorScheme: theme,
      locale: 'en-GB',
    });
    const page = await context.newPage();
    page.on('pageerror', (error) => this.#note(page, `exception: ${error.message}`));
    page.on('console', (message) => {
      // A status above 399 is printed as an error; pages ask for what may not be there.
      const isStatus = /^Failed to load resource: the server responded with a status of (404|422|503|504)/.test(
        message.text(),
      );
      const isLost =
        /net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE|SOCKET_NOT_CONNECTED|INCOMPLETE_CHUNKED_ENCODING)/.test(
          message.text(),
        );
      if (message.type() === 'error' && !isStatus && !isLost) this.#note(page, `console: ${message.text()}`);
    });
    page.on('request', (request) => {
      const asked = request.url();
      if (!asked.startsWith(`${this.#url}/`) && !asked.startsWith('data:')) this.#note(page, `request to ${asked}`);
    });
    await context.addInitScript(() => {
      addEventListener('securitypolicyviolation', (event) => {
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
      });
      const observer = new MutationObserver(() => {
        const main = document.querySelector('main');
        if (main === null || main.textContent === '' || main.querySelector('.loading') !== null) return;
        observer.disconnect();
        // The frame after the one that draws it.
        requestAnimationFrame(() => requestAnimationFrame(() => performance.mark('useful')));
      });
      observer.observe(document, { childList: true, subtree: true });
    });
    return new WatchedPage(page, context, this.#url);
  }

  /** The server that pages may talk to, without a slash at the end. */
  get url(): string {
    return this.#url;
  }

  /** What was noted since the last call. */
  noted(): readonly string[] {
    return this.#noted.splice(0);
  }

  #note(page: Page, what: string): void {
    this.#noted.push(`${new URL(page.url()).pathname}: ${what}`.slice(0, 400));
  }

  close(): Promise<void> {
    return this.#browser.close();
  }
}

/** Starts a Chromium without a window. */
export function launchBrowser(command: string): Promise<Browser> {
  return chromium.launch({ executablePath: programOf(command), args: [...FLAGS] });
}

/** The file of a command: Playwright does not look for it. */
function programOf(command: string): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, command)).find((file) => existsSync(file)) ?? command;
}

/** How long a page may take to show what it is asked for: machines differ. */
const PAGE_DEADLINE_MS = 60_000;

export class WatchedPage {
  readonly page: Page;
  readonly #context: BrowserContext;
  readonly #url: string;

  constructor(page: Page, context: BrowserContext, url: string) {
    this.page = page;
    this.#context = context;
    this.#url = url;
    page.setDefaultTimeout(PAGE_DEADLINE_MS);
  }

  /** Opens a path, and resolves when the page shows something and waits for nothing. */
  async go(path: string): Promise<void> {
    await this.page.goto(`${this.#url}${path}`, { waitUntil: 'load' });
    await this.settled();
  }

  /** Resolves when nothing is being loaded. */
  async settled(): Promise<void> {
    await this.page.waitForFunction(() => {
      const main = document.querySelector('main');
      return main !== null && main.textContent !== '' && main.querySelector('.loading') === null;
    });
  }

  text(): Promise<string> {
    return this.page.locator('main').innerText();
  }

  /** Names and values of the lists of facts: of each value its text, and the titles of its links, which hold whole addresses. */
  async facts(): Promise<ReadonlyMap<string, ShownFact>> {
    const rows = await this.page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('main .fact')].map((row) => {
        const value = row.querySelector('dd')!;
        const links = [...value.querySelectorAll('a')].map((link) => link.title);
        return [row.querySelector('dt')!.innerText, { text: value.innerText.trim(), links }] as const;
      }),
    );
    return new Map(rows);
  }

  /** The texts of the cells of a table, row by row. */
  rows(table = '.table'): Promise<readonly (readonly string[])[]> {
    return this.page.evaluate(
      (selector) =>
        [...document.querySelectorAll(`main ${selector} tbody tr`)].map((row) =>
          [...row.querySelectorAll('td')].map((cell) => cell.innerText.trim()),
        ),
      table,
    );
  }

  /** The titles of the links that a selector finds. */
  links(selector: string): Promise<readonly string[]> {
    return this.page
      .locator(`main ${selector}`)
      .evaluateAll((links) => links.map((link) => (link as HTMLElement).title));
  }

  /** What others wrote, or drew, that reaches out of the box around it. */
  escaped(): Promise<readonly string[]> {
    return this.page.evaluate(() => {
      const boxes = '.nft, .card, .token-head, .account-head, .notice, .page-head, .address, h1, li, td, main';
      return [
        ...document.querySelectorAll<HTMLElement>('main .untrusted, main .untrusted-block, main .picture, .comment'),
      ]
        .filter((found) => {
          const inside = found.getBoundingClientRect();
          const box = found.parentElement?.closest(boxes)?.getBoundingClientRect();
          return box !== undefined && (inside.right > box.right + 1 || inside.left < box.left - 1);
        })
        .map((found) => `${found.className}: ${found.innerText.slice(0, 40)}`);
    });
  }

  /** What axe-core finds that is serious or critical. */
  async axe(): Promise<readonly string[]> {
    await this.page.evaluate(AXE);
    const result = (await this.page.evaluate(
      // biome-ignore lint/suspicious/noExplicitAny: axe is not typed in the page
      () => (globalThis as any).axe.run(document, { resultTypes: ['violations'] }),
    )) as AxeResult;
    return result.violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(
        ({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)} ${nodes[0]?.failureSummary?.slice(0, 200) ?? ''}`,
      );
  }

  /** How much wider the page is than the window, in pixels. */
  overflow(): Promise<number> {
    return this.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  }

  /** The height of the whole page, in pixels. */
  height(): Promise<number> {
    return this.page.evaluate(() => document.documentElement.scrollHeight);
  }

  /** The innermost elements that make the page wider than the window. */
  widest(): Promise<string> {
    return this.page.evaluate(() => {
      const most = document.documentElement.clientWidth + 1;
      const wide = [...document.querySelectorAll('body *')].filter((each) => each.getBoundingClientRect().right > most);
      return (
        wide
          .filter((found) => !wide.some((other) => other.parentElement === found))
          // What scrolls by itself does not make the page wider, unless it is positioned outside of it.
          .filter((found) => found.closest('.top-links, .tabs, .json, .table-frame') === null)
          .map((found) => found.outerHTML.slice(0, 120))
          .slice(0, 3)
          .join(' ')
      );
    });
  }

  async paint(): Promise<PaintTimes> {
    await this.page.waitForFunction(() => performance.getEntriesByName('useful').length > 0);
    return this.page.evaluate(() => {
      const scripts = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      return {
        firstPaint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.POSITIVE_INFINITY,
        usefulPaint: performance.getEntriesByName('useful')[0]?.startTime ?? Number.POSITIVE_INFINITY,
        scriptBytes: scripts
          .filter(({ initiatorType, name }) => initiatorType === 'script' || name.endsWith('.js'))
          .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
      };
    });
  }

  async close(): Promise<void> {
    // Answers that are being replaced are of no use to a page that is gone.
    await this.page.unrouteAll({ behavior: 'ignoreErrors' });
    await this.#context.close();
  }
}

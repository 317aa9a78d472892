import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import type { CheckReport } from '../check-report.js';
import { launchBrowser } from '../explorer/watched-browser.js';
import { CuttingProxy } from './cutting-proxy.js';

const TRANSFERS = 6;
const LIMIT_MS = 60_000;

/** What scripts of the page keep. */
interface StreamWindow {
  /** Texts of events, in the order of arrival. */
  readonly streamed: string[];
  opened: number;
  connect: () => void;
}

/** The clients that browsers have: `EventSource`, which resumes by itself, and `WebSocket`. */
export async function checkBrowserStreams(command: string, url: string, report: CheckReport): Promise<void> {
  const browser = await launchBrowser(command);
  const proxy = await CuttingProxy.start(url);
  try {
    await report.check('chromium: EventSource, cut off twice', async () => {
      const account = `0:${'5105'.padStart(64, '0')}`;
      const page = await pageOf(browser, url);
      const source = `${proxy.url}/api/streaming/v2/sse?types=transactions&addresses=${account}`;
      await page.evaluate((address) => {
        const kept = Object.assign(globalThis as never as StreamWindow, { streamed: [], opened: 0 });
        const events = new EventSource(address);
        events.addEventListener('connected', () => kept.opened++);
        events.addEventListener('event', ({ data }) => kept.streamed.push(data));
      }, source);
      await openedTimes(page, 1);
      for (let i = 0; i < TRANSFERS; i++) {
        // It asks again some seconds after it was cut off: what comes meanwhile is replayed.
        if (i % 3 === 1) proxy.cut();
        await transfer(url, account);
      }
      return sameAsIndexed(page, url, account);
    });
    await report.check('chromium: WebSocket, resumed after a cut', async () => {
      const account = `0:${'5106'.padStart(64, '0')}`;
      const page = await pageOf(browser, url);
      await page.evaluate(
        ([address, raw]) => {
          const kept = Object.assign(globalThis as never as StreamWindow, {
            streamed: [],
            opened: 0,
            connect: () => {},
          });
          let cursor = 'now';
          kept.connect = () => {
            const socket = new WebSocket(address);
            const wanted = { types: ['transactions'], addresses: [raw], resume_from: cursor };
            socket.onopen = () => socket.send(JSON.stringify({ operation: 'subscribe', ...wanted }));
            socket.onmessage = ({ data }) => {
              const message = JSON.parse(data);
              cursor = message.cursor ?? cursor;
              if (message.status === 'subscribed') kept.opened++;
              if (message.type !== undefined) kept.streamed.push(data);
            };
            socket.onclose = () => setTimeout(kept.connect, 1_000);
          };
          kept.connect();
        },
        [`${proxy.url.replace('http', 'ws')}/api/streaming/v2/ws`, account] as const,
      );
      await openedTimes(page, 1);
      for (let i = 0; i < TRANSFERS; i++) {
        if (i % 3 === 1) proxy.cut();
        await transfer(url, account);
      }
      return sameAsIndexed(page, url, account);
    });
  } finally {
    await browser.close();
    proxy.close();
  }
}

/** A page of the server that needs no script of its own. */
async function pageOf(browser: Browser, url: string): Promise<Page> {
  const page = await browser.newPage();
  // Functions of the scripts below are compiled with it.
  await page.addInitScript({ content: 'globalThis.__name = (made) => made' });
  await page.goto(`${url}/healthz`);
  return page;
}

async function openedTimes(page: Page, times: number): Promise<void> {
  await page.waitForFunction((most) => (globalThis as never as StreamWindow).opened >= most, times, {
    timeout: LIMIT_MS,
  });
}

async function transfer(url: string, address: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ address, amount: '1000000' });
  const answer = await fetch(`${url}/localnet/faucet`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`the faucet answered ${answer.status}: ${await answer.text()}`);
}

/** Compares what the page got with the index. */
async function sameAsIndexed(page: Page, url: string, account: string): Promise<string> {
  const until = Date.now() + LIMIT_MS;
  for (;;) {
    const answer = await fetch(`${url}/api/v3/transactions?account=${account}&sort=asc`);
    const { transactions } = (await answer.json()) as { readonly transactions: readonly { readonly hash: string }[] };
    const [texts, opened] = await page.evaluate(() => {
      const kept = globalThis as never as StreamWindow;
      return [kept.streamed, kept.opened] as const;
    });
    const got = texts.flatMap((text) =>
      (JSON.parse(text).transactions as readonly { readonly hash: string }[]).map(({ hash }) => hash),
    );
    const wanted = transactions.map(({ hash }) => hash);
    const isWhole = wanted.length === TRANSFERS && opened > 1 && got.length >= wanted.length;
    if (isWhole && got.join() !== wanted.join()) throw new Error(`got ${got.join()} instead of ${wanted.join()}`);
    if (isWhole) return `${got.length} transactions in order, connected ${opened} times`;
    if (Date.now() > until)
      throw new Error(`${got.length} of ${wanted.length} transactions came, connected ${opened} times`);
    await delay(200);
  }
}

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { ServedTern } from '#test/support/served-tern.js';
import type { CheckReport } from '../check-report.js';
import type { LocalNetwork } from '../localnet/local-network.js';
import { answer, expectText, nothing } from './newcomer-checks.js';
import { WatchedBrowser } from './watched-browser.js';

const tern = fileURLToPath(new URL('../../../bin/tern.js', import.meta.url));

/** Blocks of the chain that the index leaves out, and blocks that it has to have before pages are opened. */
const LEFT_OUT = 20;
const INDEXED = 3;

/**
 * `tern serve` on the liteserver of the local network, with keys, the explorer at `/explorer` and an index that begins late: pages
 * of what is not indexed say from where on the index is, and a page that is refused for want of a key takes one.
 */
export async function checkServed(command: string, network: LocalNetwork, report: CheckReport): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'tern-explorer-'));
  let served: ServedTern | null = null;
  let browser: WatchedBrowser | null = null;
  try {
    const { head } = (await network.status()) as { readonly head: { readonly seqno: number } };
    const from = Math.max(head.seqno - INDEXED, LEFT_OUT);
    const old = await transactionBefore(network.url, from);
    const key = await createKey(data);
    const start = (port: string) => {
      const place = ['--listen', `127.0.0.1:${port}`, '--data', data, '--database', 'embedded', '--from', `${from}`];
      return ServedTern.start(['serve', '--network', `late=${network.configFile}`, ...place, '--access', 'keys']);
    };
    served = await start('0');
    await checkTop(served.url, report);
    browser = await WatchedBrowser.start(command, served.url);
    await checkKeys(browser, key, report);
    await checkMissing(browser, key, from, old, report);
    served = await checkKilled(browser, served, () => start(new URL(browser!.url).port), { network, key }, report);
  } catch (error) {
    await report.check('served: the server', () => Promise.reject(error));
  } finally {
    await browser?.close();
    await served?.close();
    rmSync(data, { recursive: true, force: true });
  }
}

/** `tern top` has the head of the server. */
async function checkTop(url: string, report: CheckReport): Promise<void> {
  await report.check('served: tern top has the figures of the server', async () => {
    const top = async (...flags: readonly string[]) =>
      (await promisify(execFile)(process.execPath, [tern, 'top', '--once', '--interval', '1', '--url', url, ...flags]))
        .stdout;
    interface Figures {
      readonly networks: readonly { readonly name: string; readonly head_seqno: number }[];
    }
    const { networks } = JSON.parse(await top('--json')) as Figures;
    const [network] = networks;
    if (network === undefined || network.name !== 'late' || !(network.head_seqno > 0)) {
      throw new Error(`the networks are ${JSON.stringify(networks)}`);
    }
    const screen = await top();
    expectText(screen, 'network late: ready', 'liteservers');
    if (/undefined|NaN/.test(screen)) throw new Error(screen);
    return `block ${network.head_seqno}`;
  });
}

/** An account of which nothing is known until the server was started again. */
const OUTLIVING = `0:${'6B'.repeat(32)}`;

/** Each page of the tab has the key. */
function withKey(page: Page, key: string): Promise<unknown> {
  return page.addInitScript((value) => sessionStorage.setItem('tern-api-key', value), key);
}

/** The server is killed while a page of an account is open, and started again: the page says so, goes on, and has the stream again. */
async function checkKilled(
  browser: WatchedBrowser,
  served: ServedTern,
  startAgain: () => Promise<ServedTern>,
  { network, key }: { readonly network: LocalNetwork; readonly key: string },
  report: CheckReport,
): Promise<ServedTern> {
  const watched = await browser.open();
  let current = served;
  await report.check('served: a page outlives the server that is killed, and its stream goes on', async () => {
    await withKey(watched.page, key);
    await watched.go(`/explorer/account/${OUTLIVING}`);
    const lost = watched.page.getByText('The connection to the server is lost');
    served.send('SIGKILL');
    await served.ended;
    await lost.waitFor();
    current = await startAgain();
    await lost.waitFor({ state: 'detached' });
    await network.control('faucet', { address: OUTLIVING, amount: '7000000001' });
    await watched.page.locator('.action', { hasText: '7.000000001' }).waitFor();
    return nothing(browser.noted());
  });
  await watched.close();
  return current;
}

async function createKey(data: string): Promise<string> {
  const args = [
    tern,
    'keys',
    'create',
    '--plan',
    'unlimited',
    '--admin',
    '--label',
    'the reader',
    '--data',
    data,
    '--json',
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { key } = JSON.parse(stdout) as { readonly key?: string };
  if (key === undefined) throw new Error(`tern keys create printed ${stdout}`);
  return key;
}

interface OldTransaction {
  readonly hash: string;
  readonly seqno: number;
}

/** A transaction that lies before a masterchain block. */
async function transactionBefore(url: string, seqno: number): Promise<OldTransaction> {
  interface Answer {
    readonly transactions: readonly { readonly hash: string; readonly mc_block_seqno: number }[];
  }
  const { transactions } = await answer<Answer>(url, '/api/v3/transactions?workchain=0&limit=1&sort=asc');
  const [first] = transactions;
  if (first === undefined || first.mc_block_seqno >= seqno) throw new Error(`no transaction is before block ${seqno}`);
  return { hash: Buffer.from(first.hash, 'base64').toString('hex'), seqno: first.mc_block_seqno };
}

async function checkKeys(browser: WatchedBrowser, key: string, report: CheckReport): Promise<void> {
  await report.check(
    'served: a page that needs an API key asks for one, keeps it in the tab and sends it',
    async () => {
      const watched = await browser.open();
      const { page } = watched;
      const sent = new Set<string | null>();
      try {
        page.on('request', (request) => {
          if (new URL(request.url()).pathname.startsWith('/api/')) sent.add(request.headers()['x-api-key'] ?? null);
        });
        await watched.page.goto(`${browser.url}/explorer/status`);
        const notice = page.locator('.notice', { hasText: 'with an API key it may allow more' });
        await notice.waitFor();
        const form = notice.locator('form');
        await form.getByLabel('API key').fill('kéy with blanks');
        await form.getByText('visible ASCII').waitFor();
        await form.getByLabel('API key').fill('tern_of-nobody');
        sent.clear();
        await form.getByRole('button', { name: 'Use this key' }).click();
        const unknown = page.locator('.notice', { hasText: 'does not know the API key' });
        await unknown.waitFor();
        if (!sent.has('tern_of-nobody')) throw new Error('the key was not sent');
        await unknown.getByLabel('API key').fill(key);
        await Promise.all([page.waitForEvent('load'), unknown.getByRole('button', { name: 'Use this key' }).click()]);
        sent.clear();
        await watched.settled();
        await page.waitForResponse((response) => response.url().includes('/api/') && response.ok());
        if ([...sent].some((each) => each !== key)) throw new Error(`sent were ${sent.size} keys`);
        if ((await page.locator('.connection .notice').count()) > 0) throw new Error('a key is still asked for');
        expectText(await watched.text(), `a key that ends with ${key.slice(-4)}`);
        const row = page.locator('.table tr', { hasText: 'the reader' });
        await row.waitFor();
        expectText(await row.innerText(), 'unlimited');
        const stored = await page.evaluate(() => [Object.values(sessionStorage), Object.values(localStorage)]);
        if (!stored[0]!.includes(key) || stored[1]!.includes(key))
          throw new Error('the key is not kept in the tab alone');
        const other = await browser.open();
        try {
          await other.page.goto(`${browser.url}/explorer/`);
          if (await other.page.evaluate(() => sessionStorage.length > 0)) throw new Error('another tab has the key');
        } finally {
          await other.close();
        }
      } finally {
        await watched.close();
      }
      // The status 429 and 401 are printed by the browser, which is what was asked for.
      browser.noted();
      return 'refused, refused with a wrong key, served with the right one';
    },
  );
}

async function checkMissing(
  browser: WatchedBrowser,
  key: string,
  from: number,
  old: OldTransaction,
  report: CheckReport,
): Promise<void> {
  const watched = await browser.open();
  const { page } = watched;
  try {
    await withKey(page, key);
    const begins = `begins with masterchain block ${from.toLocaleString('en-GB')}`;
    await report.check('served: what is older than the index is not said to be nowhere', async () => {
      for (const [path, title] of [
        [`/tx/${old.hash}`, 'There is no such transaction.'],
        [`/trace/${old.hash}`, 'There is no such trace.'],
        [`/block/-1/8000000000000000/${old.seqno}`, 'There is no such block.'],
        [`/search?q=${old.hash}`, 'There is no such transaction, message or block.'],
        [`/jetton/0:${'11'.repeat(32)}`, 'There is no such jetton.'],
      ] as const) {
        await watched.go(`/explorer${path}`);
        await page.locator('main .notice b', { hasText: 'late' }).waitFor();
        expectText(await watched.text(), title, begins, 'this one is late');
      }
      return `5 pages name block ${from}; ${nothing(browser.noted())}`;
    });
    await report.check('served: lists say from where on they are', async () => {
      await watched.go('/explorer/actions');
      await page.locator('.notice', { hasText: 'does not have the whole chain' }).waitFor();
      expectText(await watched.text(), begins.replace('begins', 'history begins'));
      return nothing(browser.noted());
    });
    await report.check('served: a link of another network says so', async () => {
      const address = '0QAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACkT';
      await watched.go('/explorer/');
      await page.locator('#search-large').fill(`https://testnet.tonviewer.com/${address}`);
      await page.keyboard.press('Enter');
      await page.getByText('This link is about the testnet; this server shows the network late.').waitFor();
      await watched.go(`/explorer/tx/${old.hash}?network=mainnet`);
      await page.getByText('This link is about mainnet; this server shows the network late.').waitFor();
      return nothing(browser.noted());
    });
    await report.check('served: an address of a test network is marked on mainnet', async () => {
      await page.route('**/api/v2/getMasterchainInfo', async (route) => {
        const response = await route.fetch();
        const json = await response.json();
        json.result.init.root_hash = 'F6OpKZKqvqeFp6CQmFomXNMfMj2EnaUSOXN+Mh+wVWk=';
        await route.fulfill({ response, json });
      });
      await watched.go('/explorer/account/kQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAHTW');
      await page.getByText('marked as one of a test network; this server shows mainnet.').waitFor();
      await watched.go('/explorer/account/EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9c');
      if ((await page.locator('.notice-warning', { hasText: 'test network' }).count()) > 0)
        throw new Error('an address without the mark has the notice');
      return nothing(browser.noted());
    });
  } finally {
    await watched.close();
  }
}

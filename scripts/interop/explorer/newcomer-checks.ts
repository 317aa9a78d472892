import type { CheckReport } from '../check-report.js';
import type { LocalNetwork } from '../localnet/local-network.js';
import type { WatchedBrowser, WatchedPage } from './watched-browser.js';

interface Row {
  readonly [name: string]: unknown;
}

/** A machine that is busy with something else may answer late: statuses after which an API is asked again, and how often. */
const BUSY = [503, 504];
const ASKINGS = 6;

/** Answers of the API, to compare with what pages show. */
export async function answer<Value = Row>(url: string, path: string): Promise<Value> {
  const ask = () => fetch(`${url}${path}`, { headers: { 'X-Tern-Profile': 'spec' } });
  let response = await ask();
  for (let asked = 1; BUSY.includes(response.status) && asked < ASKINGS; asked++) response = await ask();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Value;
}

export interface StackEntry {
  readonly type: string;
  readonly value: unknown;
}

/** The stack that a get-method gives. @throws when it fails */
export async function runGetMethod(url: string, address: string, method: string): Promise<readonly StackEntry[]> {
  const response = await fetch(`${url}/api/v3/runGetMethod`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Tern-Profile': 'spec' },
    body: JSON.stringify({ address, method, stack: [] }),
  });
  const { stack, exit_code } = (await response.json()) as { stack: readonly StackEntry[]; exit_code: number };
  if (exit_code !== 0) throw new Error(`${method} of ${address}: exit code ${exit_code}`);
  return stack;
}

/** Throws unless a text contains all parts. */
export function expectText(text: string, ...parts: readonly string[]): void {
  const missing = parts.filter((part) => !text.includes(part));
  if (missing.length > 0) throw new Error(`not on the page: ${missing.join(' | ')}; it says: ${text.slice(0, 600)}`);
}

/** What somebody does who has never seen Tern: coins from the faucet, a transfer, its trace. Without a terminal. */
export async function checkNewcomer(
  browser: WatchedBrowser,
  network: LocalNetwork,
  report: CheckReport,
): Promise<void> {
  const watched = await browser.open();
  const { page } = watched;
  const wallets = await network.wallets();
  const [receiver, sender] = ['v4r2', 'v3r2'].map((version) => wallets.find((each) => each.version === version)!);
  try {
    await report.check('newcomer: an empty chain leads to the faucet', async () => {
      await watched.go('/');
      await page.getByRole('link', { name: 'Local network' }).first().click();
      await page.getByRole('heading', { name: 'Faucet' }).waitFor();
      return 'first page, link, faucet';
    });
    await report.check('newcomer: takes coins from the faucet', async () => {
      const form = page.locator('section', { has: page.getByRole('heading', { name: 'Faucet' }) });
      await form.getByLabel('Address').fill(receiver!.address);
      await form.getByLabel('Amount in TON').fill('12.345678901');
      await form.getByLabel('Comment').fill('for the first steps');
      await form.getByRole('button', { name: 'Take coins' }).click();
      await form.getByRole('link', { name: 'follow it' }).click();
      await page.getByRole('heading', { name: 'Trace' }).waitFor();
      await page.getByText('12.345678901').first().waitFor();
      await page.getByText('for the first steps').first().waitFor();
      return 'the trace shows 12.345678901 TON and the comment';
    });
    await report.check('newcomer: sends coins from a wallet, signed in the browser', async () => {
      await page.getByRole('link', { name: 'Local network' }).first().click();
      const form = page.locator('section', { has: page.getByRole('heading', { name: 'Send from a wallet' }) });
      await form.getByLabel('From').selectOption(sender!.address);
      await form.getByLabel('To', { exact: true }).fill(receiver!.address);
      await form.getByLabel('Amount in TON').fill('1.000000001');
      await form.getByLabel('Comment').fill('thank you');
      await form.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('heading', { name: 'Trace' }).waitFor();
      await page.getByText('complete').first().waitFor();
      await page.getByText('1.000000001').first().waitFor();
      await page.getByText('thank you').first().waitFor();
      return 'the trace is complete';
    });
    await report.check('newcomer: reload and the back button keep the page', async () => {
      const address = page.url();
      await page.reload();
      await page.getByRole('heading', { name: 'Trace' }).waitFor();
      await page.goBack();
      await page.getByRole('heading', { name: 'Faucet' }).waitFor();
      await page.goForward();
      await page.getByRole('heading', { name: 'Trace' }).waitFor();
      if (page.url() !== address) throw new Error(`${page.url()} in place of ${address}`);
      return address.replace(network.url, '');
    });
    await report.check('newcomer: what is wrong in a form is said', () => checkRefusals(watched));
    await report.check('newcomer: nothing that a page must not do', async () => nothing(browser.noted()));
  } finally {
    await watched.close();
  }
}

async function checkRefusals({ page }: WatchedPage): Promise<string> {
  await page.getByRole('link', { name: 'Local network' }).first().click();
  const form = page.locator('section', { has: page.getByRole('heading', { name: 'Faucet' }) });
  const said: string[] = [];
  for (const [address, amount, expected] of [
    ['nonsense', '1', 'This is no address.'],
    [`0:${'11'.repeat(32)}`, 'much', 'This is no amount'],
    [`0:${'11'.repeat(32)}`, '99999999999999', ''],
  ] as const) {
    await form.getByLabel('Address').fill(address);
    await form.getByLabel('Amount in TON').fill(amount);
    await form.getByRole('button', { name: 'Take coins' }).click();
    const problem = form.locator('.form-said.bad');
    await problem.filter({ hasText: expected }).waitFor();
    said.push(await problem.innerText());
  }
  return said.join(' / ').slice(0, 300);
}

/** @throws when something was noted */
export function nothing(noted: readonly string[]): string {
  if (noted.length > 0) throw new Error([...new Set(noted)].slice(0, 5).join('; '));
  return 'no error, no other host, no breach of the policy';
}

import type { CheckReport } from '../check-report.js';
import { answer, expectText, nothing } from './newcomer-checks.js';
import type { WatchedBrowser, WatchedPage } from './watched-browser.js';

/** Metadata of a jetton, and what the page has to say of its symbol. */
interface HostileToken {
  readonly name: string;
  readonly symbol: string;
  readonly description: string;
  readonly image: string;
  readonly expected: string;
}

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" onload="globalThis.broken=6"><script>globalThis.broken=7</script></svg>';
const UNVERIFIED = '(unverified';

const TOKENS: readonly HostileToken[] = [
  {
    name: '<script>globalThis.broken=8</script>',
    symbol: '<img src=x onerror=globalThis.broken=9>',
    description: '<iframe srcdoc="<script>parent.broken=10</script>"></iframe>',
    image: `data:image/svg+xml,${encodeURIComponent(SVG)}`,
    expected: UNVERIFIED,
  },
  {
    name: 'n'.repeat(100_000),
    symbol: `\u202eTDSU${'\u200b'.repeat(50)}`,
    description: 'description '.repeat(10_000),
    image: `data:image/png;base64,${'A'.repeat(2_000_000)}`,
    expected: 'contains characters that cannot be seen',
  },
  // With a Cyrillic letter.
  {
    name: 'Tether',
    symbol: 'USD\u0422',
    description: '',
    image: 'https://elsewhere.test/a.png',
    expected: 'looks like USDT',
  },
  {
    name: 'Toncoin',
    symbol: 'TON',
    description: '',
    image: 'javascript:globalThis.broken=11',
    expected: 'calls itself TON',
  },
];

/**
 * What metadata say runs nowhere, stays in its box, loads nothing from elsewhere, and is marked as unverified. The answers are those
 * of the server, with other metadata in them: no chain has all of these at hand.
 */
export async function checkHostileMetadata(
  browser: WatchedBrowser,
  url: string,
  widths: readonly number[],
  report: CheckReport,
): Promise<void> {
  await report.check('hostile: metadata of jettons run nowhere, and are marked as unverified', async () => {
    const { jetton_masters } = await answer<{ readonly jetton_masters: readonly { readonly address: string }[] }>(
      url,
      '/api/v3/jetton/masters?limit=1',
    );
    const { address } = jetton_masters[0]!;
    const { jetton_wallets } = await answer<{ readonly jetton_wallets: readonly { readonly owner: string }[] }>(
      url,
      `/api/v3/jetton/wallets?limit=1&exclude_zero_balance=true&jetton_address=${address}`,
    );
    const { owner } = jetton_wallets[0]!;
    for (const width of widths) {
      for (const token of TOKENS) {
        const watched = await browser.open({ width });
        try {
          await replaceMetadata(watched, address, token);
          await watched.go(`/jetton/${address}`);
          await watched.page.locator('h1 .token').last().waitFor();
          expectText(await watched.page.locator('h1').innerText(), token.expected);
          await expectUnbroken(watched, width);
          await watched.go(`/account/${owner}?show=jettons`);
          await watched.page.locator('.table .token').first().waitFor();
          expectText(await watched.page.locator('.table .token').first().innerText(), token.expected);
          await expectUnbroken(watched, width);
        } finally {
          await watched.close();
        }
      }
    }
    return `${TOKENS.length} tokens; ${nothing(browser.noted())}`;
  });
}

async function replaceMetadata({ page }: WatchedPage, address: string, token: HostileToken): Promise<void> {
  await page.route('**/api/v3/jetton/*', async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    const { name, symbol, description, image } = token;
    const info = { type: 'jetton_masters', name, symbol, description, image, extra: { decimals: '9' } };
    const metadata = { ...body.metadata, [address]: { is_indexed: true, token_info: [info] } };
    await route.fulfill({ response, json: { ...body, metadata } });
  });
}

/** Throws when something ran, reaches out of its box, or is not as it has to be shown. */
export async function expectUnbroken(watched: WatchedPage, width: number): Promise<void> {
  const broken = await watched.page.evaluate(() => (globalThis as { broken?: unknown }).broken ?? null);
  if (broken !== null) throw new Error(`script number ${String(broken)} ran`);
  const wider = await watched.overflow();
  if (wider > 0) {
    throw new Error(`${watched.page.url()}: ${wider} pixels wider than ${width}: ${await watched.widest()}`);
  }
  const escaped = await watched.escaped();
  if (escaped.length > 0) throw new Error(`out of its box at ${width}: ${escaped.slice(0, 3).join('; ')}`);
  const text = await watched.text();
  if (/[\u202a-\u202e\u2066-\u2069]/.test(text)) throw new Error('a control of direction is on the page');
  if (text.length > 30_000) throw new Error(`${text.length} characters are on the page`);
}

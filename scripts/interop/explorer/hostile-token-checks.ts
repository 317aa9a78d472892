import type { CheckReport } from '../check-report.js';
import type { LocalNetwork } from '../localnet/local-network.js';
import { addHostileContents, type HostileContents, type HostileToken } from './hostile-contents.js';
import { answer, expectText, nothing } from './newcomer-checks.js';
import type { WatchedBrowser, WatchedPage } from './watched-browser.js';

const UNVERIFIED = '(unverified';

/** What metadata on chain say runs nowhere, stays in its box, loads nothing from elsewhere, and is marked as unverified. */
export async function checkHostileTokens(
  browser: WatchedBrowser,
  network: LocalNetwork,
  widths: readonly number[],
  report: CheckReport,
): Promise<void> {
  const made: HostileContents[] = [];
  await report.check('hostile: tokens are on chain and in the index', async () => {
    made.push(await addHostileContents(network));
    return made.map(({ jettons }) => `${jettons.length} jettons, collections and items each`).join('');
  });
  for (const contents of made) await checkPlaced(browser, contents, widths, report);
}

async function checkPlaced(
  browser: WatchedBrowser,
  { holder, jettons, collections, items }: HostileContents,
  widths: readonly number[],
  report: CheckReport,
): Promise<void> {
  for (const [kind, tokens] of [
    ['jetton', jettons],
    ['collection', collections],
    ['nft', items],
  ] as const) {
    await report.check(`hostile: the pages of each ${kind}`, async () => {
      for (const width of widths) await expectTokenPages(browser, kind, tokens, width);
      return `${tokens.length} on chain; ${nothing(browser.noted())}`;
    });
  }
  await report.check('hostile: the lists of who holds them', async () => {
    for (const width of widths) {
      const watched = await browser.open({ width });
      try {
        await watched.go(`/account/${holder}?show=jettons`);
        await watched.page
          .locator('.table .token')
          .nth(jettons.length - 1)
          .waitFor();
        for (const text of await watched.page.locator('.table .token').allInnerTexts()) expectText(text, UNVERIFIED);
        await expectUnbroken(watched, width);
        await watched.go(`/account/${holder}?show=nfts`);
        await watched.page
          .locator('.nft-name .token')
          .nth(items.length - 1)
          .waitFor();
        for (const { expected } of items) await watched.page.locator('.nft', { hasText: expected }).first().waitFor();
        await expectUnbroken(watched, width);
      } finally {
        await watched.close();
      }
    }
    return `${jettons.length} jettons, ${items.length} NFTs; ${nothing(browser.noted())}`;
  });
}

async function expectTokenPages(
  browser: WatchedBrowser,
  kind: string,
  tokens: readonly HostileToken[],
  width: number,
): Promise<void> {
  const watched = await browser.open({ width });
  try {
    for (const { address, expected, isDrawn } of tokens) {
      await watched.go(`/${kind}/${address}`);
      await watched.page.locator('h1 .token').first().waitFor();
      expectText(await watched.page.locator('h1').innerText(), expected);
      expectText(await watched.text(), 'Nobody has verified');
      const drawn = await watched.page.locator('main .token-picture img, main img.picture').count();
      if (drawn > 0 !== isDrawn) throw new Error(`${drawn} pictures are drawn on ${watched.page.url()}`);
      await expectUnbroken(watched, width);
    }
  } finally {
    await watched.close();
  }
}

/** What a document elsewhere may say that the server fetched, of which some is larger than what contracts hold. */
const DOCUMENTS = [
  {
    ...{ name: '<script>globalThis.broken=28</script>', symbol: '<img src=x onerror=globalThis.broken=29>' },
    ...{ description: '<iframe srcdoc="<script>parent.broken=30</script>"></iframe>', image: '//elsewhere.test/a' },
    expected: UNVERIFIED,
  },
  // With a Cyrillic letter each.
  {
    ...{ name: 'T\u0435ther USD', symbol: 'USD\u0422', description: '', image: 'javascript:globalThis.broken=31' },
    expected: 'looks like',
  },
  {
    ...{ name: 'n'.repeat(100_000), symbol: `\u202eTDSU${'\u200b'.repeat(50)}` },
    ...{ description: 'description '.repeat(10_000), image: `data:image/png;base64,${'A'.repeat(2_000_000)}` },
    expected: UNVERIFIED,
  },
  {
    ...{ name: '\u202e'.repeat(50_000), symbol: 'W'.repeat(100_000) },
    ...{ description: 'z\u0301\u0302\u0303'.repeat(30_000), image: 'https://elsewhere.test/a.png' },
    expected: UNVERIFIED,
  },
];

/** Metadata of documents off chain. The answers are those of the server, with these in them. */
export async function checkHostileDocuments(
  browser: WatchedBrowser,
  url: string,
  widths: readonly number[],
  report: CheckReport,
): Promise<void> {
  interface Rows {
    readonly jetton_wallets?: readonly { readonly owner: string; readonly jetton: string }[];
    readonly nft_items?: readonly {
      readonly address: string;
      readonly owner_address: string;
      readonly collection_address: string | null;
    }[];
  }
  await report.check('hostile: metadata of documents', async () => {
    const { jetton_wallets } = await answer<Rows>(url, '/api/v3/jetton/wallets?limit=1&exclude_zero_balance=true');
    const { nft_items } = await answer<Rows>(url, '/api/v3/nft/items?limit=20');
    const [wallet] = jetton_wallets ?? [];
    const item = nft_items?.find(({ collection_address }) => collection_address !== null);
    if (wallet === undefined || item === undefined) throw new Error('there is no jetton, or no item of a collection');
    for (const width of widths) {
      for (const document of DOCUMENTS) {
        const watched = await browser.open({ width });
        try {
          await replaceMetadata(watched, document);
          for (const [path, place] of [
            [`/jetton/${wallet.jetton}`, 'h1'],
            [`/account/${wallet.owner}?show=jettons`, '.table'],
            [`/nft/${item.address}`, 'h1'],
            [`/collection/${item.collection_address}`, 'h1'],
            [`/account/${item.owner_address}?show=nfts`, '.nft-name'],
          ] as const) {
            await watched.go(path);
            const shown = watched.page.locator(`main ${place} .token`).first();
            await shown.waitFor();
            expectText(await shown.innerText(), document.expected);
            await expectUnbroken(watched, width);
          }
        } finally {
          await watched.close();
        }
      }
    }
    return `${DOCUMENTS.length} documents on 5 pages; ${nothing(browser.noted())}`;
  });
}

async function replaceMetadata(
  { page }: WatchedPage,
  { expected, ...document }: (typeof DOCUMENTS)[number],
): Promise<void> {
  interface Row {
    readonly address: string;
    readonly jetton?: string;
  }
  await page.route(/\/api\/v3\/(jetton|nft)\//, async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    const lists = ['jetton_masters', 'jetton_wallets', 'nft_items', 'nft_collections'];
    const metadata = { ...body.metadata };
    for (const list of lists) {
      for (const { address, jetton } of (body[list] ?? []) as readonly Row[]) {
        const type = list === 'jetton_wallets' ? 'jetton_masters' : list;
        metadata[jetton ?? address] = { is_indexed: true, token_info: [{ type, ...document, extra: {} }] };
      }
    }
    await route.fulfill({ response, json: { ...body, metadata } });
  });
}

/** Throws when something ran, reaches out of its box, or is not as it has to be shown. */
async function expectUnbroken(watched: WatchedPage, width: number): Promise<void> {
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

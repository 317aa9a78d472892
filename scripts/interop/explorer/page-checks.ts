import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckReport } from '../check-report.js';
import type { Contents } from './contents.js';
import { answer, nothing } from './newcomer-checks.js';
import { type WatchedBrowser, WIDTHS } from './watched-browser.js';

/** A page, and what must be on it. */
export interface PageCheck {
  readonly name: string;
  readonly path: string;
  readonly expected: readonly string[];
}

/** How wide a page is, and in which colours. */
export interface Appearance {
  readonly width: number;
  readonly theme: 'light' | 'dark';
}

/** How pages are looked at. */
export interface PageLook {
  readonly appearances: readonly Appearance[];
  /** Each page in one of them, in turn; else each page in all. */
  readonly inTurn?: boolean;
  /** The folder for screenshots; null: none are taken. */
  readonly pictures: string | null;
}

const [DESK, PHONE] = WIDTHS;

/** How much of a long page a screenshot shows, in pixels. */
const HIGHEST_PICTURE = 2_400;

/** Both widths and both themes with two openings. */
export const TWO_APPEARANCES: readonly Appearance[] = [
  { width: DESK, theme: 'light' },
  { width: PHONE, theme: 'dark' },
];

export const ALL_APPEARANCES: readonly Appearance[] = [
  ...TWO_APPEARANCES,
  { width: DESK, theme: 'dark' },
  { width: PHONE, theme: 'light' },
];

/**
 * Opens each page in each appearance: it shows what the API says, nothing that a page must not do, nothing serious for
 * axe-core, and is not wider than the window.
 */
export async function checkPages(
  browser: WatchedBrowser,
  pages: readonly PageCheck[],
  { appearances, inTurn = false, pictures }: PageLook,
  report: CheckReport,
): Promise<void> {
  if (pictures !== null) mkdirSync(pictures, { recursive: true });
  for (const [index, { name, path, expected }] of pages.entries()) {
    await report.check(`page ${name}`, async () => {
      const looks = inTurn ? [appearances[index % appearances.length]!] : appearances;
      for (const { width, theme } of looks) {
        const watched = await browser.open({ width, theme });
        try {
          await watched.go(path);
          for (const part of expected) await watched.page.locator('main').getByText(part).first().waitFor();
          const found = await watched.axe();
          if (found.length > 0) throw new Error(`axe-core at ${width}, ${theme}: ${found.slice(0, 3).join('; ')}`);
          const wider = await watched.overflow();
          if (wider > 0) {
            throw new Error(`${wider} pixels wider than the window of ${width}: ${await watched.widest()}`);
          }
          if (pictures !== null) {
            const height = Math.min(await watched.height(), HIGHEST_PICTURE);
            const clip = { x: 0, y: 0, width, height };
            const path = join(pictures, `${name}-${width}-${theme}.png`);
            await watched.page.screenshot({ path, clip, fullPage: true });
          }
        } finally {
          await watched.close();
        }
      }
      return nothing(browser.noted());
    });
  }
}

interface MastersAnswer {
  readonly jetton_masters: readonly { readonly address: string; readonly total_supply: string }[];
}

interface TransactionsAnswer {
  readonly transactions: readonly {
    readonly hash: string;
    readonly trace_id: string;
    readonly account: string;
    readonly lt: string;
  }[];
}

interface BlocksAnswer {
  readonly blocks: readonly {
    readonly workchain: number;
    readonly shard: string;
    readonly seqno: number;
    readonly root_hash: string;
  }[];
}

const hex = (hash: string) => Buffer.from(hash, 'base64').toString('hex');
const short = (hash: string) => `${hex(hash).slice(0, 8)}…${hex(hash).slice(-6)}`;

/** Pages that every local network has. */
export function commonPages(): PageCheck[] {
  return [
    { name: 'home', path: '/', expected: ['Newest block'] },
    { name: 'blocks', path: '/blocks', expected: ['Masterchain blocks'] },
    { name: 'actions', path: '/actions', expected: ['Actions'] },
    { name: 'top', path: '/top', expected: ['Largest balances'] },
    { name: 'config', path: '/config', expected: ['Version of the network', 'Rewards for blocks', 'proven'] },
    { name: 'validators', path: '/validators', expected: ['Current validators'] },
    { name: 'message', path: '/message', expected: ['BoC or hash'] },
    { name: 'status', path: '/status', expected: ['Newest block', 'From the cache'] },
    { name: 'nowhere', path: '/tx/00', expected: ['This is no hash.'] },
    { name: 'no-trace', path: `/trace/${'00'.repeat(32)}`, expected: ['There is no such trace.'] },
    { name: 'no-block', path: '/block/-1/8000000000000000/4294967295', expected: ['does not exist yet'] },
    { name: 'no-jetton', path: `/jetton/0:${'11'.repeat(32)}`, expected: ['There is no such jetton.'] },
    { name: 'empty-account', path: `/account/0:${'11'.repeat(32)}`, expected: ['Bounceable', 'proven'] },
    { name: 'no-pool', path: `/pool/0:${'11'.repeat(32)}`, expected: ['There is no such pool.'] },
    { name: 'no-domain', path: '/dns/nothing.ton', expected: ['There is no such domain.'] },
    { name: 'local', path: '/local', expected: ['Faucet', 'Snapshots', 'Impersonation'] },
  ];
}

/** Those of them that an empty chain shows in another way. */
export const EMPTY_PAGES: readonly string[] = ['home', 'blocks', 'actions', 'top', 'validators', 'no-jetton'];

/** Pages that look like others: opened by `explorer-all` only. */
export const ONLY_IN_ALL: readonly string[] = [
  ...['nowhere', 'no-trace', 'no-block', 'no-domain', 'empty-account', 'long-trace'],
  ...['pool-single-nominator', 'pool-nominator-pool-whales'],
];

/** Those of them whose look depends on what happened. */
export const CHANGING_PAGES: readonly string[] = ['home', 'blocks', 'actions', 'top', 'status'];

/** Lists of API v3 that need no address, and whose rows have pages. */
const NFTS = [
  { list: 'nft_items', name: 'nft', method: 'nft/items', expected: ['Index', 'Nobody has verified'] },
  { list: 'nft_collections', name: 'collection', method: 'nft/collections', expected: ['Next index', 'Items'] },
] as const;

/** Names of the pages that every chain of the activity has. @throws when one of them is missing */
export function requirePages(pages: readonly PageCheck[]): readonly PageCheck[] {
  const wanted = [
    'block',
    'transaction',
    'trace',
    'account',
    'jetton',
    'jetton-trace',
    ...NFTS.map(({ name }) => name),
  ];
  const missing = wanted.filter((each) => !pages.some(({ name }) => name === each));
  if (missing.length > 0) throw new Error(`nothing on the chain has a page ${missing.join(', ')}`);
  return pages;
}

/** The pages of what was put on the chain for them. */
export function pagesOfContents({ multisigs, vesting, pools, domain, longTrace }: Contents): PageCheck[] {
  return [
    ...Object.entries(pools).map(([heading, address]) => ({
      name: `pool-${heading
        .toLowerCase()
        .replaceAll(/[^a-z ]/g, '')
        .replaceAll(' ', '-')}`,
      path: `/pool/${address}`,
      expected: [heading, 'Balance of the contract'],
    })),
    { name: 'multisig', path: `/multisig/${multisigs[0]}`, expected: ['Threshold', 'Order 0', 'executed'] },
    { name: 'vesting', path: `/vesting/${vesting}`, expected: ['Locked now', 'Unlocks every', '1 d'] },
    { name: 'domain', path: `/dns/${domain}`, expected: ['Wallet', 'NFT'] },
    { name: 'long-trace', path: `/trace/${hex(longTrace)}`, expected: ['Tree', '2,047'] },
  ];
}

/** The pages of whatever is on a chain, with values of API v3 that they must show. */
export async function pagesOfContent(url: string): Promise<PageCheck[]> {
  const pages: PageCheck[] = [];
  const { blocks } = await answer<BlocksAnswer>(url, '/api/v3/blocks?limit=1&sort=asc&workchain=-1');
  for (const { seqno, root_hash } of blocks) {
    pages.push({
      name: 'block',
      path: `/block/-1/8000000000000000/${seqno}`,
      expected: ['Root hash', short(root_hash)],
    });
  }
  const { transactions } = await answer<TransactionsAnswer>(url, '/api/v3/transactions?workchain=0&limit=1&sort=desc');
  for (const { hash, trace_id, account, lt } of transactions) {
    pages.push({ name: 'transaction', path: `/tx/${hex(hash)}`, expected: [short(hash), lt] });
    pages.push({ name: 'trace', path: `/trace/${hex(trace_id)}`, expected: ['Tree', 'All fees'] });
    pages.push({
      name: 'account',
      path: `/account/${account}`,
      expected: ['Bounceable', 'History', account.toLowerCase()],
    });
  }
  const { jetton_masters } = await answer<MastersAnswer>(url, '/api/v3/jetton/masters?limit=1');
  for (const { address } of jetton_masters) {
    pages.push({ name: 'jetton', path: `/jetton/${address}`, expected: ['Supply', 'Holders', 'Nobody has verified'] });
  }
  interface TransfersAnswer {
    readonly jetton_transfers: readonly { readonly trace_id: string; readonly source: string }[];
  }
  const { jetton_transfers } = await answer<TransfersAnswer>(url, '/api/v3/jetton/transfers?limit=1&sort=desc');
  for (const { trace_id, source } of jetton_transfers) {
    pages.push({
      name: 'jetton-trace',
      path: `/trace/${hex(trace_id)}`,
      expected: ['What happened', 'jetton transfer'],
    });
    pages.push({ name: 'holder', path: `/account/${source}`, expected: ['Bounceable', 'sent'] });
    pages.push({ name: 'holder-jettons', path: `/account/${source}?show=jettons`, expected: ['Wallet', 'Balance'] });
  }
  for (const { list, name, method, expected } of NFTS) {
    const found = await answer<Record<string, readonly { readonly address: string }[]>>(
      url,
      `/api/v3/${method}?limit=1`,
    );
    const [first] = found[list]!;
    if (first !== undefined) pages.push({ name, path: `/${name}/${first.address}`, expected });
  }
  return pages;
}

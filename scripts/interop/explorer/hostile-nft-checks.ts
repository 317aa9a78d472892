import { deflateSync } from 'node:zlib';
import type { CheckReport } from '../check-report.js';
import { expectUnbroken } from './hostile-metadata-checks.js';
import { answer, expectText, nothing } from './newcomer-checks.js';
import type { WatchedBrowser, WatchedPage } from './watched-browser.js';

/** What an item or a collection says of itself, and whether its picture may be drawn. */
interface HostileNft {
  readonly name: string;
  readonly description: string;
  readonly image: string;
  readonly isDrawn: boolean;
  readonly expected: string;
}

const SCRIPT = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="globalThis.broken=21"><path d="M0 0h9v9z"/></svg>`;

/** Each group repeats the one before ten times: ten to the power of nine paths. */
const REPEATED = [
  '<svg xmlns="http://www.w3.org/2000/svg"><g id="a0"><path d="M0 0h9v9z"/></g>',
  ...Array.from({ length: 9 }, (_, index) => `<g id="a${index + 1}">${`<use href="#a${index}"/>`.repeat(10)}</g>`),
  '</svg>',
].join('');

const svg = (text: string) => `data:image/svg+xml;base64,${Buffer.from(text).toString('base64')}`;

/** A PNG of 20,000 × 20,000 pixels of one colour: some kilobytes that a browser makes gigabytes of. */
function hugePng(): string {
  const side = 20_000;
  const uint32 = (value: number) => Buffer.from([24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff));
  const chunk = (type: string, data: Buffer) =>
    Buffer.concat([uint32(data.length), Buffer.from(type), data, uint32(0)]);
  const header = Buffer.concat([uint32(side), uint32(side), Buffer.from([1, 0, 0, 0, 0])]);
  const rows = deflateSync(Buffer.alloc((side / 8 + 1) * side), { level: 9 });
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  const file = Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))]);
  return `data:image/png;base64,${file.toString('base64')}`;
}

const NFTS: readonly HostileNft[] = [
  {
    name: '<script>globalThis.broken=22</script>',
    description: '<img src=x onerror="globalThis.broken=23">',
    image: svg(SCRIPT),
    isDrawn: true,
    expected: '(unverified',
  },
  {
    name: `\u202e${'N'.repeat(100_000)}`,
    description: '\u202e'.repeat(5_000),
    image: svg(REPEATED),
    isDrawn: false,
    expected: 'contains characters that cannot be seen',
  },
  {
    name: 'Tеther USD',
    description: 'z\u0301\u0302\u0303'.repeat(3_000),
    image: hugePng(),
    isDrawn: false,
    expected: 'looks like TETHERUSD',
  },
  {
    name: 'W'.repeat(100_000),
    description: 'https://elsewhere.test '.repeat(5_000),
    image: 'https://elsewhere.test/a.svg',
    isDrawn: false,
    expected: '(unverified',
  },
];

/**
 * NFTs and collections that are made to break pages, on all pages that show them. The answers are those of the server, with other
 * metadata in them.
 */
export async function checkHostileNfts(
  browser: WatchedBrowser,
  url: string,
  widths: readonly number[],
  report: CheckReport,
): Promise<void> {
  interface Items {
    readonly nft_items: readonly {
      readonly address: string;
      readonly owner_address: string;
      readonly collection_address: string;
    }[];
  }
  await report.check(
    'hostile: metadata of NFTs run nowhere, stay in their boxes, and are marked as unverified',
    async () => {
      const { nft_items } = await answer<Items>(url, '/api/v3/nft/items?limit=50');
      const item = nft_items.find(({ collection_address, owner_address }) => collection_address && owner_address)!;
      for (const width of widths) {
        for (const nft of NFTS) {
          const watched = await browser.open({ width });
          try {
            await replaceMetadata(watched, nft);
            for (const [path, place] of [
              [`/nft/${item.address}`, 'h1'],
              [`/collection/${item.collection_address}`, 'h1'],
              [`/account/${item.owner_address}?show=nfts`, '.nft-name'],
            ] as const) {
              await watched.go(path);
              const shown = watched.page.locator(`main ${place} .token`).first();
              await shown.waitFor();
              expectText(await shown.innerText(), nft.expected);
              await expectPictures(watched, nft.isDrawn);
              await expectUnbroken(watched, width);
            }
          } finally {
            await watched.close();
          }
        }
      }
      return `${NFTS.length} sets of metadata on 3 pages; ${nothing(browser.noted())}`;
    },
  );
}

async function expectPictures(watched: WatchedPage, isDrawn: boolean): Promise<void> {
  const drawn = await watched.page.locator('main img.picture').count();
  if (drawn > 0 !== isDrawn) throw new Error(`${drawn} pictures are drawn on ${watched.page.url()}`);
}

async function replaceMetadata({ page }: WatchedPage, { name, description, image }: HostileNft): Promise<void> {
  await page.route('**/api/v3/nft/*', async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    const rows = [...(body.nft_items ?? []), ...(body.nft_collections ?? [])] as { readonly address: string }[];
    const metadata = { ...body.metadata };
    for (const { address } of rows) {
      const info = { type: 'nft_items', name, description, image, extra: {} };
      metadata[address] = { is_indexed: true, token_info: [info] };
    }
    await route.fulfill({ response, json: { ...body, metadata } });
  });
}

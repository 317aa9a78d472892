import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { Address, beginCell, type Cell, contractAddress, Dictionary, toNano } from '@ton/core';
import type { LocalNetwork } from '../localnet/local-network.js';
import { codeOf } from '../localnet/scenarios/contract-codes.js';
import { found, placed } from './contents.js';
import { answer } from './newcomer-checks.js';

/** Metadata on chain (TEP-64), and what a page has to say of the name. */
interface HostileMetadata {
  readonly name: string;
  readonly symbol?: string;
  readonly description: string;
  readonly image?: string;
  /** Bytes, which API v3 gives in base64. */
  readonly image_data?: Buffer;
  /** Whether the picture may be drawn. */
  readonly isDrawn: boolean;
  readonly expected: string;
}

export interface HostileToken extends HostileMetadata {
  /** Raw. */
  readonly address: string;
}

/** Tokens that are made to break pages, with the account that holds all of them. */
export interface HostileContents {
  readonly holder: string;
  readonly jettons: readonly HostileToken[];
  readonly collections: readonly HostileToken[];
  readonly items: readonly HostileToken[];
}

const SCRIPT = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="globalThis.broken=21"><path d="M0 0h9v9z"/></svg>`;

/** Each group repeats the one before ten times: ten to the power of nine paths. */
const REPEATED = [
  '<svg xmlns="http://www.w3.org/2000/svg"><g id="a0"><path d="M0 0h9v9z"/></g>',
  ...Array.from({ length: 9 }, (_, index) => `<g id="a${index + 1}">${`<use href="#a${index}"/>`.repeat(10)}</g>`),
  '</svg>',
].join('');

const svg = (text: string) => `data:image/svg+xml;base64,${Buffer.from(text).toString('base64')}`;

/** The begin of a PNG of 20,000 × 20,000 pixels: some kilobytes that a browser makes gigabytes of. */
function hugePng(): Buffer {
  const side = 20_000;
  const uint32 = (value: number) => Buffer.from([24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff));
  const chunk = (type: string, data: Buffer) =>
    Buffer.concat([uint32(data.length), Buffer.from(type), data, uint32(0)]);
  const header = Buffer.concat([uint32(side), uint32(side), Buffer.from([1, 0, 0, 0, 0])]);
  const rows = deflateSync(Buffer.alloc((side / 8 + 1) * side), { level: 9 });
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', rows)]).subarray(0, 8_000);
}

const UNVERIFIED = '(unverified';
const UNSEEN = 'contains characters that cannot be seen';

/** Of jettons, collections and items alike. */
const METADATA: readonly HostileMetadata[] = [
  {
    name: '<script>globalThis.broken=8</script>',
    symbol: '<img src=x onerror=globalThis.broken=9>',
    description: '<iframe srcdoc="<script>parent.broken=10</script>"></iframe>',
    image: svg(SCRIPT),
    isDrawn: true,
    expected: UNVERIFIED,
  },
  {
    name: `\u202e${'N'.repeat(100_000)}`,
    symbol: `\u202eTDSU${'\u200b'.repeat(50)}`,
    description: 'description '.repeat(10_000),
    image: svg(REPEATED),
    isDrawn: false,
    expected: UNSEEN,
  },
  // With a Cyrillic letter each.
  {
    name: 'T\u0435ther USD',
    symbol: 'USD\u0422',
    description: 'z\u0301\u0302\u0303'.repeat(1_000),
    image_data: hugePng(),
    isDrawn: false,
    expected: 'looks like',
  },
  {
    name: 'Toncoin',
    symbol: 'TON',
    description: '\u202e'.repeat(2_000),
    image: 'javascript:globalThis.broken=11',
    isDrawn: false,
    expected: 'looks like',
  },
  {
    name: 'W'.repeat(100_000),
    symbol: '\ufdfd'.repeat(2_000),
    description: 'https://elsewhere.test '.repeat(5_000),
    image: 'https://elsewhere.test/a.svg',
    isDrawn: false,
    expected: UNVERIFIED,
  },
];

/** Bytes of a cell, and of its chunks. */
const CELL = 126;

/** `chunked_data#_ data:(HashmapE 32 ^(SnakeData ~0))`: long values without deep cells. */
function valueCell(bytes: Buffer): Cell {
  const chunks = Dictionary.empty(Dictionary.Keys.Uint(32), Dictionary.Values.Cell());
  for (let at = 0; at < bytes.length; at += CELL) {
    chunks.set(
      at / CELL,
      beginCell()
        .storeBuffer(bytes.subarray(at, at + CELL))
        .endCell(),
    );
  }
  return beginCell().storeUint(1, 8).storeDict(chunks).endCell();
}

/** `onchain#00 data:(HashmapE 256 ^ContentData) = FullContent;` */
function contentCell({ isDrawn, expected, ...values }: HostileMetadata): Cell {
  const data = Dictionary.empty(Dictionary.Keys.BigUint(256), Dictionary.Values.Cell());
  for (const [name, value] of Object.entries(values)) {
    const key = BigInt(`0x${createHash('sha256').update(name).digest('hex')}`);
    data.set(key, valueCell(typeof value === 'string' ? Buffer.from(value) : value));
  }
  return beginCell().storeUint(0, 8).storeDict(data).endCell();
}

const HOLDER = new Address(0, Buffer.from('5b'.repeat(32), 'hex'));

/** A jetton of whose supply the holder has all. */
async function placeJetton(network: LocalNetwork, metadata: HostileMetadata): Promise<string> {
  const supply = 2n ** 120n - 1n;
  const walletCode = codeOf('jetton-wallet');
  const data = beginCell().storeCoins(supply).storeAddress(HOLDER).storeRef(contentCell(metadata));
  const init = { code: codeOf('jetton-minter'), data: data.storeRef(walletCode).endCell() };
  const master = contractAddress(0, init);
  const dataOf = (balance: bigint) =>
    beginCell().storeCoins(balance).storeAddress(HOLDER).storeAddress(master).storeRef(walletCode).endCell();
  const wallet = contractAddress(0, { code: walletCode, data: dataOf(0n) });
  // A wallet counts when its master knows it.
  const address = await placed(network, init, toNano('1'));
  await placed(network, { code: walletCode, data: dataOf(supply) }, toNano('1'), wallet);
  return address;
}

function placeCollection(network: LocalNetwork, metadata: HostileMetadata): Promise<string> {
  const content = beginCell().storeRef(contentCell(metadata)).storeRef(beginCell().endCell()).endCell();
  const royalty = beginCell().storeUint(5, 16).storeUint(100, 16).storeAddress(HOLDER).endCell();
  const data = beginCell().storeAddress(HOLDER).storeUint(0, 64).storeRef(content).storeRef(codeOf('nft-item'));
  const init = { code: codeOf('nft-collection'), data: data.storeRef(royalty).endCell() };
  return placed(network, init, toNano('1'));
}

/** An item without a collection: its content is its own. */
function placeItem(network: LocalNetwork, metadata: HostileMetadata, index: number): Promise<string> {
  const data = beginCell().storeUint(index, 64).storeAddress(null).storeAddress(HOLDER);
  const init = { code: codeOf('nft-item'), data: data.storeRef(contentCell(metadata)).endCell() };
  return placed(network, init, toNano('1'));
}

/** Puts jettons, collections and items with hostile metadata on the chain, and waits until the index has detected them. */
export async function addHostileContents(network: LocalNetwork): Promise<HostileContents> {
  const place = (kind: typeof placeJetton | typeof placeItem) =>
    Promise.all(METADATA.map(async (each, index) => ({ ...each, address: await kind(network, each, index) })));
  const jettons = await place(placeJetton);
  const collections = await place(placeCollection);
  const items = await place(placeItem);
  const holder = HOLDER.toRawString();
  for (const [method, list] of [
    ['jetton/wallets', 'jetton_wallets'],
    ['nft/collections', 'nft_collections'],
    ['nft/items', 'nft_items'],
  ] as const) {
    await found(`${METADATA.length} hostile ${list}`, async () => {
      const path = `/api/v3/${method}?owner_address=${holder}`;
      const rows = await answer<Readonly<Record<string, readonly unknown[]>>>(network.url, path);
      return rows[list]?.length === METADATA.length ? rows : undefined;
    });
  }
  return { holder, jettons, collections, items };
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '#test/contract/v3-columns.js';
import { readCsv } from '#test/support/csv.js';
import { type ServedV3, serveV3 } from '#test/support/served-v3.js';
import { RECORDED_NET } from '#test/support/shared-index.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

const network = vectorPath('collection/recorded-net');

/** Tables of tokens of the reference, and the column with what the contract says of itself. */
const CONTENT = {
  jetton_masters: 'jetton_content',
  nft_collections: 'collection_content',
  nft_items: 'content',
} as const;

/** Of how many all is on the chain, a link is still to be read, and what must be there is not. */
const COUNTS = {
  jetton_masters: { onChain: 15, toBeRead: 13, invalid: 2 },
  nft_collections: { onChain: 2, toBeRead: 18, invalid: 0 },
  nft_items: { onChain: 6, toBeRead: 192, invalid: 4 },
};

/** Fields of `token_info`; all else is in `extra`. */
const FIELDS = new Set(['name', 'symbol', 'description', 'image']);

describe('metadata of the recorded tokens', () => {
  let served: ServedV3;
  beforeAll(async () => {
    served = await serveV3(RECORDED_NET);
  }, 600_000);
  afterAll(() => served?.close());

  const table = (name: string) => [...readCsv(readBytes(`${network}/v3-tables/${name}.csv.br`))];

  async function metadataOf(addresses: readonly string[]): Promise<Json> {
    const answers = [];
    for (let from = 0; from < addresses.length; from += 500) {
      const query = addresses.slice(from, from + 500).map((address) => `address=${address}`);
      const answer = await fetch(`${served.url}/api/v3/metadata?${query.join('&')}`);
      expect(answer.status).toBe(200);
      answers.push(await answer.json());
    }
    return Object.assign({}, ...answers);
  }

  it.each(Object.entries(CONTENT))('of %s are what the reference reads from the chain', async (kind, column) => {
    const rows = table(kind);
    const reported = await metadataOf(rows.map(({ address }) => address!));
    const counts = { onChain: 0, toBeRead: 0, invalid: 0 };
    for (const row of rows) {
      const content = JSON.parse(row[column]!) as Record<string, string>;
      const entry = reported[row.address!];
      const info = entry.token_info.find(({ type }: { type: string }) => type === kind);
      const identity = kind === 'nft_items' ? { type: kind, nft_index: row.index } : { type: kind };
      if (content.uri) {
        expect([entry.is_indexed, info], row.address).toEqual([false, identity]);
        counts.toBeRead++;
        continue;
      }
      const isEnough =
        kind === 'jetton_masters'
          ? 'symbol' in content
          : 'name' in content || 'domain' in content || (kind === 'nft_collections' && 'image' in content);
      if (isEnough) {
        const rest = Object.entries(content);
        expect(info, row.address).toEqual({
          ...{ valid: true, ...identity, is_nsfw: false, is_scam: false },
          ...Object.fromEntries(rest.filter(([key]) => FIELDS.has(key))),
          extra: Object.fromEntries(rest.filter(([key]) => !FIELDS.has(key))),
        });
        counts.onChain++;
      } else {
        expect(info, row.address).toEqual({ valid: false, ...identity });
        counts.invalid++;
      }
      expect(entry.is_indexed).toBe(true);
    }
    expect(counts).toEqual(COUNTS[kind as keyof typeof CONTENT]);
  });

  it('of jetton wallets are their balances, and their masters are there', async () => {
    const rows = table('jetton_wallets');
    const reported = await metadataOf(rows.map(({ address }) => address!));
    expect(rows.length).toBe(184);
    for (const { address, balance, owner, jetton } of rows) {
      expect(reported[address!], address).toEqual({
        is_indexed: true,
        token_info: [{ valid: true, type: 'jetton_wallets', extra: { balance, owner, jetton } }],
      });
      expect(reported[jetton!]?.token_info[0]?.type, jetton).toBe('jetton_masters');
    }
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountKey, addressBytes } from '#drivers/store/keys.js';
import type { Page } from '#drivers/store/read/index-types.js';
import { Address } from '#formats/address/address.js';
import { FULL } from '#test/support/full-depth.js';
import { type IndexedChain, indexedChain } from '#test/support/indexed-chain.js';
import { addMadeUpTokens, itListsTokenEvents } from '#test/support/token-comparison.js';
import { type TokenFact, tokenEventIds } from '#test/support/token-facts.js';

const FROM = 200;
const TO = 380;
const options = { signal: new AbortController().signal, timeoutMs: 30_000 };
const first: Page = { limit: 1000, offset: 0, sort: 'asc', cursor: null };

/** How many queries of each kind find something at least. */
const FEWEST = FULL ? { jetton_transfer: 60, nft_transfer: 30 } : { jetton_transfer: 40, nft_transfer: 15 };
/** Sets of three filters and more. */
const LARGER = FULL ? 30 : 5;

let chain: IndexedChain;
let facts: readonly TokenFact[];

beforeAll(async () => {
  chain = await indexedChain('vectors/dev-chain', FROM, TO, 30);
  facts = await addMadeUpTokens(chain, FROM, TO);
});
afterAll(() => chain?.close());

describe('lists of token events are as brute force finds them:', () => {
  itListsTokenEvents(() => ({ chain, facts }), FEWEST, LARGER);

  it('nothing is found by an empty list, or where there is no such account', async () => {
    const nobody = Address.ofParts(0, new Uint8Array(32).fill(0x55));
    const filters = [{ owner: [] }, { account: [] }, { owner: [nobody] }, { account: [nobody] }, { token: nobody }];
    for (const filter of filters) {
      expect(await chain.reader.tokenEvents('jetton_transfer', filter, first, options)).toEqual({
        rows: [],
        next: null,
      });
    }
  });
});

describe('a row whose keys are those of others', () => {
  /** Gives the keys of an account to the events of another one, as if their hashes began alike. */
  async function withKeys<T>(column: string, from: Address, to: Address, work: () => Promise<T>): Promise<T> {
    const keys = [from, to].map((address) => accountKey(addressBytes(address)));
    const { rows } = await chain.client.query<{ tx_id: bigint }>(
      `UPDATE token_events SET ${column} = $2 WHERE ${column} = $1 RETURNING tx_id`,
      keys,
    );
    expect(rows.length).toBeGreaterThan(0);
    try {
      return await work();
    } finally {
      const ids = rows.map(({ tx_id }) => tx_id);
      await chain.client.query(`UPDATE token_events SET ${column} = $1 WHERE tx_id = ANY($2::bigint[])`, [
        keys[0],
        ids,
      ]);
    }
  }

  it.each([
    ['source_key', (fact: TokenFact) => fact.source, (address: Address) => ({ owner: [address] })],
    ['account_key', (fact: TokenFact) => fact.account, (address: Address) => ({ account: [address] })],
    ['token_key', (fact: TokenFact) => fact.token!, (address: Address) => ({ token: address })],
  ] as const)('is left out, and the page filled up: %s', async (column, wanted, filterOf) => {
    const listed = facts.filter(({ kind, token, aborted }) => kind === 'jetton_transfer' && token && !aborted);
    const counts = new Map<string, TokenFact[]>();
    for (const fact of listed) {
      const raw = wanted(fact).toRaw();
      counts.set(raw, [...(counts.get(raw) ?? []), fact]);
    }
    const [one, other] = [...counts.values()].sort((a, b) => b.length - a.length);
    const filter = filterOf(wanted(one![0]!));
    const page = { ...first, limit: 2 };
    const expected = tokenEventIds(facts, 'jetton_transfer', filter, 'asc');
    const { rows } = await withKeys(column, wanted(other![0]!), wanted(one![0]!), () =>
      chain.reader.tokenEvents('jetton_transfer', filter, page, options),
    );
    expect(rows.map(({ id }) => String(id))).toEqual(expected.slice(0, 2));
    const all = await withKeys(column, wanted(other![0]!), wanted(one![0]!), () =>
      chain.reader.tokenEvents('jetton_transfer', filter, first, options),
    );
    expect(all.rows.map(({ id }) => String(id))).toEqual(expected);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addressBytes } from '#drivers/store/keys.js';
import type { IndexedTransaction } from '#drivers/store/read/index-types.js';
import { AccountStatusCode, encodeState, type StateFields } from '#drivers/store/stored-state.js';
import { Address } from '#formats/address/address.js';
import { ExtraCurrencyCollection } from '#formats/tlb/currency.js';
import { type IndexedChain, type IndexedFact, indexedChain } from '#test/support/indexed-chain.js';
import { DEV_CHAIN } from '#test/support/replayed-contracts.js';

const options = { signal: new AbortController().signal, timeoutMs: 30_000 };
const page = { limit: 100, offset: 0, sort: 'asc', cursor: null } as const;
const OTHER = new Map([
  [7, 1n],
  [239, 2n ** 100n],
  [4_294_967_279, 255n],
]);
const EARLIER = new Map([[239, 5n]]);

let chain: IndexedChain;
/** Of one account, by rising lt. */
let facts: readonly IndexedFact[];
let account: Address;

beforeAll(async () => {
  chain = await indexedChain(DEV_CHAIN, 1, 12, 20);
  const ofAccount = (key: bigint) => chain.transactions.filter(({ row }) => row.account_key === key);
  const lists = chain.transactions.map(({ row }) => ofAccount(row.account_key));
  facts = lists.reduce((a, b) => (b.length > a.length ? b : a));
  const { expected } = facts[0]!;
  account = Address.ofParts(expected.workchain, expected.account);
  expect(facts.length).toBeGreaterThan(5);
});
afterAll(() => chain?.close());

const hashOf = (currencies: ReadonlyMap<number, bigint>) => ExtraCurrencyCollection.of(currencies).root!.hash();

async function setState(
  fact: IndexedFact,
  fields: Pick<StateFields, 'extra_currencies' | 'extra_hash'>,
): Promise<void> {
  const none = { frozen_hash: null, code_hash: null, data_hash: null };
  const state = encodeState({ status: AccountStatusCode.active, balance: 1n, ...none, ...fields });
  await chain.client.query('UPDATE transactions SET state_after = $1 WHERE id = $2', [state, fact.id]);
}

async function setAccount(currencies: ReadonlyMap<number, bigint> | null): Promise<void> {
  const json = currencies && Object.fromEntries([...currencies].map(([id, amount]) => [id, String(amount)]));
  await chain.client.query('UPDATE accounts SET extra_currencies = $1 WHERE address = $2', [
    json,
    addressBytes(account),
  ]);
}

async function read(): Promise<readonly IndexedTransaction[]> {
  return (await chain.reader.transactions({ account: [account] }, page, options)).rows;
}

describe('other currencies that a block did not show', () => {
  it('are those of the account now, when the dictionary is the same', async () => {
    await setState(facts[2]!, { extra_currencies: null, extra_hash: hashOf(OTHER) });
    await setAccount(OTHER);
    const rows = await read();
    expect(rows[2]!.state_after!.extra_currencies).toEqual(OTHER);
    expect(rows[3]!.state_before!.extra_currencies).toEqual(OTHER);
    expect(rows[1]!.state_after!.extra_currencies).toEqual(new Map());
  });

  it('are those of a state before or after it', async () => {
    await setAccount(null);
    await setState(facts[0]!, { extra_currencies: OTHER, extra_hash: null });
    await setState(facts[4]!, { extra_currencies: EARLIER, extra_hash: null });
    await setState(facts[3]!, { extra_currencies: null, extra_hash: hashOf(EARLIER) });
    const rows = await read();
    expect(rows[2]!.state_after!.extra_currencies).toEqual(OTHER);
    expect(rows[3]!.state_after!.extra_currencies).toEqual(EARLIER);
  });

  it('are not known otherwise', async () => {
    await setAccount(EARLIER);
    await setState(facts[2]!, { extra_currencies: null, extra_hash: hashOf(new Map([[239, 6n]])) });
    const rows = await read();
    expect(rows[2]!.state_after).toMatchObject({ extra_currencies: null, balance: 1n });
    expect(rows[3]!.state_before).toMatchObject({ extra_currencies: null });
  });
});

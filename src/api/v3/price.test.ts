import { expect, test } from 'vitest';
import { priceOf } from '#api/http/work-queue.js';
import { v3Endpoints } from '#api/v3/v3-api.js';

function price(name: string, params: object, profile: 'spec' | 'toncenter' = 'spec'): number {
  return priceOf(v3Endpoints.find((endpoint) => endpoint.name === name)!, params as never, profile);
}

test('every endpoint declares a finite price, with defaults for what a request leaves out', () => {
  const lists = v3Endpoints.filter(({ name }) => name !== 'masterchainInfo' && name !== 'masterchainBlockShardState');
  for (const { name } of lists) {
    expect(price(name, {}), name).toBeGreaterThan(1);
    expect(price(name, {}), name).toBeLessThan(50);
  }
});

test('a list costs by its length, which is larger by default in the toncenter profile', () => {
  expect(price('messages', { limit: 1_000 })).toBeGreaterThan(50 * price('messages', { limit: 10 }));
  expect(price('messages', {})).toBe(price('messages', { limit: 10 }));
  expect(price('messages', {}, 'toncenter')).toBe(price('messages', { limit: 100 }));
});

test('accounts and hashes of a request cost each', () => {
  const accounts = new Array(1_000).fill('x');
  expect(price('accountStates', { address: accounts })).toBeGreaterThan(
    25 * price('accountStates', { address: ['x'] }),
  );
  expect(price('transactions', { limit: 1, account: accounts })).toBeGreaterThan(price('transactions', { limit: 1 }));
  const places = { collection_address: accounts.slice(0, 30), index: accounts.slice(0, 30) };
  expect(price('nft/items', places) - price('nft/items', {})).toBeGreaterThan(9);
});

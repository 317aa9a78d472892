import { describe, expect, it } from 'vitest';
import { accountTransactionEndpoints } from '#api/v2/transactions.js';
import type { TransactionRef } from '#formats/proofs/transactions.js';
import { toBase64 } from '#kernel/bytes.js';
import { callV2 } from '#test/support/v2-method.js';

const address = `-1:${'3'.repeat(64)}`;
const hash = new Uint8Array(32).fill(9);

/** Calls a method on an account without transactions. @returns its status, and where the list was to begin; null: at the newest */
async function listed(name: string, params: Readonly<Record<string, unknown>>) {
  const asked: (TransactionRef | null)[] = [];
  const chain = {
    accountTransactions: async (_: unknown, { from = null }: { from?: TransactionRef | null }) => {
      asked.push(from);
      return { transactions: [], next: null };
    },
  };
  const { status } = await callV2(accountTransactionEndpoints, name, { address, ...params }, { chain: chain as never });
  return { status, asked };
}

describe('where a list of transactions begins', () => {
  it('is the newest one for an lt without a hash, as on live services', async () => {
    for (const params of [{}, { lt: '5' }, { lt: '0' }, { lt: 5, hash: null }, { lt: '0', hash: '' }]) {
      const { status, asked } = await listed('getTransactions', params);
      expect([status, asked], JSON.stringify(params)).toEqual([200, [null]]);
    }
  });

  it('is the transaction that lt and hash name', async () => {
    const { status, asked } = await listed('getTransactions', { lt: '5', hash: toBase64(hash) });
    expect([status, asked]).toEqual([200, [{ lt: 5n, hash }]]);
  });

  it('is refused for a hash without an lt, for an lt with an empty hash, and for a lone lt of the typed form', async () => {
    expect((await listed('getTransactions', { hash: toBase64(hash) })).status).toBe(422);
    expect((await listed('getTransactions', { lt: '5', hash: '' })).status).toBe(422);
    expect((await listed('getTransactionsStd', { lt: '5' })).status).toBe(422);
    expect((await listed('getTransactionsStd', { lt: '0' })).status).toBe(422);
  });
});

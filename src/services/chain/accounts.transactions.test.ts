import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { encodeBoxed } from '#formats/tl/constructor.js';
import { LiteServerError } from '#formats/tl/lite-api.js';
import { decodeLiteQuery } from '#formats/tl/lite-query.js';
import { toHex } from '#kernel/bytes.js';
import type { DirectServer } from '#test/support/direct-source.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { chainOver, replayServer } from '#test/support/replayed-chain.js';
import { vectorPath } from '#test/support/vector-files.js';

const ELECTOR = Address.ofParts(-1, new Uint8Array(32).fill(0x33));
const ledger = keptReplay(vectorPath('mainnet-genesis'), { to: 9, head: null });
const honest = replayServer(ledger);

/** A server that has forgotten transactions before an lt. */
function forgetful(from: bigint): DirectServer {
  return (query) => {
    const { call } = decodeLiteQuery(query);
    if (call.name !== 'liteServer.getTransactions' || call.value.lt >= from) return honest(query);
    const message = 'cannot compute block with specified transaction: lt not in db';
    return Promise.resolve(encodeBoxed(LiteServerError, { code: 651, message }));
  };
}

async function whole(): Promise<readonly bigint[]> {
  const { chain } = chainOver(ledger.zerostate, [honest]);
  return (await chain.accountTransactions(ELECTOR, { limit: 1000 })).transactions.map(({ lt }) => lt);
}

describe('transactions of an account', () => {
  it('are as many as are wanted, and the next one is named', async () => {
    const all = await whole();
    const { chain } = chainOver(ledger.zerostate, [honest]);
    const first = await chain.accountTransactions(ELECTOR, { limit: 5 });
    expect(first.transactions.map(({ lt }) => lt)).toEqual(all.slice(0, 5));
    expect(first.next!.lt).toBe(all[5]);
    expect(first.block!.seqno).toBe(9);
    const second = await chain.accountTransactions(ELECTOR, { from: first.next!, limit: 1000 });
    expect(second.transactions.map(({ lt }) => lt)).toEqual(all.slice(5));
    expect(second.next).toBeNull();
    expect(second.block).toBeNull();
  });

  it('end where they are wanted to', async () => {
    const all = await whole();
    const { chain } = chainOver(ledger.zerostate, [honest]);
    const read = await chain.accountTransactions(ELECTOR, { to_lt: all[3]!, limit: 100 });
    expect(read.transactions.map(({ lt }) => lt)).toEqual(all.slice(0, 3));
    expect(read.next!.lt).toBe(all[3]);
    const none = await chain.accountTransactions(ELECTOR, { to_lt: all[0]!, limit: 100 });
    expect([none.transactions, none.next!.lt]).toEqual([[], all[0]]);
  });

  it('go on at a server that keeps everything when another one has no more', async () => {
    const all = await whole();
    const { chain, source } = chainOver(ledger.zerostate, [forgetful(all[10]!), honest]);
    const walked: string[] = [];
    for await (const { hash } of chain.walkTransactions(ELECTOR)) walked.push(toHex(hash));
    expect(walked).toHaveLength(all.length);
    const asked = source.asked.filter(({ fn }) => fn === 'liteServer.getTransactions');
    expect(asked.map(({ server }) => server)).toContain(1);
  });

  it('are wanted from servers that keep everything after one gave fewer than were wanted', async () => {
    const all = await whole();
    const short: DirectServer = (query) => {
      const { call, wait } = decodeLiteQuery(query);
      if (call.name !== 'liteServer.getTransactions' || wait !== null) return honest(query);
      return honest(shorter(query));
    };
    const { chain, source } = chainOver(ledger.zerostate, [short]);
    const read = await chain.accountTransactions(ELECTOR, { limit: 12 });
    expect(read.transactions.map(({ lt }) => lt)).toEqual(all.slice(0, 12));
    const needs = source.asked.filter(({ fn }) => fn === 'liteServer.getTransactions').map(({ need }) => need.kind);
    expect(needs).toEqual(['head', 'archive', 'archive']);
  });

  it('are not there for an account that does not exist', async () => {
    const { chain } = chainOver(ledger.zerostate, [honest]);
    const read = await chain.accountTransactions(Address.ofParts(0, new Uint8Array(32).fill(9)));
    expect([read.transactions, read.next]).toEqual([[], null]);
  });

  it.each([
    ['a limit of 0', { limit: 0 }],
    ['half a transaction', { limit: 0.5 }],
    ['a short hash', { from: { lt: 5n, hash: new Uint8Array(31) } }],
    ['an lt of 0', { from: { lt: 0n, hash: new Uint8Array(32) } }],
  ])('are not asked for with %s', async (_, options) => {
    const { chain, source } = chainOver(ledger.zerostate, [honest]);
    const refusal = { code: 'chain/parameter', class: 'caller' };
    await expect(chain.accountTransactions(ELECTOR, options)).rejects.toMatchObject(refusal);
    expect(source.asked).toEqual([]);
  });
});

/** The same question with a count of 4 at most, which stands after the constructor. */
function shorter(query: Uint8Array): Uint8Array {
  const { bytes } = decodeLiteQuery(query);
  const changed = query.slice();
  const at = bytes.byteOffset - query.byteOffset + 4;
  changed[at] = Math.min(changed[at]!, 4);
  return changed;
}

import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { listTransactions, verifyAccountTransactions, verifyTransaction } from '#formats/proofs/transactions.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { transactionHandlers } from '#localnet/liteserver/transactions.js';
import { blockAt, contextOf, genesisLedger, refusal, strangeId } from '#test/support/genesis-ledger.js';

const ledger = genesisLedger();
const context = contextOf(ledger);
const { 'liteServer.getOneTransaction': getOne, 'liteServer.getTransactions': getList } = transactionHandlers;
const block = blockAt(ledger, 9);
const id = blockIdToTl(block.id);
const listed = [...listTransactions(decodeCell(Block, block.root), { reverse: true, after: null })];
/** The elector has two transactions in each block. */
const newest = listed.find((each) => each.account.every((byte) => byte === 0x33))!;
const account = { workchain: -1, id: newest.account };
const address = Address.ofParts(-1, newest.account);

describe('one transaction of a block', () => {
  it('is proven to be there, or not', () => {
    const found = getOne({ id, account, lt: newest.lt }, context);
    expect(verifyTransaction(block.id, newest.account, newest.lt, found)!.hash()).toEqual(newest.hash);
    for (const lt of [newest.lt + 1n, 5n, newest.lt + 10n ** 9n]) {
      const absent = getOne({ id, account, lt }, context);
      expect(absent.transaction).toHaveLength(0);
      expect(verifyTransaction(block.id, newest.account, lt, absent)).toBeNull();
    }
  });

  it('is refused for blocks that cannot have it', () => {
    const about = (of: typeof id, workchain = -1) =>
      refusal(() => getOne({ id: of, account: { ...account, workchain }, lt: newest.lt }, context));
    expect(about(id, 0)).toMatch(/^-400 requested account id is not contained/);
    expect(about({ ...id, shard: 0n })).toMatch(/^-400 block id .* is invalid$/);
    expect(about(blockIdToTl(strangeId(block.id)))).toMatch(/^651 cannot load block .* : block handle not in db$/);
  });
});

describe('transactions of an account', () => {
  const ask = (count: number, lt = newest.lt, hash = newest.hash, of = account) =>
    getList({ count, account: of, lt, hash }, context);

  it('go back from block to block, each named with its block, to the first', () => {
    let next: { readonly lt: bigint; readonly hash: Uint8Array } | null = newest;
    let total = 0;
    while (next !== null) {
      const { ids, transactions } = ask(4, next.lt, next.hash);
      const proven = verifyAccountTransactions(address, next, transactions);
      expect(ids).toHaveLength(proven.transactions.length);
      proven.transactions.forEach(({ lt }, i) => {
        const { root } = ledger.block(blockIdFromTl(ids[i]!))!;
        const all = [...listTransactions(decodeCell(Block, root), { reverse: false, after: null })];
        expect(all.some((each) => each.lt === lt)).toBe(true);
      });
      total += proven.transactions.length;
      next = proven.next === null || proven.next.lt === 0n ? null : proven.next;
    }
    expect(total).toBeGreaterThanOrEqual(9);
  });

  it('are at most 16, or none', () => {
    const { ids } = ask(1000);
    expect(ids).toHaveLength(16);
    expect(ask(0)).toEqual({ ids: [], transactions: new Uint8Array() });
    expect(ask(5, 0n)).toEqual({ ids: [], transactions: new Uint8Array() });
  });

  it('are refused when the first one is not there', () => {
    const why = (...args: Parameters<typeof ask>) => refusal(() => ask(...args));
    expect(why(1, newest.lt, new Uint8Array(32))).toBe('-400 transaction hash mismatch');
    expect(why(1, newest.lt + 1n)).toBe('-400 cannot locate transaction in block with specified logical time');
    expect(why(1, 10n ** 17n)).toMatch(/^-400 cannot compute block with specified transaction: cannot find block/);
    expect(why(1, newest.lt, newest.hash, { ...account, workchain: 5 })).toMatch(/ lt not in db$/);
    expect(why(1, newest.lt, newest.hash, { ...account, workchain: -(2 ** 31) })).toMatch(/^-400 invalid workchain/);
  });
});

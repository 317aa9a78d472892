import { describe, expect, it } from 'vitest';
import { type Address, parseAddress } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { AccountStateOptions, AccountStateRead } from '#services/chain/accounts.js';
import { chainFacts } from '#test/support/chain-facts.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { chainOver, replayServer } from '#test/support/replayed-chain.js';
import { vectorPath } from '#test/support/vector-files.js';

const FOLDER = vectorPath('collection/recorded-net/chain');
/** The shard is split by block 351, and its halves are merged by block 414. */
const RANGES = [
  [346, 358],
  [410, 420],
] as const;

const facts = chainFacts(FOLDER);

/** Accounts that have transactions in these blocks, and some that have none. */
function accountsIn(from: number, to: number): readonly Address[] {
  const times = (seqno: number) => facts.masterchain[seqno]!.gen_utime;
  const counts = new Map<string, number>();
  const raw = (list: readonly string[]) => list.map((each) => parseAddress(each).address);
  for (const { transactions, gen_utime } of facts.shards) {
    for (const { account } of transactions) {
      const isIn = gen_utime >= times(from) && gen_utime <= times(to);
      if (gen_utime <= times(to)) counts.set(account, (counts.get(account) ?? 0) + (isIn ? 1 : 0));
    }
  }
  const of = (wanted: (count: number) => boolean) =>
    [...counts].filter(([, count]) => wanted(count)).map(([each]) => each);
  const absent = `0:${'77'.repeat(32)}`;
  return raw([...of((count) => count > 0).slice(0, 10), ...of((count) => count === 0).slice(0, 6), absent]);
}

function open(head: number, accountBytes: number) {
  const ledger = keptReplay(FOLDER, { to: RANGES[1][1], head });
  const { chain, source } = chainOver(ledger.zerostate, [replayServer(ledger)], { accountBytes });
  const advance = (seqno: number): void => {
    ledger.advanceTo(seqno);
    source.headSeqno = seqno;
  };
  const reads = () => source.asked.filter(({ fn }) => fn.startsWith('liteServer.getAccountState')).length;
  return { chain, advance, reads };
}

/** All that is told about an account, in texts. */
function told({ cell, account: _, ...rest }: AccountStateRead): unknown {
  return { ...rest, cell: cell && Buffer.from(serializeBoc(cell)).toString('hex') };
}

describe('account states that are kept', () => {
  it.each(RANGES)('are what the liteserver proves, in each block from %i to %i', async (from, to) => {
    const through = open(from, 1 << 24);
    const around = open(from, 0);
    const accounts = accountsIn(from, to);
    let pairs = 0;
    for (let seqno = from; seqno <= to; seqno++) {
      for (const each of [through, around]) each.advance(seqno);
      for (const address of accounts) {
        const [kept, read] = await Promise.all([through, around].map(({ chain }) => chain.account(address)));
        expect(told(kept!), `${address.toRaw()} at ${seqno}`).toEqual(told(read!));
        expect(kept!.block.seqno).toBe(seqno);
        pairs++;
      }
    }
    expect(around.reads()).toBe(pairs);
    expect(through.reads()).toBeLessThan(pairs / 2);
    expect(around.chain.keptAccounts).toBeNull();
    const { hits, misses, entries } = through.chain.keptAccounts!;
    expect([hits + misses, misses, entries > 0]).toEqual([pairs, through.reads(), true]);
  });

  it('are read anew with a proof, without caches, and at other blocks', async () => {
    const { chain, advance, reads } = open(415, 1 << 24);
    const [first, second] = accountsIn(415, 418).slice(10);
    const readBoth = async (options: AccountStateOptions = {}) => {
      for (const address of [first!, second!]) await chain.account(address, options);
    };
    const newReads = async (options?: AccountStateOptions): Promise<number> => {
      const before = reads();
      await readBoth(options);
      return reads() - before;
    };
    advance(415);
    await readBoth();
    advance(416);
    await readBoth();
    advance(417);
    await readBoth();
    expect(await newReads()).toBe(0);
    expect(await newReads({ pruned: true })).toBe(0);
    expect(await newReads({ at: 417 })).toBe(0);
    expect(await newReads({ proof: true })).toBe(2);
    expect((await chain.account(first!, { proof: true })).proof!.proof.length).toBeGreaterThan(100);
    expect(await newReads({ cache: false })).toBe(2);
    expect(await newReads({ at: 416 })).toBe(2);
    expect(await newReads()).toBe(0);
  });

  it('of a pruned read serve pruned reads only, and none are kept of accounts that do not exist', async () => {
    const { chain, advance, reads } = open(415, 1 << 24);
    const accounts = accountsIn(415, 418).slice(10);
    for (let seqno = 415; seqno <= 418; seqno++) {
      advance(seqno);
      for (const address of accounts) await chain.account(address, { pruned: true });
    }
    const before = reads();
    const absent: string[] = [];
    const onAbsent = (address: Address) => void absent.push(address.toRaw());
    for (const address of accounts) await chain.account(address, { pruned: true, onAbsent });
    expect([reads() - before, absent]).toEqual([1, [`0:${'77'.repeat(32)}`]]);
    const { cell } = await chain.account(accounts[0]!);
    expect(cell!.level).toBe(0);
    expect(reads() - before).toBe(2);
  });

  it('are bounded in memory, and none are kept without any', async () => {
    for (const accountBytes of [0, 1_000]) {
      const { chain, advance, reads } = open(415, accountBytes);
      const accounts = accountsIn(415, 418).slice(10, 14);
      for (const seqno of [415, 416, 417]) {
        advance(seqno);
        for (const address of accounts) await chain.account(address);
      }
      expect(reads()).toBe(3 * accounts.length);
    }
  });
});

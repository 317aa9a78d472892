import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { shardChildren } from '#formats/tlb/block-id.js';
import { ChangedAccounts } from '#services/chain/changed-accounts.js';
import { chainErrors } from '#services/chain/errors.js';
import type { ReadContext } from '#services/chain/read-context.js';

const WHOLE = 1n << 63n;
const [LEFT, RIGHT] = shardChildren(WHOLE);
const BUSY = Address.ofParts(0, new Uint8Array(32).fill(0x11));
const QUIET = Address.ofParts(0, new Uint8Array(32).fill(0x22));
const FAR = Address.ofParts(0, new Uint8Array(32).fill(0xee));

interface FakeBlock {
  readonly id: BlockId;
  readonly prev: readonly FakeBlock[];
  readonly accounts: readonly Address[];
}

let blocks = 0;

function blockId(workchain: number, shard: bigint, seqno: number): BlockId {
  const hash = new Uint8Array(32);
  new DataView(hash.buffer).setUint32(0, ++blocks);
  return { workchain, shard, seqno, root_hash: hash, file_hash: hash };
}

function shardBlock(
  prev: readonly FakeBlock[],
  accounts: readonly Address[] = [],
  shard = prev[0]!.id.shard,
): FakeBlock {
  const seqno = Math.max(...prev.map(({ id }) => id.seqno)) + 1;
  return { id: blockId(0, shard, seqno), prev, accounts };
}

/** A chain of which every block is told, and what is asked of it. */
class FakeChain {
  readonly #files = new Map<string, FakeBlock>();
  readonly #tops = new Map<string, readonly FakeBlock[]>();
  seqno = 9;
  files = 0;
  isDown = false;
  /** A block file ends in an error that no server causes. */
  isBroken = false;
  nowMs = 0;
  /** What a block file takes. */
  fileMs = 0;
  head = this.commit([{ id: blockId(0, WHOLE, 5), prev: [], accounts: [] }]);
  readonly changes = new ChangedAccounts({
    newContext: () => ({}) as ReadContext,
    shardTops: { all: async (_, { id }) => ({ value: this.#topsOf(id), answer: null as never }) },
    blockData: { blockFile: async (_, { id }) => this.#file(id) },
    clock: { now: () => this.nowMs },
  });

  /** A masterchain block with these shard tops. */
  commit(tops: readonly FakeBlock[]): BlockId {
    const add = (block: FakeBlock): void => {
      this.#files.set(key(block.id), block);
      block.prev.forEach(add);
    };
    tops.forEach(add);
    this.head = blockId(-1, WHOLE, ++this.seqno);
    this.#tops.set(key(this.head), tops);
    return this.head;
  }

  get tops(): readonly FakeBlock[] {
    return this.#tops.get(key(this.head))!;
  }

  /** Reads ask for the head until it is followed. @returns how many did */
  async follow(id = this.head): Promise<number> {
    for (let asked = 1; asked < 100; asked++) {
      const following = this.changes.follow({ id, gen_utime: null, mc_seqno: id.seqno });
      if (following === undefined) continue;
      await following;
      return asked;
    }
    return 100;
  }

  topOf(address: Address, id = this.head): BlockId | undefined {
    return this.changes.topAt({ id, gen_utime: null, mc_seqno: id.seqno }, address)?.block;
  }

  isUnchanged(address: Address, seqno: number): boolean {
    return this.changes.isUnchanged(address.toRaw(), seqno);
  }

  #topsOf(id: BlockId): never {
    if (this.isDown) throw chainErrors.deadline({ ms: 1 });
    const entryOf = ({ id: { workchain, shard } }: FakeBlock) => ({ workchain, shard, descr: {} });
    return this.#tops.get(key(id))!.map((top) => ({ block: top.id, entry: entryOf(top) })) as never;
  }

  #file(id: BlockId): never {
    this.files++;
    this.nowMs += this.fileMs;
    if (this.isBroken) throw new TypeError('a fault');
    const { prev, accounts } = this.#files.get(key(id))!;
    const account_blocks = { value: accounts.map(({ hash }) => [hash, null]) };
    return { header: { prev: prev.map((each) => each.id), block: { extra: { value: { account_blocks } } } } } as never;
  }
}

function key({ root_hash }: BlockId): string {
  return Buffer.from(root_hash).toString('hex');
}

describe('changes of accounts', () => {
  it('are not known before a masterchain block is followed, nor for blocks before it', async () => {
    const chain = new FakeChain();
    expect([chain.topOf(QUIET), chain.isUnchanged(QUIET, 10)]).toEqual([undefined, false]);
    expect(await chain.follow()).toBe(2);
    expect(chain.topOf(QUIET)).toEqual(chain.tops[0]!.id);
    expect([chain.isUnchanged(QUIET, 10), chain.isUnchanged(QUIET, 9)]).toEqual([true, false]);
    expect(chain.files).toBe(0);
  });

  it('are those of all blocks since: of several in one masterchain block, and of several of these', async () => {
    const chain = new FakeChain();
    await chain.follow();
    const [first] = chain.tops;
    const second = shardBlock([shardBlock([first!], [BUSY])]);
    chain.commit([second]);
    expect(chain.topOf(QUIET)).toBeUndefined();
    await chain.follow();
    expect(chain.files).toBe(2);
    expect(chain.topOf(QUIET)).toEqual(second.id);
    expect([chain.isUnchanged(QUIET, 10), chain.isUnchanged(BUSY, 10), chain.isUnchanged(BUSY, 11)]).toEqual([
      ...[true, false, true],
    ]);
    chain.commit([shardBlock([second], [FAR])]);
    chain.commit([shardBlock(chain.tops)]);
    await chain.follow();
    expect(chain.files).toBe(4);
    expect([QUIET, BUSY, FAR].map((each) => chain.isUnchanged(each, 11))).toEqual([true, true, false]);
    // In which of the two blocks it was is not remembered.
    expect([chain.isUnchanged(FAR, 12), chain.isUnchanged(FAR, 13)]).toEqual([false, true]);
  });

  it('are none while the shard top is the same, and nothing is read', async () => {
    const chain = new FakeChain();
    await chain.follow();
    chain.commit(chain.tops);
    await chain.follow();
    expect([chain.files, chain.isUnchanged(BUSY, 10)]).toEqual([0, true]);
    expect(chain.topOf(BUSY)).toEqual(chain.tops[0]!.id);
  });

  it('are known across splits and merges', async () => {
    const chain = new FakeChain();
    await chain.follow();
    const last = shardBlock(chain.tops, [BUSY]);
    chain.commit([shardBlock([last], [], LEFT), shardBlock([last], [FAR], RIGHT)]);
    await chain.follow();
    expect(chain.files).toBe(3);
    expect([chain.topOf(BUSY)?.shard, chain.topOf(FAR)?.shard]).toEqual([LEFT, RIGHT]);
    expect([BUSY, QUIET, FAR].map((each) => chain.isUnchanged(each, 10))).toEqual([false, true, false]);
    const [left, right] = chain.tops;
    chain.commit([shardBlock([shardBlock([left!]), shardBlock([right!], [FAR])], [QUIET], WHOLE)]);
    await chain.follow();
    expect(chain.files).toBe(6);
    expect(chain.topOf(FAR)?.shard).toBe(WHOLE);
    expect([BUSY, QUIET, FAR].map((each) => chain.isUnchanged(each, 11))).toEqual([true, false, false]);
  });

  it('are forgotten when too many masterchain blocks came meanwhile, or a workchain is new', async () => {
    const chain = new FakeChain();
    await chain.follow();
    for (let i = 0; i < 9; i++) chain.commit([shardBlock(chain.tops)]);
    await chain.follow();
    expect(chain.files).toBe(0);
    expect([chain.isUnchanged(QUIET, 18), chain.isUnchanged(QUIET, 19)]).toEqual([false, true]);
    const other = { id: blockId(1, WHOLE, 0), prev: [], accounts: [] };
    chain.commit([shardBlock(chain.tops), shardBlock([other])]);
    await chain.follow();
    expect([chain.isUnchanged(QUIET, 19), chain.isUnchanged(QUIET, 20)]).toEqual([false, true]);
  });

  it('are not told for a block that is behind, or on another branch', async () => {
    const chain = new FakeChain();
    const before = chain.head;
    chain.commit([shardBlock(chain.tops)]);
    await chain.follow();
    expect(chain.topOf(QUIET, before)).toBeUndefined();
    expect(chain.topOf(QUIET, blockId(-1, WHOLE, chain.seqno))).toBeUndefined();
    expect(await chain.follow(before)).toBe(100);
    expect(chain.topOf(QUIET)).toBeDefined();
  });

  it('are not told for a block whose shard blocks no server has', async () => {
    const chain = new FakeChain();
    await chain.follow();
    const { head } = chain;
    chain.commit([shardBlock(chain.tops, [BUSY])]);
    chain.isDown = true;
    await chain.follow();
    expect([chain.topOf(BUSY), chain.topOf(BUSY, head)]).toEqual([undefined, chain.tops[0]!.prev[0]!.id]);
    expect(await chain.follow()).toBe(100);
    chain.isDown = false;
    for (let i = 0; i < 8; i++) chain.commit([shardBlock(chain.tops)]);
    expect(await chain.follow()).toBe(100);
    chain.commit([shardBlock(chain.tops)]);
    await chain.follow();
    expect([chain.isUnchanged(QUIET, chain.seqno - 1), chain.isUnchanged(QUIET, chain.seqno)]).toEqual([false, true]);
  });

  it('are read once as many reads have asked as there are blocks to read', async () => {
    const chain = new FakeChain();
    await chain.follow();
    for (let i = 0; i < 5; i++) chain.commit([shardBlock(chain.tops)]);
    expect(await chain.follow()).toBe(5);
    const id = chain.commit([shardBlock(chain.tops)]);
    const [one, two] = [0, 1].map(() => chain.changes.follow({ id, gen_utime: null, mc_seqno: id.seqno }));
    expect([one, two]).toEqual([undefined, expect.any(Promise)]);
    expect(chain.changes.follow({ id, gen_utime: null, mc_seqno: id.seqno })).toBe(two);
  });

  it('are not waited for when the blocks before took long', async () => {
    const chain = new FakeChain();
    const wait = (id: BlockId) => {
      const block = { id, gen_utime: null, mc_seqno: id.seqno };
      return [0, 1, 2].map(() => chain.changes.follow(block)).find((following) => following !== undefined);
    };
    await chain.follow();
    chain.fileMs = 200;
    expect(wait(chain.commit([shardBlock(chain.tops)]))).toBeDefined();
    await delay(1);
    chain.fileMs = 10;
    expect(wait(chain.commit([shardBlock(chain.tops)]))).toBeUndefined();
    await delay(1);
    // It is read all the same.
    expect(chain.topOf(QUIET)).toEqual(chain.tops[0]!.id);
    expect(wait(chain.commit([shardBlock(chain.tops)]))).toBeDefined();
  });

  it('that cannot be read because of a fault end reads that wait for them, and nothing else', async () => {
    const chain = new FakeChain();
    await chain.follow();
    chain.isBroken = true;
    chain.commit([shardBlock(chain.tops)]);
    await expect(chain.follow()).rejects.toThrow('a fault');
    chain.isBroken = false;
    for (let i = 0; i < 9; i++) chain.commit(chain.tops);
    await chain.follow();
    chain.fileMs = 200;
    chain.commit([shardBlock(chain.tops)]);
    await chain.follow();
    chain.isBroken = true;
    chain.commit([shardBlock(chain.tops)]);
    // Nobody waits, and a rejection that nobody handles would end the process.
    expect(await chain.follow()).toBe(100);
    await delay(1);
    expect(chain.topOf(QUIET)).toBeUndefined();
  });
});

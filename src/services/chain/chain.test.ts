import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { encodeBoxed } from '#formats/tl/constructor.js';
import { LiteServerError } from '#formats/tl/lite-api.js';
import { silentLogger } from '#kernel/logger.js';
import { Chain } from '#services/chain/chain.js';
import { chainErrors } from '#services/chain/errors.js';
import { KeyBlockMemory } from '#services/chain/key-blocks.js';
import { DirectSource } from '#test/support/direct-source.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { chainOver, replayServer } from '#test/support/replayed-chain.js';
import { vectorPath } from '#test/support/vector-files.js';

const ELECTOR = Address.ofParts(-1, new Uint8Array(32).fill(0x33));
const WHOLE = 1n << 63n;
const ledger = keptReplay(vectorPath('mainnet-genesis'), { to: 9, head: null });
const honest = replayServer(ledger);
const { zerostate } = ledger;
const open = () => chainOver(zerostate, [honest]);

describe('a read', () => {
  it('is refused before anything is asked when it cannot have an answer', async () => {
    const { chain, source } = open();
    const hash = new Uint8Array(31);
    const refused: [string, Promise<unknown>][] = [
      ['chain/parameter', chain.header({ at: -1 })],
      ['chain/parameter', chain.header({ at: 1.5 })],
      ['chain/zerostate', chain.header({ at: 0 })],
      ['chain/zerostate', chain.findBlock({ workchain: -1, shard: WHOLE, by: 'seqno', seqno: 0 })],
      ['chain/parameter', chain.findBlock({ workchain: 0, shard: 0n, by: 'seqno', seqno: 1 })],
      ['chain/parameter', chain.findBlock({ workchain: 0, shard: WHOLE, by: 'lt', lt: -1n })],
      ['chain/parameter', chain.findBlock({ workchain: 0, shard: WHOLE, by: 'utime', utime: 2 ** 32 })],
      ['chain/parameter', chain.findBlock({ workchain: 2 ** 31, shard: WHOLE, by: 'utime', utime: 1 })],
      ['chain/masterchain-only', chain.shards({ at: { ...zerostate, workchain: 0 } })],
      ['chain/parameter', chain.shard({ workchain: -1, shard: WHOLE })],
      ['chain/parameter', chain.transactionIds({ count: 257 })],
      ['chain/parameter', chain.transactionIds({ after: { account: hash, lt: 1n } })],
      ['chain/parameter', chain.configParams([])],
      ['chain/parameter', chain.configParams([2 ** 31])],
      ['chain/parameter', chain.libraries([hash])],
    ];
    for (const [code, read] of refused) await expect(read).rejects.toMatchObject({ code, class: 'caller' });
    expect(source.asked).toEqual([]);
  });

  it('of a block that is not in the chain says so', async () => {
    const { chain } = open();
    const id = await chain.blockId(5);
    const other = { ...id, root_hash: zerostate.root_hash };
    const absent = { class: 'not-found', code: 'chain/block-not-in-chain' };
    await expect(chain.header({ at: other })).rejects.toMatchObject(absent);
    await expect(open().chain.account(ELECTOR, { at: other })).rejects.toMatchObject(absent);
    await expect(chain.header({ at: 10 })).rejects.toMatchObject({ code: 'chain/block-not-found' });
  });

  it('gives the answer back when it is wanted, and only then', async () => {
    const { chain } = open();
    expect((await chain.account(ELECTOR)).proof).toBeNull();
    const { proof, block } = await chain.account(ELECTOR, { proof: true });
    expect(proof!.id.seqno).toBe(block.seqno);
    expect(proof!.proof.length).toBeGreaterThan(100);
    expect((await chain.allBlockTransactions({ proof: true })).proof).toHaveLength(1);
    expect((await chain.config({ proof: true })).proof!.config_proof.length).toBeGreaterThan(1000);
  });

  it('of many transactions goes on from page to page', async () => {
    const { chain } = open();
    const all = (await chain.allBlockTransactions({ at: 8 })).transactions;
    expect(all.length).toBeGreaterThan(3);
    let after: { readonly account: Uint8Array; readonly lt: bigint } | undefined;
    const paged: bigint[] = [];
    for (let more = true; more; ) {
      const page = await chain.blockTransactions({ at: 8, count: 2, ...(after === undefined ? {} : { after }) });
      for (const { lt } of page.transactions) paged.push(lt);
      more = page.incomplete;
      after = page.transactions.at(-1) ?? after;
    }
    expect(paged).toEqual(all.map(({ lt }) => lt));
  });

  it('of a shard that there is not, is proven to be nothing', async () => {
    const { chain } = open();
    await expect(chain.shard({ workchain: 0, shard: 1n << 62n }, { exact: true })).rejects.toMatchObject({
      code: 'chain/shard-not-found',
    });
    const around = await chain.shard({ workchain: 0, shard: 1n << 62n });
    expect(around.shard.entry.shard).toBe(WHOLE);
  });

  it('ends with its deadline or its signal', async () => {
    const { chain, clock } = chainOver(zerostate, [
      async (query) => {
        clock.advance(60);
        return honest(query);
      },
    ]);
    await expect(chain.header({ at: 5, deadlineMs: 100 })).rejects.toMatchObject({
      code: 'chain/deadline',
      data: { ms: 100 },
    });
    expect((await chain.header({ at: 5, deadlineMs: 1000 })).gen_utime).toBeGreaterThan(0);
    await expect(chain.header({ at: 6, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'chain/aborted' });
  });

  it('passes on what servers say when none has an answer', async () => {
    const down = encodeBoxed(LiteServerError, { code: -400, message: 'no' });
    const { chain } = chainOver(zerostate, [() => Promise.resolve(down)]);
    await expect(chain.head()).rejects.toMatchObject({ code: 'lite/answer-error', data: { text: 'no' } });
  });

  it('of blocks already proven asks nothing again about their place in the chain', async () => {
    const { chain, source } = open();
    const { header } = await chain.blockData({ at: 7 });
    const before = source.asked.length;
    await chain.header({ at: header.prev[0]! });
    expect(source.asked.slice(before).map(({ fn }) => fn)).toEqual(['liteServer.getBlockHeader']);
    const { shards } = await chain.shards({ at: 7 });
    await chain.header({ at: shards[0]!.block });
    expect(source.asked.slice(before).map(({ fn }) => fn)).not.toContain('liteServer.lookupBlockWithProof');
  });

  it('of what a proven block names needs no proof of its own, and leaves none behind', async () => {
    const { chain, source } = open();
    const { header } = await chain.blockData({ at: 7 });
    const [prev] = header.prev;
    const before = source.asked.length;
    const file = await chain.blockFile({ id: prev!, gen_utime: null, mc_seqno: 6 });
    expect(file.data).toEqual((await open().chain.blockData({ at: 6 })).data);
    expect(file.header.prev).toEqual([await open().chain.blockId(5)]);
    const older = await chain.blockFile({ id: file.header.prev[0]!, gen_utime: null, mc_seqno: 5 });
    const account = await chain.accountAfter(ELECTOR, { id: older.id, gen_utime: null, mc_seqno: 5 });
    expect(account.cell!.hash()).toEqual((await open().chain.account(ELECTOR, { at: 5 })).cell!.hash());
    const asked = source.asked.slice(before).map(({ fn }) => fn);
    expect(asked).toEqual(['liteServer.getBlock', 'liteServer.getBlock', 'liteServer.getAccountState']);
    await chain.blockId(4);
    expect(source.asked.at(-1)!.fn).toBe('liteServer.lookupBlockWithProof');
  });

  it('of what a proven block names is refused where there is nothing to name', async () => {
    const { chain, source } = open();
    const zero = { id: zerostate, gen_utime: null, mc_seqno: 0 };
    await expect(chain.blockFile(zero)).rejects.toMatchObject({ code: 'chain/zerostate' });
    await expect(chain.accountAfter(ELECTOR, zero)).rejects.toMatchObject({ code: 'chain/zerostate' });
    const shard = { id: { ...zerostate, workchain: 0, seqno: 1 }, gen_utime: null, mc_seqno: 1 };
    await expect(chain.accountAfter(ELECTOR, shard)).rejects.toMatchObject({ code: 'chain/parameter' });
    expect(source.asked).toEqual([]);
  });
});

describe('a chain', () => {
  const modules = () => ({
    source: new DirectSource(honest),
    clock: new FakeClock(),
    keyBlocks: new KeyBlockMemory(),
    logger: silentLogger,
  });

  it.each([[{ deadlineMs: 0 }], [{ headMaxAgeMs: -1 }], [{ provenBlocks: 2.5 }], [{ sendFanOut: 1000 }]])(
    'is not made with %o',
    (options) => {
      expect(() => new Chain({ zero_state: zerostate, ...options }, modules())).toThrow(
        /expected: a whole number from/,
      );
    },
  );

  it('does not start from a block of a workchain', () => {
    const zero_state = { ...zerostate, workchain: 0 };
    expect(() => new Chain({ zero_state }, modules())).toThrow(/not a masterchain block/);
  });
});

describe('a chain whose accounts come from elsewhere', () => {
  const nobody = Address.ofParts(-1, new Uint8Array(32).fill(0x12));

  function openBringing(importAccount: (address: Address) => Promise<number | null>) {
    const source = new DirectSource(honest);
    const clock = new FakeClock();
    const shared = { source, clock, keyBlocks: new KeyBlockMemory(), logger: silentLogger };
    return { chain: new Chain({ zero_state: zerostate }, { ...shared, importAccount }), source, clock };
  }

  it('has them brought before they are read at the head, and only then', async () => {
    const brought: string[] = [];
    const { chain } = openBringing(async (address) => {
      brought.push(address.toRaw());
      return null;
    });
    await chain.account(ELECTOR);
    await chain.account(ELECTOR, { at: 'head' });
    await chain.accountTransactions(ELECTOR, { limit: 1 });
    for await (const _ of chain.walkTransactions(ELECTOR, { limit: 1 })) break;
    expect(brought).toEqual(Array.from({ length: 4 }, () => ELECTOR.toRaw()));
    const { last_transaction } = await chain.account(ELECTOR, { at: 5 });
    await chain.accountTransactions(ELECTOR, { from: last_transaction!, limit: 1 });
    expect(brought).toHaveLength(4);
  });

  it('looks for a newer head when an account has come with one, as long as it does not have it', async () => {
    const { chain, source } = openBringing(async () => 9);
    await chain.head();
    const proofs = () => source.asked.filter(({ fn }) => fn === 'liteServer.getBlockProof').length;
    const before = proofs();
    await chain.account(ELECTOR);
    expect(proofs()).toBe(before);
    const ahead = openBringing(async () => 10);
    await ahead.chain.head();
    const first = ahead.source.asked.length;
    await ahead.chain.account(ELECTOR);
    expect(ahead.source.asked[first]!.fn).toBe('liteServer.getBlockProof');
  });

  it('fails when they cannot be brought, or not in time', async () => {
    const { chain } = openBringing(() => Promise.reject(chainErrors.aborted({})));
    await expect(chain.account(ELECTOR)).rejects.toMatchObject({ code: 'chain/aborted' });
    const { chain: slow, clock } = openBringing(() => new Promise(() => {}));
    const reading = slow.account(ELECTOR, { deadlineMs: 100 });
    reading.catch(() => {});
    await Promise.resolve();
    clock.advance(200);
    await expect(reading).rejects.toMatchObject({ code: 'chain/deadline' });
  });

  it('reports accounts that are not there', async () => {
    const absent: string[] = [];
    const onAbsent = (address: Address) => void absent.push(address.toRaw());
    const { chain } = open();
    await chain.account(ELECTOR, { onAbsent });
    expect(absent).toEqual([]);
    await chain.account(nobody, { onAbsent });
    await chain.account(nobody, { onAbsent, at: 5, pruned: true });
    expect(absent).toEqual([nobody.toRaw(), nobody.toRaw()]);
  });
});

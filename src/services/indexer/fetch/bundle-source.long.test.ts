import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { printBlockId } from '#formats/proofs/block-id.js';
import { decodeBoxed, encodeBoxed } from '#formats/tl/constructor.js';
import { LiteServerBlockData, LiteServerError } from '#formats/tl/lite-api.js';
import { decodeLiteQuery } from '#formats/tl/lite-query.js';
import { accountPrefix, shardContains } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { systemClock } from '#kernel/clock.js';
import { type LogFields, silentLogger } from '#kernel/logger.js';
import { Chain } from '#services/chain/chain.js';
import { KeyBlockMemory } from '#services/chain/key-blocks.js';
import { BundleSource } from '#services/indexer/fetch/bundle-source.js';
import type { McBlockBundle } from '#services/indexer/fetch/mc-block-bundle.js';
import type { FetchOptions } from '#services/indexer/options.js';
import { type DirectServer, DirectSource } from '#test/support/direct-source.js';
import { type ExpectedBundle, expectedBundles } from '#test/support/expected-bundles.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { replayServer as serverOf } from '#test/support/replayed-chain.js';
import { vectorPath } from '#test/support/vector-files.js';

const DEV_CHAIN = fileURLToPath(new URL('../../../../vectors/dev-chain', import.meta.url));
const dev = keptReplay(DEV_CHAIN, { to: null, head: null });
const expected = expectedBundles(DEV_CHAIN);
const last = dev.lastSeqno;

const replayServer = (ledger: typeof dev) => serverOf(ledger, systemClock);

interface Opened {
  readonly bundles: BundleSource;
  readonly source: DirectSource;
  readonly warnings: LogFields[];
}

function roundsOver(servers: readonly DirectServer[], options: Partial<FetchOptions> = {}, ledger = dev): Opened {
  const source = new DirectSource(...servers);
  const keyBlocks = new KeyBlockMemory();
  const chain = new Chain(
    { zero_state: ledger.zerostate },
    { source, clock: systemClock, keyBlocks, logger: silentLogger },
  );
  const warnings: LogFields[] = [];
  const logger = { info() {}, warn: (_: string, fields?: LogFields) => void warnings.push(fields!) };
  const quick = { retryMinMs: 1, retryMaxMs: 4, reportEveryMs: 0 };
  const bundles = new BundleSource({ ...quick, ...options }, { chain, clock: systemClock, logger });
  return { bundles, source, warnings };
}

function print({ mc_seqno, blocks }: McBlockBundle) {
  return { mc_seqno, blocks: blocks.map(({ id, data }) => ({ id: printBlockId(id), size: data.length })) };
}

function wanted({ mc_seqno, blocks }: ExpectedBundle) {
  return { mc_seqno, blocks: blocks.map(({ id, data }) => ({ id, size: data.length })) };
}

async function all(bundles: AsyncIterable<McBlockBundle>): Promise<McBlockBundle[]> {
  const found: McBlockBundle[] = [];
  for await (const bundle of bundles) found.push(bundle);
  return found;
}

/** Answers getBlock with something else. */
function changing(
  honest: DirectServer,
  change: (answer: LiteServerBlockData, asked: number) => Uint8Array,
): DirectServer {
  let asked = 0;
  return async (query) => {
    const answer = await honest(query);
    if (decodeLiteQuery(query).call.name !== 'liteServer.getBlock') return answer;
    return change(decodeBoxed(answer, LiteServerBlockData).value, asked++);
  };
}

const missing = encodeBoxed(LiteServerError, { code: 651, message: 'block handle not in db' });

describe('bundles of a range', () => {
  it.each<[string, number, number, Partial<FetchOptions>]>([
    ['all, as it is set', 1, last, {}],
    ['all, each with a proof of its own', 1, last, { segmentLength: 1 }],
    ['all, in segments of seven', 1, last, { segmentLength: 7, aheadBundles: 20, maxInFlight: 3 }],
    ['all, one at a time', 1, last, { aheadBundles: 1, maxInFlight: 1 }],
    ['all, with few bytes', 1, last, { aheadBytes: 1000 }],
    ['all, with hardly enough bytes', 1, last, { aheadBytes: 300_000, segmentLength: 16 }],
    ['some in the middle', 100, 150, {}],
    ['the last one', last, last, {}],
    ['the first one', 1, 1, {}],
  ])('are as the files say: %s', async (_, from, to, options) => {
    const { bundles, source } = roundsOver([replayServer(dev)], options);
    const found = await all(bundles.bundles(from, to));
    expect(found.map(print)).toEqual(expected.slice(from, to + 1).map(wanted));
    for (const { mc_seqno, blocks } of found) {
      for (const [i, { data }] of blocks.entries()) {
        expect(Buffer.compare(data, expected[mc_seqno]!.blocks[i]!.data), `${mc_seqno}/${i}`).toBe(0);
      }
    }
    expect(source.faults).toEqual([]);
    // Each file once, and that of the masterchain block before the range.
    const files = found.reduce((sum, { blocks }) => sum + blocks.length, from > 1 ? 1 : 0);
    expect(source.asked.filter(({ fn }) => fn === 'liteServer.getBlock')).toHaveLength(files);
  });

  it('need one proof a segment, of which there are fewer once it is known that answers come soon', async () => {
    const { bundles, source } = roundsOver([replayServer(dev)], { segmentLength: 16 });
    const proofs = () => source.asked.filter(({ fn }) => fn === 'liteServer.lookupBlockWithProof').length;
    await all(bundles.bundles(1, 160));
    expect(proofs()).toBe(20);
    await all(bundles.bundles(161, 320));
    expect(proofs()).toBeGreaterThanOrEqual(30);
    expect(proofs()).toBeLessThan(40);
  });

  it('of mainnet have several blocks of a shard at once', async () => {
    const folder = vectorPath('mainnet-genesis');
    const ledger = keptReplay(folder, { to: 9, head: null });
    const { bundles } = roundsOver([replayServer(ledger)], {}, ledger);
    const found = await all(bundles.bundles(1, 9));
    expect(found.map(print)).toEqual(expectedBundles(folder).slice(1, 10).map(wanted));
    expect(Math.max(...found.map(({ blocks }) => blocks.length))).toBeGreaterThan(3);
  });

  it('go over the split of a shard', () => {
    expect(expected.reduce((sum, { afterSplit }) => sum + afterSplit, 0)).toBeGreaterThan(0);
  });

  it('are fetched no further ahead than is allowed', async () => {
    const { bundles, source } = roundsOver([replayServer(dev)], { segmentLength: 4, aheadBundles: 12 });
    const found = bundles.bundles(1, last);
    await found.next();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const blocks = expected.slice(1, 13).reduce((sum, bundle) => sum + bundle.blocks.length, 0);
    expect(source.asked.filter(({ fn }) => fn === 'liteServer.getBlock')).toHaveLength(blocks);
    await found.return();
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(source.asked.filter(({ fn }) => fn === 'liteServer.getBlock')).toHaveLength(blocks);
  });

  it('hold no more bytes than is allowed, but for the segment that is due', async () => {
    const aheadBytes = 100_000;
    let bytes = 0;
    const counting = changing(replayServer(dev), (answer) => {
      bytes += answer.data.length;
      return encodeBoxed(LiteServerBlockData, answer);
    });
    const { bundles } = roundsOver([counting], { segmentLength: 4, aheadBytes });
    const found = bundles.bundles(1, last);
    const sizes = expected.map(({ blocks }) => blocks.reduce((sum, { data }) => sum + data.length, 0));
    const largest = Math.max(...sizes.slice(1));
    let taken = 0;
    for (let seqno = 1; seqno <= 100; seqno++) {
      await found.next();
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(bytes - taken, String(seqno)).toBeLessThan(aheadBytes + 4 * largest);
      taken += sizes[seqno]!;
    }
    await found.return();
    expect(sizes.slice(1, 101).reduce((sum, size) => sum + size, 0)).toBeGreaterThan(2 * aheadBytes);
  });

  it.each([
    ['from', 0, 5],
    ['from', 1.5, 5],
    ['to', 5, 4],
    ['to', 5, 2 ** 32],
  ])('are refused when %s is out of range', (name, from, to) => {
    const { bundles } = roundsOver([]);
    expect(() => bundles.bundles(from, to)).toThrow(
      expect.objectContaining({ code: 'indexer/parameter', data: expect.objectContaining({ name }) }),
    );
  });
});

describe('a bundle', () => {
  it('comes as soon as its masterchain block does', async () => {
    const ledger = keptReplay(DEV_CHAIN, { to: 60, head: 40 });
    const { bundles, source } = roundsOver([replayServer(ledger)], {}, ledger);
    for (let seqno = 39; seqno <= 60; seqno++) {
      let early = true;
      const next = bundles.bundle(seqno).then((bundle) => {
        expect(early).toBe(false);
        return bundle;
      });
      if (seqno > 40) await new Promise((resolve) => setTimeout(resolve, 5));
      early = false;
      ledger.advanceTo(seqno);
      expect(print(await next)).toEqual(wanted(expected[seqno]!));
    }
    // What the masterchain block before committed is remembered: no block is read for it but the first time.
    const files = expected.slice(39, 61).reduce((sum, { blocks }) => sum + blocks.length, 1);
    expect(source.asked.filter(({ fn }) => fn === 'liteServer.getBlock')).toHaveLength(files);
  });

  it('that is waited for ends with the signal', async () => {
    const { bundles } = roundsOver([replayServer(dev)]);
    const controller = new AbortController();
    const next = bundles.bundle(last + 1, controller.signal);
    setTimeout(() => controller.abort(), 20);
    await expect(next).rejects.toMatchObject({ code: 'chain/aborted' });
    await expect(bundles.bundle(5, AbortSignal.abort())).rejects.toMatchObject({ code: 'chain/aborted' });
  });
});

describe('a server that lies', () => {
  const honest = replayServer(dev);
  const lies: [string, string, (answer: LiteServerBlockData, asked: number) => Uint8Array][] = [
    [
      'a flipped bit',
      'proofs/file-hash',
      ({ data, ...rest }, asked) => {
        const changed = data.slice();
        changed[(asked * 7919) % changed.length]! ^= 1 << (asked % 8);
        return encodeBoxed(LiteServerBlockData, { ...rest, data: changed });
      },
    ],
    [
      'half a file',
      'proofs/file-hash',
      ({ data, ...rest }) => encodeBoxed(LiteServerBlockData, { ...rest, data: data.slice(0, data.length >> 1) }),
    ],
    [
      'no file',
      'proofs/file-hash',
      ({ data, ...rest }) => encodeBoxed(LiteServerBlockData, { ...rest, data: data.slice(0, 0) }),
    ],
    [
      'another block of the chain',
      'proofs/file-hash',
      ({ id }) => encodeBoxed(LiteServerBlockData, { id, data: expected[3]!.blocks[0]!.data }),
    ],
    [
      'another id',
      'proofs/other-block',
      ({ id, data }) => encodeBoxed(LiteServerBlockData, { id: { ...id, seqno: id.seqno + 1 }, data }),
    ],
  ];

  it.each(lies)('is found out at once: %s', async (_, code, change) => {
    const { bundles, source } = roundsOver([changing(honest, change), honest]);
    const found = await all(bundles.bundles(20, 60));
    expect(found.map(print)).toEqual(expected.slice(20, 61).map(wanted));
    expect(source.faults.length).toBeGreaterThan(80);
    for (const fault of source.faults) {
      expect(fault.server).toBe(0);
      expect(`${fault.code} ${fault.message}`).toContain(code);
    }
  });

  it('and is the only one brings no bundle, but a report', async () => {
    const [, , change] = lies[0]!;
    const { bundles, warnings } = roundsOver([changing(honest, change)]);
    const controller = new AbortController();
    const found = all(bundles.bundles(20, 60, controller.signal));
    await expect.poll(() => warnings.length).toBeGreaterThan(3);
    expect(bundles.problem).toMatchObject({ code: 'indexer/block-unanswered', class: 'upstream' });
    controller.abort();
    await expect(found).rejects.toMatchObject({ code: 'chain/aborted' });
    expect(bundles.problem).toBeNull();
  });
});

describe('a server that does not have what is asked for', () => {
  const honest = replayServer(dev);

  it('is asked again until it has, and it is said what is missing and what to do', async () => {
    let isThere = false;
    const { bundles, warnings } = roundsOver([
      changing(honest, (answer) => (isThere ? encodeBoxed(LiteServerBlockData, answer) : missing)),
    ]);
    const found = all(bundles.bundles(5, 25));
    await expect.poll(() => warnings.length).toBeGreaterThan(2);
    expect(bundles.problem).toMatchObject({
      code: 'indexer/block-missing',
      data: { mc_seqno: 20, wanted: 'block (-1,8000000000000000,20)' },
    });
    expect(warnings[0]).toMatchObject({
      code: 'indexer/block-missing',
      mc_seqno: 20,
      remedy: expect.stringContaining('archive'),
    });
    isThere = true;
    expect((await found).map(print)).toEqual(expected.slice(5, 26).map(wanted));
    expect(bundles.problem).toBeNull();
  });

  it('or fails now and then, costs no bundle', async () => {
    let asked = 0;
    const failed = encodeBoxed(LiteServerError, { code: -400, message: 'busy' });
    const flaky: DirectServer = async (query) => {
      asked++;
      if (asked % 5 === 0) return failed;
      return asked % 7 === 0 ? missing : honest(query);
    };
    const { bundles } = roundsOver([flaky]);
    expect((await all(bundles.bundles(1, last))).map(print)).toEqual(expected.slice(1).map(wanted));
  });

  it('is not asked again for what is wrong in itself', async () => {
    const { bundles } = roundsOver([honest]);
    const other = { ...dev.head!.id, workchain: 0 };
    const address = Address.ofParts(-1, new Uint8Array(32));
    await expect(bundles.accountAt(address, other, last)).rejects.toMatchObject({ code: 'chain/parameter' });
  });
});

describe('an account after a block of a bundle', () => {
  const ELECTOR = Address.ofParts(-1, new Uint8Array(32).fill(0x33));

  it('is as the state says, after masterchain and shard blocks, there or not', async () => {
    const { bundles, source } = roundsOver([replayServer(dev)]);
    let seen = 0;
    for (const seqno of [1, 100, last]) {
      const { blocks } = await bundles.bundle(seqno);
      const before = source.asked.length;
      for (const { id } of blocks) {
        const state = decodeCell(ShardStateUnsplit, dev.state(dev.block(id)!));
        const addresses = [...state.accounts.value].slice(0, 20).map(([hash]) => hash);
        const absent = new Uint8Array(32).fill(7);
        for (const hash of [...addresses, absent]) {
          if (!shardContains(id.shard, accountPrefix(hash))) continue;
          const address = Address.ofParts(id.workchain, hash);
          const entry = state.accounts.value.get(hash) ?? null;
          for (const at of [id, blocks[0]!.id]) {
            const read = (await bundles.accountAt(address, at, seqno))!;
            expect(read.account === null ? null : parseBocRoot(read.account).hash()).toEqual(
              entry === null ? null : entry.account.cell.hash(),
            );
            expect(read.last_transaction?.lt ?? 0n).toBe(entry?.last_trans_lt ?? 0n);
            seen++;
          }
        }
      }
      // No proof that the block is in the chain.
      expect(new Set(source.asked.slice(before).map(({ fn }) => fn))).toEqual(new Set(['liteServer.getAccountState']));
    }
    expect(seen).toBeGreaterThan(30);
    expect(source.faults).toEqual([]);
  });

  it('is nothing when no server has the state any more', async () => {
    const honest = replayServer(dev);
    const { bundles } = roundsOver([
      async (query) => (decodeLiteQuery(query).call.name === 'liteServer.getAccountState' ? missing : honest(query)),
    ]);
    const { blocks } = await bundles.bundle(50);
    expect(await bundles.accountAt(ELECTOR, blocks[0]!.id, 50)).toBeNull();
  });
});

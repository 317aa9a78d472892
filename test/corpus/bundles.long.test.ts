import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { type AdnlServer, listenAdnl } from '#drivers/adnl/server.js';
import { LitePool } from '#drivers/lite/pool.js';
import { printBlockId } from '#formats/proofs/block-id.js';
import { encodeBoxed } from '#formats/tl/constructor.js';
import { LiteServerError } from '#formats/tl/lite-api.js';
import { decodeLiteQuery } from '#formats/tl/lite-query.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { Chain } from '#services/chain/chain.js';
import { KeyBlockMemory } from '#services/chain/key-blocks.js';
import { BundleSource } from '#services/indexer/fetch/bundle-source.js';
import type { McBlockBundle } from '#services/indexer/fetch/mc-block-bundle.js';
import type { DirectServer } from '#test/support/direct-source.js';
import { expectedBundles } from '#test/support/expected-bundles.js';
import { FULL } from '#test/support/full-depth.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { replayedChain, replayServer } from '#test/support/replayed-chain.js';
import { vectorPath } from '#test/support/vector-files.js';

const recorded = vectorPath('collection/recorded-net/chain');

describe('the masterchain blocks of the recorded network', () => {
  it('are as its files say, over splits and merges', async () => {
    const expected = expectedBundles(recorded);
    const { chain, ledger, source, clock } = replayedChain(recorded);
    const bundles = new BundleSource({}, { chain, clock, logger: silentLogger });
    const from = FULL ? 1 : 900;
    let seqno = from - 1;
    for await (const bundle of bundles.bundles(from, ledger.lastSeqno)) {
      seqno++;
      expect(bundle.mc_seqno).toBe(seqno);
      expectRound(bundle, expected[seqno]!);
    }
    expect(seqno).toBe(ledger.lastSeqno);
    expect(seqno).toBeGreaterThan(1_000);
    for (const kind of ['afterSplit', 'afterMerge'] as const) {
      const among = expected.filter((bundle) => bundle[kind] > 0);
      expect(among.length, kind).toBeGreaterThan(0);
      for (const { mc_seqno } of among) expectRound(await bundles.bundle(mc_seqno), expected[mc_seqno]!);
    }
    expect(source.faults).toEqual([]);
  });
});

type Expected = ReturnType<typeof expectedBundles>[number];

function expectRound({ mc_seqno, blocks }: McBlockBundle, expected: Expected): void {
  expect(blocks.map(({ id }) => printBlockId(id))).toEqual(expected.blocks.map(({ id }) => id));
  for (const [i, { data }] of blocks.entries()) {
    expect(Buffer.compare(data, expected.blocks[i]!.data), `${mc_seqno}, block ${i}`).toBe(0);
  }
}

const DEV_CHAIN = fileURLToPath(new URL('../../vectors/dev-chain', import.meta.url));
const ledger = keptReplay(DEV_CHAIN, { to: null, head: null });
const expected = expectedBundles(DEV_CHAIN);
const honest = replayServer(ledger);
const modules = { clock: systemClock, randomBytes: (size: number) => randomBytes(size) };

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A server on a real socket that can go and come back. */
class RealServer {
  readonly #answer: DirectServer;
  readonly #seed = randomBytes(32);
  #server: AdnlServer | null = null;
  port = 0;
  publicKey: Uint8Array = new Uint8Array(32);

  constructor(answer: DirectServer) {
    this.#answer = answer;
    closers.push(() => this.stop());
  }

  async start(): Promise<this> {
    const options = { seed: this.#seed, port: this.port, closeGraceMs: 0 };
    this.#server = await listenAdnl(options, { ...modules, onQuery: (query) => this.#answer(query) });
    this.port = this.#server.port;
    this.publicKey = this.#server.publicKey;
    return this;
  }

  async stop(): Promise<void> {
    await this.#server?.close();
    this.#server = null;
  }
}

async function roundsOver(...servers: readonly RealServer[]) {
  const addresses = servers.map(({ port, publicKey }) => ({ host: '127.0.0.1', port, publicKey, slices: null }));
  const pool = new LitePool(
    { servers: addresses, reconnectMinMs: 5, reconnectMaxMs: 20, breakerMs: 20 },
    { ...modules, unixTimeMs: () => ledger.timeOf(ledger.lastSeqno) * 1000, random: Math.random },
  );
  pool.start();
  closers.push(() => pool.close());
  await pool.whenSettled(5_000);
  const keyBlocks = new KeyBlockMemory();
  const logger = silentLogger;
  const chain = new Chain({ zero_state: ledger.zerostate }, { source: pool, clock: systemClock, keyBlocks, logger });
  const options = { deadlineMs: 500, retryMinMs: 5, retryMaxMs: 20 };
  return { rounds: new BundleSource(options, { chain, clock: systemClock, logger }), pool };
}

describe('masterchain blocks over a pool on real sockets', () => {
  it('are whole though the only server vanishes and comes back', async () => {
    const server = await new RealServer(honest).start();
    const { rounds: bundles } = await roundsOver(server);
    const found: McBlockBundle[] = [];
    for await (const bundle of bundles.bundles(1, ledger.lastSeqno)) {
      found.push(bundle);
      if (bundle.mc_seqno !== 20 && bundle.mc_seqno !== 200) continue;
      await server.stop();
      await new Promise((resolve) => setTimeout(resolve, 200));
      await server.start();
    }
    for (const [i, bundle] of found.entries()) expectRound(bundle, expected[i + 1]!);
    expect(found).toHaveLength(ledger.lastSeqno);
  });

  it('come from who keeps old blocks, and never from who lies', async () => {
    const forgets: DirectServer = async (query) => {
      const isOld = decodeLiteQuery(query).call.name === 'liteServer.getBlock';
      return isOld ? encodeBoxed(LiteServerError, { code: 651, message: 'block handle not in db' }) : honest(query);
    };
    const lies: DirectServer = async (query) => {
      const answer = await honest(query);
      if (decodeLiteQuery(query).call.name === 'liteServer.getBlock') answer[answer.length >> 1]! ^= 4;
      return answer;
    };
    const servers = await Promise.all([forgets, lies, honest].map((answer) => new RealServer(answer).start()));
    const { rounds: bundles, pool } = await roundsOver(...servers);
    let seqno = 0;
    for await (const bundle of bundles.bundles(1, 200)) expectRound(bundle, expected[++seqno]!);
    expect(seqno).toBe(200);
    const liar = pool.metrics().servers[1]!;
    expect(liar.state).toBe('quarantined');
    expect(liar.reason).toContain('proofs/file-hash');
  });

  it('leave the memory for answers to others', async () => {
    const { rounds: bundles, pool } = await roundsOver(await new RealServer(honest).start());
    let bytes = 0;
    for await (const { blocks } of bundles.bundles(1, ledger.lastSeqno))
      for (const { data } of blocks) bytes += data.length;
    expect(bytes).toBeGreaterThan(4_000_000);
    expect(pool.metrics()).toMatchObject({ cache_entries: 0, cache_bytes: 0, cache_misses: 0 });
  });
});

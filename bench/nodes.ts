import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseGlobalConfig } from '#drivers/lite/global-config.js';
import { LitePool } from '#drivers/lite/pool.js';
import { type Address, parseAddress } from '#formats/address/address.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { blockIdFromTl } from '#formats/tl/block-id.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { Chain } from '#services/chain/chain.js';
import { KeyBlockMemory } from '#services/chain/key-blocks.js';
import { type BlockFacts, type ChainFacts, chainFacts } from '../test/support/chain-facts.js';
import { ReplayProcess } from '../test/support/replay-process.js';
import { vectorPath } from '../test/support/vector-files.js';
import type { LatencyCase } from './latency.js';
import { adnlCases } from './nodes/adnl-cases.js';
import { tlCases } from './nodes/tl-cases.js';
import type { BenchSuite } from './suite.js';

const IN_FLIGHT = [1, 16, 100] as const;
const BLOCKS_IN_FLIGHT = 16;
const KEPT_IN_FLIGHT = 16;
/** Reads that fit into the cache of a pool. */
const KEPT_READS = 200;
/** Blocks that are fetched: those with the most transactions. */
const BLOCKS = 200;
/** Masterchain blocks at which accounts are read: the last ones. */
const STATES = 8;

/** What is read: an account after a masterchain block. */
interface AccountAt {
  readonly address: Address;
  readonly at: number;
}

/** A server in a process of its own, and reads over the real pool and real sockets. */
interface Node {
  /** Fetches and verifies everything each time. */
  readonly chain: Chain;
  /** Keeps what stays true, as users have it. */
  readonly keeping: Chain;
  readonly facts: ChainFacts;
  close(): Promise<void>;
}

let node: Node | null = null;

export const suite: BenchSuite = {
  name: 'nodes',
  baseline: 'npm adnl 1.0.3 (packets), ton-tl 1.0.1 (TL)',
  cases: () => [...adnlCases(), ...tlCases()],
  async latencies() {
    node = await startNode();
    const { chain, keeping, facts } = node;
    const blocks = blocksOf(facts);
    const reads = accountReads(facts);
    // Once each, so that what is measured does not hold the proof that a block is in the chain.
    for (const at of blocks) await chain.blockData({ at });
    for (const { address, at } of reads) await chain.account(address, { at });
    return [
      {
        name: 'fetch and verify a block',
        unit: 'blocks',
        inFlight: BLOCKS_IN_FLIGHT,
        call: inTurn(blocks, (at) => chain.blockData({ at })),
      },
      ...IN_FLIGHT.map(
        (inFlight): LatencyCase => ({
          name: 'verified account read',
          unit: 'reads',
          inFlight,
          call: inTurn(reads, ({ address, at }) => chain.account(address, { at })),
        }),
      ),
      {
        name: 'account read again, kept',
        unit: 'reads',
        inFlight: KEPT_IN_FLIGHT,
        call: inTurn(reads.slice(0, KEPT_READS), ({ address, at }) => keeping.account(address, { at })),
      },
    ];
  },
  close: async () => node?.close(),
};

/** Cycles through the items, one a call. */
function inTurn<T>(items: readonly T[], call: (item: T) => Promise<unknown>): () => Promise<unknown> {
  let next = 0;
  return () => call(items[next++ % items.length]!);
}

async function startNode(): Promise<Node> {
  const folder = vectorPath('collection/recorded-net/chain');
  const scratch = mkdtempSync(join(tmpdir(), 'tern-bench-'));
  const file = join(scratch, 'global.config.json');
  const replay = await ReplayProcess.start(folder, file);
  const config = parseGlobalConfig(readFileSync(file, 'utf8'), file);
  rmSync(scratch, { recursive: true, force: true });
  const maxInFlightPerServer = Math.max(...IN_FLIGHT);
  const pools = [{ cacheBytes: 0 }, {}].map(
    (options) =>
      new LitePool(
        { servers: config.servers, maxInFlightPerServer, ...options },
        { clock: systemClock, unixTimeMs: Date.now, random: Math.random, randomBytes },
      ),
  );
  const [chain, keeping] = pools.map((source) => {
    const modules = { source, clock: systemClock, keyBlocks: new KeyBlockMemory(), logger: silentLogger };
    return new Chain({ zero_state: blockIdFromTl(config.zeroState) }, modules);
  });
  for (const pool of pools) pool.start();
  await Promise.all(pools.map((pool) => pool.whenSettled(10_000)));
  return {
    chain: chain!,
    keeping: keeping!,
    facts: chainFacts(folder),
    close: async () => {
      await Promise.all(pools.map((pool) => pool.close()));
      await replay.close();
    },
  };
}

function blocksOf({ masterchain, shards }: ChainFacts): BlockId[] {
  const size = ({ transactions }: BlockFacts): number => transactions.length;
  const densest = [...masterchain.slice(1), ...shards].sort((a, b) => size(b) - size(a));
  return densest.slice(0, BLOCKS).map(({ id }) => id);
}

/** All accounts that ever had a transaction, at each of the last masterchain blocks. */
function accountReads({ masterchain, shards }: ChainFacts): AccountAt[] {
  const names = new Set(
    [...masterchain.slice(1), ...shards].flatMap(({ transactions }) => transactions.map((t) => t.account)),
  );
  const addresses = [...names].map((name) => parseAddress(name).address);
  return masterchain.slice(-STATES).flatMap(({ id }) => addresses.map((address) => ({ address, at: id.seqno })));
}

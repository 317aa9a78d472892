import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { download, loadNetworks, type NamedNetwork } from '#app/config/networks.js';
import type { ForkSpec } from '#app/config/settings.js';
import { type Environment, keyBlockPath, withClosers } from '#app/service/environment.js';
import { startReplayedNetwork } from '#app/service/replayed-network.js';
import { LitePool } from '#drivers/lite/pool.js';
import { type BlockId, printPosition, sameBlock } from '#formats/proofs/block-id.js';
import { pause } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';
import { CachedForkSource, ChainFork, LazyChainFork, readForkStart } from '#localnet/fork/chain-fork.js';
import { forkErrors } from '#localnet/fork/errors.js';
import type { ForkSource, ForkStart } from '#localnet/fork/fork-source.js';
import type { ChainOrigin, ForkOrigin } from '#localnet/ledger/genesis.js';
import { Chain } from '#services/chain/chain.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { KeyBlockFile, KeyBlockMemory } from '#services/chain/key-blocks.js';

export interface ForkOptions {
  /** Configured fork source; null when not configured. */
  readonly given: ForkSpec | null;
  /** Folder of the local chain. */
  readonly folder: string;
  /** Origin of the existing chain; null when there is none. */
  readonly chain: ChainOrigin | null;
  /** Folder of proven key blocks of the forked network. */
  readonly dataFolder: string;
}

/** The open source of a fork. */
export interface OpenFork {
  readonly origin: ForkOrigin;
  /** Initial state of the local chain; null when it continues. */
  readonly start: ForkStart | null;
  /** Read by the local node. */
  readonly forkSource: ForkSource;
  close(): Promise<void>;
}

/** Timeout for the check of the other network at a start that does not need it; then a warning is logged. */
const LOOK_MS = 30_000;

/**
 * Opens the source of a fork: the configured one for a new chain, the stored one for an existing chain. Only a new chain
 * needs the other network immediately.
 *
 * @returns null for a chain without fork
 * @throws fork/other-origin; for a new chain also fork/no-start, fork/bad-block, and as `openForkRemote`
 */
export async function openFork(options: ForkOptions, modules: Environment): Promise<OpenFork | null> {
  const { given, folder, chain, dataFolder } = options;
  const open = (source: string) => openForkRemote(source, dataFolder, modules);
  if (chain === null) return given === null ? null : startFork(given, open);
  const { fork } = chain;
  if (given === null) return fork === null ? null : resumeFork(fork, fork.source, open, modules);
  const wanted = `a fork of ${nameOf(given)}`;
  if (fork === null) throw forkErrors['other-origin']({ folder, has: 'stands alone', wanted });
  const has = `is a fork of ${fork.source}, block ${fork.block.seqno}`;
  const differs = forkErrors['other-origin']({ folder, has, wanted });
  if (given.seqno !== null && given.seqno !== fork.block.seqno) throw differs;
  const source = resolveForkSource(given.source);
  if (source !== fork.source) {
    const remote = await open(source);
    await remote.close();
    if (!sameBlock(remote.zero_state, fork.zero_state)) throw differs;
  }
  return resumeFork(fork, source, open, modules);
}

type Open = (source: string) => Promise<ForkRemote>;

async function startFork(given: ForkSpec, open: Open): Promise<OpenFork> {
  const source = resolveForkSource(given.source);
  const remote = await open(source);
  try {
    const start = await Promise.race([readForkStart(remote.chain, given.seqno, given.source), remote.silence()]);
    const origin = { source, zero_state: remote.zero_state, block: start.block };
    const forkSource = new CachedForkSource(new ChainFork({ block: start.block, source }, remote.chain));
    return { origin, start, forkSource, close: () => remote.close() };
  } catch (error) {
    await remote.close();
    throw error;
  }
}

function resumeFork(origin: ForkOrigin, source: string, open: Open, { logger }: Environment): OpenFork {
  const { block, zero_state } = origin;
  let remote: ForkRemote | null = null;
  let isClosed = false;
  const late = new LazyChainFork({ block, source }, async () => {
    const opened = await open(source);
    if (isClosed || !sameBlock(opened.zero_state, zero_state)) {
      await opened.close();
      throw forkErrors['no-start']({ source, problem: isClosed ? 'it was closed' : 'it is a different network now' });
    }
    remote = opened;
    return opened.chain;
  });
  const looking = checkBlock(late, block).catch((error: unknown) => {
    if (!isClosed) {
      logger.warn('the forked network is unreachable: accounts that were not imported before are unavailable', {
        source,
        block: printPosition(block),
        problem: isTernError(error) ? error.message : String(error),
      });
    }
  });
  return {
    origin,
    start: null,
    forkSource: new CachedForkSource(late),
    close: async () => {
      isClosed = true;
      await remote?.close();
      await looking;
    },
  };
}

/** Checks that the fork block is still available. */
async function checkBlock(late: LazyChainFork, block: BlockId): Promise<void> {
  const chain = await late.opened();
  await chain.header({ at: block, deadlineMs: LOOK_MS });
}

function nameOf({ source, seqno }: ForkSpec): string {
  return seqno === null ? source : `${source}@${seqno}`;
}

/** The network to fork. */
interface ForkRemote {
  readonly zero_state: BlockId;
  readonly chain: ChainReads;
  /** Rejects when no liteserver has answered in {@link SILENCE_MS}; else never settles. @throws fork/no-start */
  silence(): Promise<never>;
  close(): Promise<void>;
}

/** Small, because most data is read once. */
const CACHE_BYTES = 4 * 2 ** 20;
const DEADLINE_MS = 20_000;
/** A start waits for the first answer of a liteserver no longer; proving the head may take longer. */
const SILENCE_MS = 20_000;

/** The source as stored with the fork: paths are absolute. */
function resolveForkSource(source: string): string {
  return source === 'mainnet' || source === 'testnet' || isUrl(source) ? source : resolve(source);
}

/**
 * Opens the network to fork: through its liteservers, or a recorded chain in a folder through a liteserver in this process.
 * Does not wait for liteservers.
 *
 * @param source see {@link resolveForkSource}
 * @param dataFolder for proven key blocks
 * @throws config/network-list, lite/bad-config, replay/*, chain/key-block-file
 */
function openForkRemote(source: string, dataFolder: string, modules: Environment): Promise<ForkRemote> {
  return withClosers(async (closers) => {
    const isRecorded = !isUrl(source) && (await isFolder(source));
    let network: NamedNetwork;
    if (isRecorded) {
      const replayed = await startReplayedNetwork({ name: 'forked', folder: source }, modules);
      closers.add(() => replayed.close());
      network = replayed.network;
    } else {
      [network] = (await loadNetworks([{ name: null, source }], { download })) as [NamedNetwork];
    }
    const { servers, zeroState, initBlock } = network.config;
    const { clock, logger } = modules;
    const lite = new LitePool({ servers, cacheBytes: CACHE_BYTES, deadlineMs: DEADLINE_MS }, modules);
    closers.add(() => lite.close());
    const keyBlocks = isRecorded
      ? new KeyBlockMemory()
      : new KeyBlockFile(
          { path: keyBlockPath(dataFolder, network.name, network.config), zero_state: zeroState },
          { logger },
        );
    const chain = new Chain(
      { zero_state: zeroState, init_block: initBlock, deadlineMs: DEADLINE_MS },
      { source: lite, clock, keyBlocks, logger },
    );
    await chain.start();
    closers.add(() => chain.close());
    lite.start();
    const closing = new AbortController();
    closers.add(() => closing.abort());
    return {
      zero_state: zeroState,
      chain,
      silence: async () => {
        await pause(SILENCE_MS, clock, closing.signal);
        if (lite.headSeqno > 0 || closing.signal.aborted) return new Promise<never>(() => {});
        throw forkErrors['no-start']({ source, problem: silenceOf(lite) });
      },
      close: () => closers.close(),
    };
  });
}

/** Why nothing has answered: of one server, since there may be many and all for the same reason. */
function silenceOf(lite: LitePool): string {
  const { servers } = lite.metrics();
  const [first] = servers;
  const example = first === undefined ? '' : `: ${first.server}: ${first.reason || 'no answer yet'}`;
  return `none of its ${servers.length} liteservers answered in ${SILENCE_MS / 1000} s${example}`;
}

function isUrl(source: string): boolean {
  return /^https?:\/\//.test(source);
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

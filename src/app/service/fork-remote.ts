import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { download } from '#app/config/download.js';
import { loadNetworks, type NamedNetwork } from '#app/config/networks.js';
import { startTogether } from '#app/service/closers.js';
import { keyBlockPath } from '#app/service/data-folder.js';
import { startReplayedNetwork } from '#app/service/replayed-network.js';
import type { Surroundings } from '#app/service/surroundings.js';
import { LitePool } from '#drivers/lite/pool.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { Chain } from '#services/chain/chain.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { KeyBlockFile } from '#services/chain/key-block-file.js';
import { KeyBlockMemory } from '#services/chain/key-block-memory.js';

/** A network that is read to be forked. */
export interface ForkRemote {
  readonly zero_state: BlockId;
  readonly chain: ChainReads;
  close(): Promise<void>;
}

/** What is read of it is wanted once. */
const CACHE_BYTES = 4 * 2 ** 20;
const DEADLINE_MS = 20_000;

/** A source as it is written down: paths from the root on, so that they mean the same the next time. */
export function absoluteSource(source: string): string {
  return source === 'mainnet' || source === 'testnet' || isUrl(source) ? source : resolve(source);
}

/**
 * Opens a network to be read: by its liteservers, or a recorded chain in a folder by a liteserver in this process. Does
 * not wait for liteservers.
 *
 * @param source see {@link absoluteSource}
 * @param dataFolder for proven key blocks
 * @throws config/network-list, lite/bad-config, replay/*, chain/key-block-file
 */
export function openForkRemote(source: string, dataFolder: string, modules: Surroundings): Promise<ForkRemote> {
  return startTogether(async (closers) => {
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
          { path: keyBlockPath(dataFolder, network.name, zeroState), zero_state: zeroState },
          { logger },
        );
    const chain = new Chain(
      { zero_state: zeroState, init_block: initBlock, deadlineMs: DEADLINE_MS },
      { source: lite, clock, keyBlocks, logger },
    );
    await chain.start();
    closers.add(() => chain.close());
    lite.start();
    return { zero_state: zeroState, chain, close: () => closers.close() };
  });
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

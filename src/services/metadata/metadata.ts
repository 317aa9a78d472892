import type { Database } from '#drivers/store/database.js';
import { addressBytes } from '#drivers/store/keys.js';
import { replaceOverrides } from '#drivers/store/write/token-metadata.js';
import { targetPolicy } from '#drivers/web/target-policy.js';
import { WebClient } from '#drivers/web/web-client.js';
import { type Clock, pause } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { sharedAbortController } from '#kernel/shared-abort.js';
import { isTernError } from '#kernel/tern-error.js';
import { FETCH_LIMITS } from '#services/metadata/fetch-document.js';
import { MetadataFetcher, type MetadataMetrics } from '#services/metadata/metadata-fetcher.js';
import { fileStamp, loadOverrides, type TokenOverride } from '#services/metadata/overrides-file.js';

/** The IPFS gateway if none is configured. */
const PUBLIC_GATEWAY = 'https://ipfs.io';

export interface MetadataOptions {
  /** Whether links of tokens are fetched; overrides apply in any case. */
  readonly fetches: boolean;
  /** URL of an IPFS gateway, which may be in a private network, without `/ipfs`; null: a public one. */
  readonly gateway: string | null;
  /** Fetches at the same time. */
  readonly atOnce: number;
  /** The file of overrides; null: none. */
  readonly overrides: string | null;
}

export interface MetadataModules {
  readonly database: Database;
  readonly clock: Clock;
  readonly unixTimeMs: () => number;
  /** [0, 1) */
  readonly random: () => number;
  readonly logger: Logger;
  /** Called when the stored metadata of a token changed. */
  readonly onChange?: () => void;
}

/** The running service for off-chain token metadata. */
export interface MetadataService {
  metrics(): MetadataMetrics;
  close(): Promise<void>;
}

const NOTHING = {
  ...{ running: 0, fetched: 0, failed: new Map<string, number>(), put_off: 0 },
  ...{ fetch_seconds: 0, behind_seconds: 0, resting_hosts: 0 },
};

/** How often the file of overrides is checked for changes. */
const LOOK_MS = 10_000;

/**
 * Starts to fetch off-chain token metadata (TEP-64), and writes the overrides of the file to the index: now, and whenever the
 * file changes. A changed file that is invalid is logged, and the overrides stay as they were.
 *
 * @throws metadata/overrides, store/*
 */
export async function startMetadata(options: MetadataOptions, modules: MetadataModules): Promise<MetadataService> {
  const stop = sharedAbortController();
  const overrides = new OverridesWatcher(options.overrides, modules);
  await overrides.start();
  const watching = overrides.watch(stop.signal);
  const fetcher = options.fetches ? fetcherOf(options, modules) : null;
  fetcher?.start();
  return {
    metrics: () => ({ ...(fetcher?.metrics() ?? NOTHING), overrides: overrides.count }),
    close: async () => {
      stop.abort();
      await Promise.all([watching, fetcher?.close()]);
    },
  };
}

function fetcherOf({ gateway, atOnce }: MetadataOptions, modules: MetadataModules): MetadataFetcher {
  const policy = targetPolicy();
  const web = new WebClient(FETCH_LIMITS, { policy, clock: modules.clock });
  // A gateway that the operator names may be in a private network; what it redirects to may not.
  const gatewayPolicy = gateway === null ? policy : targetPolicy({ allowPrivateNetworks: true });
  return new MetadataFetcher({ gateway: gateway ?? PUBLIC_GATEWAY, atOnce }, { ...modules, web, gatewayPolicy });
}

/** Keeps the overrides of the index equal to those of the operator's file. */
class OverridesWatcher {
  readonly #file: string | null;
  readonly #modules: MetadataModules;
  #stamp: string | null = null;
  #count = 0;

  constructor(file: string | null, modules: MetadataModules) {
    this.#file = file;
    this.#modules = modules;
  }

  get count(): number {
    return this.#count;
  }

  /** @throws metadata/overrides, store/* */
  async start(): Promise<void> {
    if (this.#file === null) return this.#apply([]);
    this.#stamp = await fileStamp(this.#file);
    await this.#apply(await loadOverrides(this.#file));
  }

  /** Runs until the signal is aborted. Never rejects. */
  async watch(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#modules;
    const file = this.#file;
    while (file !== null && !signal.aborted) {
      await pause(LOOK_MS, clock, signal);
      const stamp = await fileStamp(file);
      if (signal.aborted || stamp === this.#stamp) continue;
      try {
        await this.#apply(await loadOverrides(file));
        logger.info('the overrides of metadata were read again', { entries: this.#count });
        this.#stamp = stamp;
      } catch (error) {
        const { message, remedy = '', class: kind = 'internal' } = error as Error & { remedy?: string; class?: string };
        logger.warn('the overrides of metadata stay as they were', { problem: message, remedy });
        // An invalid file is not read again until it changes; after a failure of the database it is tried again.
        if (isTernError(error) && kind === 'caller') this.#stamp = stamp;
      }
    }
  }

  async #apply(all: readonly TokenOverride[]): Promise<void> {
    const { database, unixTimeMs, onChange } = this.#modules;
    const rows = all.map(({ kind, address, override }) => ({
      kind,
      address: addressBytes(address),
      override: JSON.stringify(override),
    }));
    const now = Math.floor(unixTimeMs() / 1000);
    const changes = await database.transaction((client) => replaceOverrides(client, rows, now));
    this.#count = all.length;
    if (changes > 0) onChange?.();
  }
}

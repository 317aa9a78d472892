import type { Database } from '#drivers/store/database.js';
import { addressBytes } from '#drivers/store/keys.js';
import { replaceOverrides } from '#drivers/store/write/token-metadata.js';
import { type Clock, pause } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { isTernError } from '#kernel/tern-error.js';
import { publicAddressPolicy, resolveByDns, trustedHostPolicy } from '#services/metadata/fetch-policy.js';
import { FETCH_LIMITS } from '#services/metadata/http-get.js';
import { MetadataFetcher, type MetadataMetrics } from '#services/metadata/metadata-fetcher.js';
import { fileStamp, loadOverrides, type TokenOverride } from '#services/metadata/overrides-file.js';

/** Where content of IPFS is fetched if nobody says otherwise. */
const PUBLIC_GATEWAY = 'https://ipfs.io';

export interface MetadataOptions {
  /** Whether links of tokens are followed; overrides count anyway. */
  readonly fetches: boolean;
  /** The URL of a gateway to IPFS, which may be inside of a network, without `/ipfs`; null: a public one. */
  readonly gateway: string | null;
  /** Fetches under way at the same time. */
  readonly atOnce: number;
  /** The file of overrides; null: there are none. */
  readonly overrides: string | null;
}

export interface MetadataModules {
  readonly database: Database;
  readonly clock: Clock;
  readonly unixTimeMs: () => number;
  /** [0, 1) */
  readonly random: () => number;
  readonly logger: Logger;
  /** Called when something is told otherwise of a token than before. */
  readonly onChange: () => void;
}

/** What looks after the metadata of tokens, as long as it is not closed. */
export interface MetadataService {
  metrics(): MetadataMetrics;
  close(): Promise<void>;
}

const NOTHING = {
  ...{ running: 0, fetched: 0, failed: new Map<string, number>(), put_off: 0 },
  ...{ fetch_seconds: 0, behind_seconds: 0, resting_hosts: 0 },
};

/** How often it is looked whether the file of overrides is another one. */
const LOOK_MS = 10_000;

/**
 * Begins to fetch metadata, and makes the overrides in the file those of the index: now, and whenever the file is changed. A
 * changed file that cannot be used is told of, and the overrides stay.
 *
 * @throws metadata/overrides, store/*
 */
export async function startMetadata(options: MetadataOptions, modules: MetadataModules): Promise<MetadataService> {
  const stop = new AbortController();
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
  const policy = publicAddressPolicy({ resolve: resolveByDns });
  return new MetadataFetcher(
    { gateway: gateway ?? PUBLIC_GATEWAY, atOnce },
    { ...modules, policy, gatewayPolicy: gateway === null ? policy : trustedHostPolicy, limits: FETCH_LIMITS },
  );
}

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

  /** Until the signal is given. Never rejects. */
  async watch(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#modules;
    const file = this.#file;
    while (file !== null && !signal.aborted) {
      await pause(LOOK_MS, clock, signal);
      const stamp = await fileStamp(file);
      if (signal.aborted || stamp === this.#stamp) continue;
      try {
        await this.#apply(await loadOverrides(file));
        logger.info('the overrides of metadata were read anew', { entries: this.#count });
        this.#stamp = stamp;
      } catch (error) {
        const { message, remedy = '', class: kind = 'internal' } = error as Error & { remedy?: string; class?: string };
        logger.warn('the overrides of metadata stay as they were', { problem: message, remedy });
        // A file that is of no use is not read again until it is changed; a database that fails is asked again.
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
    if (changes > 0) onChange();
  }
}

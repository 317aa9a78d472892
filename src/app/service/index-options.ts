import type { NetworkDatabase } from '#app/config/databases.js';
import type { IndexRole, IndexStart } from '#app/config/index-settings.js';
import type { ChainSource } from '#app/service/chain-source.js';
import type { Surroundings } from '#app/service/surroundings.js';
import type { DnsRoot } from '#domain/contracts/dns-root.js';
import type { GlobalConfig } from '#drivers/lite/global-config.js';
import type { Address } from '#formats/address/address.js';
import type { MetadataOptions } from '#services/metadata/metadata.js';

/** How a network is indexed. */
export interface NetworkIndexOptions {
  readonly config: GlobalConfig;
  /** A promise for one that is still being started: then nothing waits for it but the index. */
  readonly database: NetworkDatabase | Promise<NetworkDatabase>;
  readonly role: IndexRole;
  /** Where an index begins; `null` for as far back as servers go. */
  readonly from: IndexStart | null;
  /** How much history is kept; `null` for all. */
  readonly keepMs: number | null;
  /** What is indexed; `null` for all. */
  readonly accounts: readonly Address[] | null;
  /** Whether it is a fork, where accounts come without a transaction. Default: no. */
  readonly isFork?: boolean;
  /** Besides those that everybody knows. */
  readonly dnsRoots: readonly DnsRoot[];
  readonly metadata: MetadataOptions;
  /** Threads that write; `null` for as many as is usual. */
  readonly workers: number | null;
  /** For reading. */
  readonly connections: number;
  readonly queryTimeoutMs: number;
}

export interface NetworkIndexModules extends Surroundings {
  /** Where what is indexed is read from. */
  readonly source: Pick<ChainSource, 'chain' | 'watch'>;
}

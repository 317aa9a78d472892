import type { Cell } from '#formats/cells/cell.js';
import { type ConfigDictionary, configParam } from '#formats/tlb/config/config-params.js';
import type { BlockLimits } from '#formats/tlb/config/limits.js';
import type { GlobalVersion } from '#formats/tlb/global-version.js';
import { MASTERCHAIN } from '#formats/tlb/shard-ident.js';

/** What a configuration says about the blocks of a workchain. */
export interface BlockRules {
  readonly config: ConfigDictionary;
  /** Root of `config`. */
  readonly root: Cell;
  readonly version: GlobalVersion;
  /** Parameter 22 or 23. */
  readonly limits: BlockLimits | null;
  /** `next_frac` of parameter 24 or 25: which part of a forwarding fee, in 2^-16, a shard on the way takes. */
  readonly nextFrac: bigint;
  /** Accounts of the masterchain that tick and tock (parameter 31). */
  readonly specialAccounts: readonly Uint8Array[];
}

/** Of a version before parameter 8. */
const NO_VERSION: GlobalVersion = { version: 0, capabilities: 0n };

/** Bits of `capabilities`. */
export const CAPABILITY = { createStats: 0x2n, reportVersion: 0x8n, storeOutQueueSize: 0x40n } as const;

/** @throws what decoding a parameter throws */
export function blockRules(config: ConfigDictionary, workchain: number): BlockRules {
  const masterchain = workchain === MASTERCHAIN;
  return {
    config,
    root: config.root as Cell,
    version: configParam(config, 8) ?? NO_VERSION,
    limits: configParam(config, masterchain ? 22 : 23) ?? null,
    nextFrac: BigInt(configParam(config, masterchain ? 24 : 25)?.next_frac ?? 0),
    specialAccounts: [...(configParam(config, 31) ?? [])].map(([id]) => id),
  };
}

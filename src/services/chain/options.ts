import type { BlockId } from '#formats/proofs/block-id.js';

/** What the reads of a chain start from, and their limits. */
export interface ChainOptions {
  /** The masterchain's zerostate (`validator.zero_state` of the global configuration): names the network. */
  readonly zero_state: BlockId;
  /**
   * A later masterchain block that is trusted; proofs start there. Default: the zerostate. It is `validator.init_block`, or
   * the last of `validator.hardforks` if that is newer: no proof leads over a hardfork.
   */
  readonly init_block?: BlockId;
  /** How long a read may take that says nothing else, in milliseconds. */
  readonly deadlineMs?: number;
  /** How long the newest known block counts as the head when no server has claimed a newer one, in milliseconds. */
  readonly headMaxAgeMs?: number;
  /** How many proven block ids are remembered. */
  readonly provenBlocks?: number;
  /** To how many servers a message is sent at once. */
  readonly sendFanOut?: number;
}

/** Of each option that has one: the default, and the smallest and largest allowed value. */
export const CHAIN_LIMITS = {
  deadlineMs: { default: 10_000, min: 1, max: 600_000 },
  headMaxAgeMs: { default: 1_000, min: 0, max: 60_000 },
  provenBlocks: { default: 65_536, min: 16, max: 16_777_216 },
  sendFanOut: { default: 5, min: 1, max: 100 },
} as const;

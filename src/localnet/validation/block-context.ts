import type { Cell } from '#formats/cells/cell.js';
import type { BlockId, Shard } from '#formats/proofs/block-id.js';
import type { Block } from '#formats/tlb/block.js';
import type { BlockExtra } from '#formats/tlb/block-extra.js';
import type { BlockInfo } from '#formats/tlb/block-info.js';
import type { McBlockExtra } from '#formats/tlb/mc-block-extra.js';
import type { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import type { Deviation } from '#localnet/validation/deviation.js';
import type { MasterchainView } from '#localnet/validation/masterchain-view.js';
import type { ListedShard, Neighbour } from '#localnet/validation/neighbours.js';
import type { KnownEndLt } from '#localnet/validation/processed-upto.js';
import type { RuleCheck } from '#localnet/validation/rule-check.js';
import type { ShardBefore } from '#localnet/validation/shard-before.js';

/** A block that is read and whose state update applies. */
export interface OpenBlock {
  readonly rules: RuleCheck;
  readonly id: BlockId;
  readonly shard: Shard;
  readonly root: Cell;
  readonly block: Block;
  readonly info: BlockInfo;
  readonly extra: BlockExtra;
  /** Of a masterchain block. */
  readonly mcExtra: McBlockExtra | null;
  /** The blocks before and the states after them, two after a merge. */
  readonly previous: readonly ListedShard[];
  readonly stateRoot: Cell;
  readonly after: ShardStateUnsplit;
}

/** A block, and all that its rules refer to. */
export interface BlockContext extends OpenBlock {
  /** The masterchain state that the block was made on: for a masterchain block, the one before it. */
  readonly reference: MasterchainView;
  /** Of a masterchain block, the state after it. */
  readonly afterView: MasterchainView | null;
  /** Version of the rules. */
  readonly globalVersion: number;
  readonly before: ShardBefore;
  readonly neighbours: readonly Neighbour[];
  readonly endLt: KnownEndLt;
  /** What is not as in an ordinary network, but allowed in a local one. */
  readonly deviations: Deviation[];
}

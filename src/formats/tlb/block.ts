import { BlockExtra } from '#formats/tlb/block-extra.js';
import { BlockInfo } from '#formats/tlb/block-info.js';
import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { ref } from '#formats/tlb/codec/composites.js';
import { int32 } from '#formats/tlb/codec/primitives.js';
import { record } from '#formats/tlb/codec/record.js';
import { merkleUpdate } from '#formats/tlb/merkle-update.js';
import { ShardState } from '#formats/tlb/shard-state.js';
import { ValueFlow } from '#formats/tlb/value-flow.js';

/** A block: header, sums of value, the change of its shard's state, and what happened. `global_id` tells networks apart. */
export const Block = record(
  `block#11ef55aa global_id:int32 info:^BlockInfo value_flow:^ValueFlow state_update:^(MERKLE_UPDATE ShardState)
    extra:^BlockExtra = Block;`,
  {
    global_id: int32,
    info: ref(BlockInfo),
    value_flow: ref(ValueFlow),
    state_update: ref(merkleUpdate(ShardState)),
    extra: ref(BlockExtra),
  },
);
export type Block = ValueOf<typeof Block>;

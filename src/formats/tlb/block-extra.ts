import { ShardAccountBlocks } from '#formats/tlb/account-block.js';
import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { maybe, ref } from '#formats/tlb/codec/composites.js';
import { bits256 } from '#formats/tlb/codec/primitives.js';
import { record } from '#formats/tlb/codec/record.js';
import { InMsgDescr } from '#formats/tlb/in-msg.js';
import { McBlockExtra } from '#formats/tlb/mc-block-extra.js';
import { OutMsgDescr } from '#formats/tlb/out-msg.js';

/** What happened in a block: messages, transactions; `created_by` is the public key of the validator that made it. */
export const BlockExtra = record(
  `block_extra#4a33f6fd in_msg_descr:^InMsgDescr out_msg_descr:^OutMsgDescr account_blocks:^ShardAccountBlocks
    rand_seed:bits256 created_by:bits256 custom:(Maybe ^McBlockExtra) = BlockExtra;`,
  {
    in_msg_descr: ref(InMsgDescr),
    out_msg_descr: ref(OutMsgDescr),
    account_blocks: ref(ShardAccountBlocks),
    rand_seed: bits256,
    created_by: bits256,
    custom: maybe(ref(McBlockExtra)),
  },
);
export type BlockExtra = ValueOf<typeof BlockExtra>;

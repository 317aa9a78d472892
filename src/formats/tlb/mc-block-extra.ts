import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { maybe, ref } from '#formats/tlb/codec/composites.js';
import { hashmapE } from '#formats/tlb/codec/dictionary.js';
import { uintKey } from '#formats/tlb/codec/dictionary-key.js';
import { bool } from '#formats/tlb/codec/primitives.js';
import { record, when } from '#formats/tlb/codec/record.js';
import { ConfigParams } from '#formats/tlb/config/config-params.js';
import { InMsg } from '#formats/tlb/in-msg.js';
import { ShardFees } from '#formats/tlb/shard-fees.js';
import { ShardHashes } from '#formats/tlb/shard-hashes.js';
import { CryptoSignaturePair } from '#formats/tlb/signature.js';

/**
 * The anonymous cell of a masterchain block's extra, under a name of its own, since proofs may leave it out.
 * `recover_create_msg` brings the validators' fees to the elector, `mint_msg` new extra currencies to the minter.
 * `prev_blk_signatures` is empty in all but early blocks.
 */
export const McBlockMessages = record(
  `_ prev_blk_signatures:(HashmapE 16 CryptoSignaturePair) recover_create_msg:(Maybe ^InMsg) mint_msg:(Maybe ^InMsg)
    = McBlockMessages;`,
  {
    prev_blk_signatures: hashmapE(uintKey(16), CryptoSignaturePair),
    recover_create_msg: maybe(ref(InMsg)),
    mint_msg: maybe(ref(InMsg)),
  },
);
export type McBlockMessages = ValueOf<typeof McBlockMessages>;

/**
 * What only masterchain blocks have: the shards as they now are, the fees they sent, and in a key block the whole config.
 * Of the schema's `^[ … ]`, this makes the field `messages`.
 */
export const McBlockExtra = record(
  `masterchain_block_extra#cca5 key_block:(## 1) shard_hashes:ShardHashes shard_fees:ShardFees
    messages:^McBlockMessages config:key_block?ConfigParams = McBlockExtra;`,
  {
    key_block: bool,
    shard_hashes: ShardHashes,
    shard_fees: ShardFees,
    messages: ref(McBlockMessages),
    config: when('key_block', (keyBlock: boolean) => keyBlock, ConfigParams),
  },
);
export type McBlockExtra = ValueOf<typeof McBlockExtra>;

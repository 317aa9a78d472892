import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { bits256 } from '#formats/tlb/codec/primitives.js';
import { record } from '#formats/tlb/codec/record.js';

/** Hash of something before and after: of the `Account` cell around a transaction, or around all of an account's in a block. */
export const HASH_UPDATE = record('update_hashes#72 {X:Type} old_hash:bits256 new_hash:bits256 = HASH_UPDATE X;', {
  old_hash: bits256,
  new_hash: bits256,
});
export type HASH_UPDATE = ValueOf<typeof HASH_UPDATE>;

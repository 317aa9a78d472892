import type { BlockId, Shard } from '#formats/proofs/block-id.js';
import type { SignatureSet } from '#formats/proofs/signature-set.js';
import type { ValidatorGroup } from '#formats/proofs/validator-set.js';
import type { McStateExtra } from '#formats/tlb/mc-state-extra.js';

/** The key of the one validator. */
export interface ValidatorKey {
  /** Ed25519, 32 bytes: `created_by` of blocks. */
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

/** @param seed 32 bytes */
export declare function validatorKey(seed: Uint8Array): ValidatorKey;

/**
 * Who makes the next block: its `hash` and `catchain_seqno` are the header's `gen_validator_list_hash_short` and
 * `gen_catchain_seqno`.
 *
 * @param extra of the masterchain state that the block is made on
 * @param catchain_seqno of a shard's session: see `nextShardBlocks`; of the masterchain: `extra.info` has it
 */
export declare function sessionOf(extra: McStateExtra, shard: Shard, catchain_seqno: number): ValidatorGroup;

/** What a masterchain block is signed with. */
export interface SigningContext {
  readonly kind: 'simplex' | 'ordinary';
  readonly key: ValidatorKey;
  readonly group: ValidatorGroup;
  readonly randomBytes: (size: number) => Uint8Array;
}

/** The signatures of a masterchain block. @throws proofs/signature-unknown-node when the key is none of the group's */
export declare function signBlock(id: BlockId, context: SigningContext): SignatureSet;

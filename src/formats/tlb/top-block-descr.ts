import type { Cell } from '#formats/cells/cell.js';
import { BlockSignatures } from '#formats/tlb/block-proof.js';
import { BlockIdExt } from '#formats/tlb/block-ref.js';
import type { Codec, ValueOf } from '#formats/tlb/codec/codec.js';
import { maybe, ref } from '#formats/tlb/codec/composites.js';
import { hashmapE } from '#formats/tlb/codec/dictionary.js';
import type { Lazy } from '#formats/tlb/codec/lazy.js';
import { bool, cellRef, constrained, uint8 } from '#formats/tlb/codec/primitives.js';
import { dependent, record } from '#formats/tlb/codec/record.js';
import { ProcessedInfo } from '#formats/tlb/out-msg-queue.js';
import { shardKey } from '#formats/tlb/shard-fees.js';

/** Most blocks of a shard that a masterchain block may register at once. */
const LONGEST_CHAIN = 8;

/** Proofs of block headers (`root`), each followed by that of the block before it. */
export interface ProofChain {
  readonly root: Cell;
  readonly prev: Lazy<ProofChain> | null;
}

const nothing: Codec<null> = { type: 'ProofChain 0', load: () => null, store: () => {} };
const chains: Codec<ProofChain>[] = [];
for (let length = 1; length <= LONGEST_CHAIN; length++) {
  const before = chains.at(-1);
  const prev: Codec<Lazy<ProofChain> | null> =
    before === undefined ? nothing : (ref(before) as Codec<Lazy<ProofChain> | null>);
  chains.push(
    record('chain_link$_ {n:#} root:^Cell prev:n?^(ProofChain n) = ProofChain (n + 1);', { root: cellRef, prev }),
  );
}

/** The codec of `ProofChain length`, `length` from 1 to 8. */
export function proofChain(length: number): Codec<ProofChain> {
  return chains[length - 1] as Codec<ProofChain>;
}

/** A new block of a shard, offered to the masterchain, with the header proofs back to the last registered one. */
export const TopBlockDescr = record(
  `top_block_descr#d5 proof_for:BlockIdExt signatures:(Maybe ^BlockSignatures) len:(## 8) { len >= 1 } { len <= 8 }
    chain:(ProofChain len) = TopBlockDescr;`,
  {
    proof_for: BlockIdExt,
    signatures: maybe(ref(BlockSignatures)),
    len: constrained(uint8, '1 <= len <= 8', (len) => len >= 1 && len <= LONGEST_CHAIN),
    chain: dependent('len', proofChain),
  },
);
export type TopBlockDescr = ValueOf<typeof TopBlockDescr>;

/** Part of what comes beside a masterchain block: the new blocks of shards that it registers. */
export const TopBlockDescrSet = record(
  'top_block_descr_set#4ac789f3 collection:(HashmapE 96 ^TopBlockDescr) = TopBlockDescrSet;',
  { collection: hashmapE(shardKey, ref(TopBlockDescr)) },
);
export type TopBlockDescrSet = ValueOf<typeof TopBlockDescrSet>;

/** Part of what comes beside a block: what its maker knew about the load. */
export const ExtraCollatedData = record(
  'extra_collated_data#ea59be4c underload:Bool overload:Bool proc_info:ProcessedInfo = ExtraCollatedData;',
  { underload: bool, overload: bool, proc_info: ProcessedInfo },
);
export type ExtraCollatedData = ValueOf<typeof ExtraCollatedData>;

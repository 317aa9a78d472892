import { BlkMasterInfo, blkPrevInfo, PrevBlkInfo, ShardIdent } from '#formats/tlb/block-id.js';
import { InMsg, InMsgDescr, OutMsgDescr } from '#formats/tlb/block-messages.js';
import { CryptoSignaturePair } from '#formats/tlb/block-proof.js';
import { type Codec, type Lazy, maybe, ref, type ValueOf } from '#formats/tlb/codec/codec.js';
import { hashmapE, uintKey } from '#formats/tlb/codec/dictionary.js';
import { bits256, bool, constrained, int32, uint8, uint16, uint32, uint64 } from '#formats/tlb/codec/primitives.js';
import { dependent, record, union, variant, when } from '#formats/tlb/codec/record.js';
import { ConfigParams } from '#formats/tlb/config/config-params.js';
import { GlobalVersion } from '#formats/tlb/config/network.js';
import { addCurrency, CurrencyCollection, NO_CURRENCY } from '#formats/tlb/currency.js';
import { ShardFees, ShardHashes } from '#formats/tlb/shard-hashes.js';
import { ShardState } from '#formats/tlb/shard-state.js';
import { ShardAccountBlocks } from '#formats/tlb/transaction.js';

/** A change from one tree to another; shared parts are pruned in both. Hashes and depths are those of the whole trees. */
export interface MERKLE_UPDATE<T> {
  readonly old_hash: Uint8Array;
  readonly new_hash: Uint8Array;
  readonly old_depth: number;
  readonly new_depth: number;
  readonly old: Lazy<T>;
  readonly new: Lazy<T>;
}

/** The codec of `MERKLE_UPDATE X`, an exotic cell. The cell itself checks the hashes and depths of its references. */
export function merkleUpdate<T>(tree: Codec<T>): Codec<MERKLE_UPDATE<T>> {
  const codec: Codec<MERKLE_UPDATE<T>> = record(
    `!merkle_update#04 {X:Type} old_hash:bits256 new_hash:bits256 old_depth:uint16 new_depth:uint16 old:^X new:^X
      = MERKLE_UPDATE X;`,
    { old_hash: bits256, new_hash: bits256, old_depth: uint16, new_depth: uint16, old: ref(tree), new: ref(tree) },
  );
  return { ...codec, type: `(MERKLE_UPDATE ${tree.type})` };
}

/** A pruned tree. Hash and depth are those of the whole tree. */
export interface MERKLE_PROOF<T> {
  readonly virtual_hash: Uint8Array;
  readonly depth: number;
  readonly virtual_root: Lazy<T>;
}

/** The codec of `MERKLE_PROOF X`, an exotic cell. */
export function merkleProof<T>(tree: Codec<T>): Codec<MERKLE_PROOF<T>> {
  const codec: Codec<MERKLE_PROOF<T>> = record(
    '!merkle_proof#03 {X:Type} virtual_hash:bits256 depth:uint16 virtual_root:^X = MERKLE_PROOF X;',
    { virtual_hash: bits256, depth: uint16, virtual_root: ref(tree) },
  );
  return { ...codec, type: `(MERKLE_PROOF ${tree.type})` };
}

const vertSeqNo: Readonly<Record<'true' | 'false', Codec<number>>> = {
  true: constrained(uint32, 'vert_seq_no >= vert_seqno_incr', (no) => no >= 1),
  false: uint32,
};
const prevRef = { true: ref(blkPrevInfo(true)), false: ref(blkPrevInfo(false)) } as const;

/**
 * A block header. `gen_utime` is in unix seconds and may repeat in the next block; `start_lt < lt < end_lt` for each
 * transaction and message of the block. `min_ref_mc_seqno` is the oldest masterchain block that it requires, not the one it
 * was created on (that is `master_ref`, absent in masterchain blocks).
 */
export const BlockInfo = record(
  `block_info#9bc7a987 version:uint32 not_master:(## 1) after_merge:(## 1) before_split:(## 1) after_split:(## 1)
    want_split:Bool want_merge:Bool key_block:Bool vert_seqno_incr:(## 1) flags:(## 8) { flags <= 1 }
    seq_no:# vert_seq_no:# { vert_seq_no >= vert_seqno_incr } { prev_seq_no:# } { ~prev_seq_no + 1 = seq_no }
    shard:ShardIdent gen_utime:uint32 start_lt:uint64 end_lt:uint64
    gen_validator_list_hash_short:uint32 gen_catchain_seqno:uint32 min_ref_mc_seqno:uint32 prev_key_block_seqno:uint32
    gen_software:flags . 0?GlobalVersion master_ref:not_master?^BlkMasterInfo
    prev_ref:^(BlkPrevInfo after_merge) prev_vert_ref:vert_seqno_incr?^(BlkPrevInfo 0) = BlockInfo;`,
  {
    version: constrained(uint32, 'version = 0', (version) => version === 0),
    not_master: bool,
    after_merge: bool,
    before_split: bool,
    after_split: bool,
    want_split: bool,
    want_merge: bool,
    key_block: bool,
    vert_seqno_incr: bool,
    flags: constrained(uint8, 'flags <= 1', (flags) => flags <= 1),
    seq_no: constrained(uint32, 'prev_seq_no + 1 = seq_no', (no) => no >= 1),
    vert_seq_no: dependent('vert_seqno_incr', (incr: boolean) => vertSeqNo[`${incr}`]),
    shard: ShardIdent,
    gen_utime: uint32,
    start_lt: uint64,
    end_lt: uint64,
    gen_validator_list_hash_short: uint32,
    gen_catchain_seqno: uint32,
    min_ref_mc_seqno: uint32,
    prev_key_block_seqno: uint32,
    gen_software: when('flags', (flags: number) => (flags & 1) === 1, GlobalVersion),
    master_ref: when('not_master', (notMaster: boolean) => notMaster, ref(BlkMasterInfo)),
    prev_ref: dependent('after_merge', (afterMerge: boolean) => prevRef[`${afterMerge}`]),
    prev_vert_ref: when('vert_seqno_incr', (incr: boolean) => incr, ref(PrevBlkInfo)),
  },
);
export type BlockInfo = ValueOf<typeof BlockInfo>;

/** The first anonymous cell of a value flow, a separate type because proofs may prune it. */
export const ValueFlowBalances = record(
  `_ from_prev_blk:CurrencyCollection to_next_blk:CurrencyCollection imported:CurrencyCollection
    exported:CurrencyCollection = ValueFlowBalances;`,
  {
    from_prev_blk: CurrencyCollection,
    to_next_blk: CurrencyCollection,
    imported: CurrencyCollection,
    exported: CurrencyCollection,
  },
);
export type ValueFlowBalances = ValueOf<typeof ValueFlowBalances>;

/** The second anonymous cell of a value flow. */
export const ValueFlowFees = record(
  `_ fees_imported:CurrencyCollection recovered:CurrencyCollection created:CurrencyCollection
    minted:CurrencyCollection = ValueFlowFees;`,
  {
    fees_imported: CurrencyCollection,
    recovered: CurrencyCollection,
    created: CurrencyCollection,
    minted: CurrencyCollection,
  },
);
export type ValueFlowFees = ValueOf<typeof ValueFlowFees>;

/**
 * The value flow of a block: inputs equal outputs, see {@link valueFlowSums}.
 * The schema's first `^[ … ]` is the field `balances` here, the second `fees`.
 */
export const ValueFlow = union('ValueFlow', [
  variant(
    'value_flow#b8e48dfb balances:^ValueFlowBalances fees_collected:CurrencyCollection fees:^ValueFlowFees = ValueFlow;',
    { balances: ref(ValueFlowBalances), fees_collected: CurrencyCollection, fees: ref(ValueFlowFees) },
  ),
  variant(
    `value_flow_v2#3ebf98b7 balances:^ValueFlowBalances fees_collected:CurrencyCollection burned:CurrencyCollection
      fees:^ValueFlowFees = ValueFlow;`,
    {
      balances: ref(ValueFlowBalances),
      fees_collected: CurrencyCollection,
      burned: CurrencyCollection,
      fees: ref(ValueFlowFees),
    },
  ),
]);
export type ValueFlow = ValueOf<typeof ValueFlow>;

/** The sums of inputs and outputs; equal in a valid block. */
export function valueFlowSums(flow: ValueFlow): { readonly in: CurrencyCollection; readonly out: CurrencyCollection } {
  const balances = flow.balances.value;
  const fees = flow.fees.value;
  const burned = flow.kind === 'value_flow_v2' ? flow.burned : NO_CURRENCY;
  return {
    in: [
      balances.from_prev_blk,
      balances.imported,
      fees.fees_imported,
      fees.created,
      fees.minted,
      fees.recovered,
    ].reduce(addCurrency),
    out: [balances.to_next_blk, balances.exported, flow.fees_collected, burned].reduce(addCurrency),
  };
}

/**
 * The anonymous cell of a masterchain block's extra, a separate type because proofs may prune it.
 * `recover_create_msg` sends the validators' fees to the elector, `mint_msg` new extra currencies to the minter.
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
 * The masterchain part of a block: the current shard configuration, the fees of shards, and in key blocks the whole config.
 * The schema's `^[ … ]` is the field `messages` here.
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

/** Messages and transactions of a block; `created_by` is the public key of the validator that created it. */
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

/** A block: header, value flow, the Merkle update of the shard state, and contents. `global_id` identifies the network. */
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

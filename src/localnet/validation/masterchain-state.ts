import { blockOfRef, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { validatorSetHash } from '#formats/proofs/validator-set.js';
import type { ExtBlkRef } from '#formats/tlb/block-ref.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { addCurrency } from '#formats/tlb/currency.js';
import { OldMcBlocksInfo } from '#formats/tlb/mc-state-extra.js';
import { ShardHashes } from '#formats/tlb/shard-hashes.js';
import type { BlockContext } from '#localnet/validation/block-context.js';
import { rootHash } from '#localnet/validation/config-view.js';
import type { MasterchainView } from '#localnet/validation/masterchain-view.js';

/** Blocks are counted by who made them where this capability is set. */
const CREATE_STATS = 2n;

/** Checks what only states of the masterchain have, apart from configuration and shards. @throws validation/broken-rule */
export function checkMasterchainState(context: BlockContext): void {
  const { rules, info, mcExtra, reference, afterView, block } = context;
  const { extra, info: now } = afterView!;
  const inBlock = encodeCell(ShardHashes, mcExtra!.shard_hashes);
  rules.equal('shard-list', inBlock.hash(), encodeCell(ShardHashes, extra.shard_hashes).hash(), 'in the state');
  if (info.key_block) {
    const { config } = mcExtra!;
    rules.equal('key-block', config!.config_addr, extra.config.config_addr, 'config_addr');
    rules.equal('key-block', rootHash(config!), rootHash(extra.config), 'config');
  }
  const counts = reference.config.hasCapability(CREATE_STATS) ? 1 : 0;
  rules.equal('state-header', counts, now.flags, 'flags of the masterchain state');
  rules.equal('key-block', info.key_block, now.after_key_block, 'after_key_block');
  checkPreviousBlocks(context, afterView!);
  checkSession(context, afterView!);
  const { minted, created } = block.value_flow.value.fees.value;
  const { create } = mcExtra!.shard_fees.extra;
  // What is burned stays counted.
  const expected = [reference.extra.global_balance, minted, created, create].reduce(addCurrency);
  rules.equal('global-balance', expected, extra.global_balance);
}

function checkPreviousBlocks({ rules, reference }: BlockContext, { info }: MasterchainView): void {
  const { id, state, info: old } = reference;
  const { seqno: seq_no, root_hash, file_hash } = id;
  const blk_ref: ExtBlkRef = { end_lt: state.gen_lt, seq_no, root_hash, file_hash };
  const expected = old.prev_blocks.set(seq_no, { key: old.after_key_block, blk_ref });
  const found = encodeCell(OldMcBlocksInfo, info.prev_blocks);
  rules.equal('prev-blocks', encodeCell(OldMcBlocksInfo, expected).hash(), found.hash());
  const key = old.after_key_block ? blk_ref : old.last_key_block;
  rules.equal('last-key-block', key !== null, info.last_key_block !== null);
  if (key === null || info.last_key_block === null) return;
  rules.equal('last-key-block', blockOfRef(MASTERCHAIN_SHARD, key), blockOfRef(MASTERCHAIN_SHARD, info.last_key_block));
  rules.equal('last-key-block', key.end_lt, info.last_key_block.end_lt, 'end_lt');
}

/** The session that makes the next blocks. */
function checkSession({ rules, info, reference }: BlockContext, { info: now, config }: MasterchainView): void {
  const { mc_catchain_lifetime, shard_catchain_lifetime } = config.catchain;
  const passed = (lifetime: number) =>
    info.key_block || Math.floor(info.gen_utime / lifetime) > Math.floor(reference.state.gen_utime / lifetime);
  const renewed = passed(mc_catchain_lifetime);
  const old = reference.info.validator_info;
  const { validator_info } = now;
  const seqno = old.catchain_seqno + (renewed ? 1 : 0);
  rules.equal('validator-info', seqno, validator_info.catchain_seqno, 'catchain_seqno');
  const { validators } = config.validatorGroup(MASTERCHAIN_SHARD, seqno);
  const hash = validatorSetHash(0, validators);
  rules.equal('validator-info', hash, validator_info.validator_list_hash_short, 'validator_list_hash_short');
  const both = renewed && passed(shard_catchain_lifetime);
  rules.equal('validator-info', both, validator_info.nx_cc_updated, 'nx_cc_updated');
}

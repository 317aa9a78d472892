import { type Static, Type } from '@sinclair/typebox';
import { bytesField, hashField, namedObject, TonBlockIdExt, typeName } from '#api/v2/schemas/ton-objects.js';

export const MasterchainInfo = namedObject('MasterchainInfo', {
  '@type': typeName('blocks.masterchainInfo'),
  last: TonBlockIdExt,
  state_root_hash: hashField('Hash of the state of the masterchain after `last`.'),
  init: TonBlockIdExt,
});
export type MasterchainInfo = Static<typeof MasterchainInfo>;

const BlockSignature = namedObject('BlockSignature', {
  '@type': typeName('blocks.signature'),
  node_id_short: hashField('Which validator: SHA-256 of its public key in TL form.'),
  signature: bytesField('Ed25519 signature.'),
});

const BlockSignatures = namedObject('MasterchainBlockSignatures', {
  '@type': typeName('blocks.blockSignatures'),
  id: TonBlockIdExt,
  signatures: Type.Array(BlockSignature, {
    description: 'Signatures of validators with more than two thirds of the weight.',
  }),
});

const BlockSignaturesSimplex = namedObject('MasterchainBlockSignaturesSimplex', {
  '@type': typeName('blocks.blockSignatures.simplex'),
  id: TonBlockIdExt,
  signatures: Type.Array(BlockSignature, {
    description:
      'Signatures of validators with more than two thirds of the weight, under their vote for the candidate.',
  }),
  session_id: hashField('Session of the validators.'),
  slot: Type.Integer({ description: 'Slot of the session that the vote is about.', format: 'int32' }),
  candidate: bytesField('The candidate, as TL: hashing it gives what the vote names.'),
});

/** Two forms, by how the validators agree. The published document has the first one only. */
export const MasterchainBlockSignatures = Type.Union([BlockSignatures, BlockSignaturesSimplex]);
export type MasterchainBlockSignatures = Static<typeof MasterchainBlockSignatures>;

const ShardBlockLink = namedObject('ShardBlockLink', {
  '@type': typeName('blocks.shardBlockLink'),
  id: TonBlockIdExt,
  proof: bytesField('Proof in the block before in this list, the first one in `mc_id`, that it leads to `id`.'),
});

const BlockLinkBack = namedObject('BlockLinkBack', {
  '@type': typeName('blocks.blockLinkBack'),
  to_key_block: Type.Boolean({ description: 'Whether `to` is a key block.' }),
  from: TonBlockIdExt,
  to: TonBlockIdExt,
  dest_proof: bytesField('Proof of the header of `to`.'),
  proof: bytesField('Proof of the header of `from`, up to the hash of its state.'),
  state_proof: bytesField('Proof in that state that `to` is among the blocks before.'),
});

export const ShardBlockProof = namedObject('ShardBlockProof', {
  '@type': typeName('blocks.shardBlockProof'),
  from: TonBlockIdExt,
  mc_id: TonBlockIdExt,
  links: Type.Array(ShardBlockLink, {
    description: 'From `mc_id` to the block that was asked for; none when it is that block.',
  }),
  mc_proof: Type.Array(BlockLinkBack, { description: 'From `from` back to `mc_id`; none when they are the same.' }),
});
export type ShardBlockProof = Static<typeof ShardBlockProof>;

export const ConsensusBlock = namedObject('ConsensusBlock', {
  '@type': typeName('ext.blocks.consensusBlock'),
  consensus_block: Type.Integer({ description: 'Number of the newest masterchain block.', format: 'int32' }),
  timestamp: Type.Integer({ description: 'When this was so: unix time in seconds.', format: 'int32' }),
});
export type ConsensusBlock = Static<typeof ConsensusBlock>;

export const Shards = namedObject('Shards', {
  '@type': typeName('blocks.shards'),
  shards: Type.Array(TonBlockIdExt, { description: 'The newest block of each shard, from left to right.' }),
});
export type Shards = Static<typeof Shards>;

export const BlockHeader = namedObject(
  'BlockHeader',
  {
    '@type': typeName('blocks.header'),
    id: TonBlockIdExt,
    global_id: Type.Integer({ description: 'Id of the network: -239 is mainnet, -3 testnet.' }),
    version: Type.Integer({ description: 'Version of the form of the block.' }),
    flags: Type.Optional(
      Type.Integer({ description: 'Flags of the header; 1: the software version of its maker is given.' }),
    ),
    after_merge: Type.Boolean({ description: 'The first block after two shards were merged.' }),
    after_split: Type.Boolean({ description: 'The first block after a shard was split.' }),
    before_split: Type.Boolean({ description: 'The shard is split after this block.' }),
    want_merge: Type.Boolean({ description: 'Validators want to merge the shard with its sibling.' }),
    want_split: Type.Boolean({ description: 'Validators want to split the shard.' }),
    validator_list_hash_short: Type.Integer({ description: 'Short hash of the list of validators, an int32.' }),
    catchain_seqno: Type.Integer({ description: 'Number of the session of the validators.' }),
    min_ref_mc_seqno: Type.Integer({ description: 'Oldest masterchain block that the state refers to.' }),
    is_key_block: Type.Boolean({ description: 'A masterchain block with a new configuration or new validators.' }),
    prev_key_block_seqno: Type.Integer({ description: 'Number of the key block before.' }),
    start_lt: Type.String({ description: 'Logical time at which the block begins.' }),
    end_lt: Type.String({ description: 'Logical time at which it ends; those of its transactions lie between.' }),
    gen_utime: Type.Integer({ description: 'When it was made: unix time in seconds.' }),
    prev_blocks: Type.Array(TonBlockIdExt, { description: 'The block before; two after a merge.' }),
  },
  { description: 'What a block says of itself, without its content.', additionalProperties: true },
);
export type BlockHeader = Static<typeof BlockHeader>;

const OutMsgQueueSize = namedObject('OutMsgQueueSize', {
  '@type': typeName('blocks.outMsgQueueSize'),
  id: TonBlockIdExt,
  size: Type.Integer({ description: 'Messages that wait in the queue of the shard after this block.' }),
});

export const OutMsgQueueSizes = namedObject('OutMsgQueueSizes', {
  '@type': typeName('blocks.outMsgQueueSizes'),
  shards: Type.Array(OutMsgQueueSize, { description: 'The masterchain first, then the shards from left to right.' }),
  ext_msg_queue_size_limit: Type.Integer({
    description: 'How many messages from outside a node keeps for a shard before it refuses further ones.',
  }),
});
export type OutMsgQueueSizes = Static<typeof OutMsgQueueSizes>;

import { type Static, Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { GET_OR_POST, type V2Context, v2Endpoint } from '#api/v2/context.js';
import { v2Errors } from '#api/v2/errors.js';
import {
  blockAt,
  blockFields,
  blockPosition,
  blockPositionFields,
  masterchainSeqno,
  NO_PARAMETERS,
  optionalBlockSeqno,
  optionalInt64Parameter,
  shardParameter,
  unixtimeParameter,
  workchainParameter,
} from '#api/v2/parameters.js';
import { PRICE } from '#api/v2/price.js';
import { blockIdExt, bytesField, hashField, TonBlockIdExt, typeName, v2Object } from '#api/v2/ton-objects.js';
import type { BlockHeader as ProvenHeader } from '#formats/proofs/block-header.js';
import { type BlockId, sameBlock } from '#formats/proofs/block-id.js';
import type { BlockLink } from '#formats/proofs/block-proof.js';
import type { ShardBlockLink } from '#formats/proofs/shard-block.js';
import type { SignatureSet } from '#formats/proofs/signatures.js';
import { toBase64 } from '#kernel/bytes.js';

const MasterchainInfoJson = v2Object('MasterchainInfo', {
  '@type': typeName('blocks.masterchainInfo'),
  last: TonBlockIdExt,
  state_root_hash: hashField('Hash of the state of the masterchain after `last`.'),
  init: TonBlockIdExt,
});
type MasterchainInfoJson = Static<typeof MasterchainInfoJson>;

const BlockSignature = v2Object('BlockSignature', {
  '@type': typeName('blocks.signature'),
  node_id_short: hashField('The validator: SHA-256 of its public key in TL form.'),
  signature: bytesField('Ed25519 signature.'),
});

const BlockSignatures = v2Object('MasterchainBlockSignatures', {
  '@type': typeName('blocks.blockSignatures'),
  id: TonBlockIdExt,
  signatures: Type.Array(BlockSignature, {
    description: 'Signatures of validators with more than two thirds of the weight.',
  }),
});

const BlockSignaturesSimplex = v2Object('MasterchainBlockSignaturesSimplex', {
  '@type': typeName('blocks.blockSignatures.simplex'),
  id: TonBlockIdExt,
  signatures: Type.Array(BlockSignature, {
    description: 'Signatures of validators with more than two thirds of the weight, over their vote for the candidate.',
  }),
  session_id: hashField('Id of the validator session.'),
  slot: Type.Integer({ description: 'Slot of the session.', format: 'int32' }),
  candidate: bytesField('The candidate in TL; the vote has its hash.'),
});

/** Two forms, by the consensus protocol (catchain or simplex). The published document has the first one only. */
const MasterchainBlockSignatures = Type.Union([BlockSignatures, BlockSignaturesSimplex]);
type MasterchainBlockSignatures = Static<typeof MasterchainBlockSignatures>;

const ShardBlockLinkJson = v2Object('ShardBlockLink', {
  '@type': typeName('blocks.shardBlockLink'),
  id: TonBlockIdExt,
  proof: bytesField('Proof that the previous block of this list (for the first one `mc_id`) refers to `id`.'),
});

const BlockLinkBackJson = v2Object('BlockLinkBack', {
  '@type': typeName('blocks.blockLinkBack'),
  to_key_block: Type.Boolean({ description: 'Whether `to` is a key block.' }),
  from: TonBlockIdExt,
  to: TonBlockIdExt,
  dest_proof: bytesField('Proof of the header of `to`.'),
  proof: bytesField('Proof of the header of `from`, up to the hash of its state.'),
  state_proof: bytesField('Proof in that state that `to` is among the previous blocks.'),
});

const ShardBlockProof = v2Object('ShardBlockProof', {
  '@type': typeName('blocks.shardBlockProof'),
  from: TonBlockIdExt,
  mc_id: TonBlockIdExt,
  links: Type.Array(ShardBlockLinkJson, {
    description: 'From `mc_id` to the requested block; empty when it is that block.',
  }),
  mc_proof: Type.Array(BlockLinkBackJson, {
    description: 'From `from` back to `mc_id`; empty when they are the same.',
  }),
});
type ShardBlockProof = Static<typeof ShardBlockProof>;

const ConsensusBlock = v2Object('ConsensusBlock', {
  '@type': typeName('ext.blocks.consensusBlock'),
  consensus_block: Type.Integer({ description: 'Number of the newest masterchain block.', format: 'int32' }),
  timestamp: Type.Integer({ description: 'Time of the response: Unix time in seconds.', format: 'int32' }),
});
type ConsensusBlock = Static<typeof ConsensusBlock>;

const ShardsJson = v2Object('Shards', {
  '@type': typeName('blocks.shards'),
  shards: Type.Array(TonBlockIdExt, { description: 'The newest block of each shard, from left to right.' }),
});
type ShardsJson = Static<typeof ShardsJson>;

const BlockHeaderJson = v2Object(
  'BlockHeader',
  {
    '@type': typeName('blocks.header'),
    id: TonBlockIdExt,
    global_id: Type.Integer({ description: 'Id of the network: -239 is mainnet, -3 testnet.' }),
    version: Type.Integer({ description: 'Version of the block format.' }),
    flags: Type.Optional(
      Type.Integer({ description: 'Flags of the header; 1: the software version of the creator is included.' }),
    ),
    after_merge: Type.Boolean({ description: 'The first block after a merge.' }),
    after_split: Type.Boolean({ description: 'The first block after a split.' }),
    before_split: Type.Boolean({ description: 'The shard is split after this block.' }),
    want_merge: Type.Boolean({ description: 'Validators want to merge the shard with its sibling.' }),
    want_split: Type.Boolean({ description: 'Validators want to split the shard.' }),
    validator_list_hash_short: Type.Integer({ description: 'Short hash of the validator list, an int32.' }),
    catchain_seqno: Type.Integer({ description: 'Catchain seqno of the validator session.' }),
    min_ref_mc_seqno: Type.Integer({ description: 'Oldest masterchain block that the state refers to.' }),
    is_key_block: Type.Boolean({ description: 'A masterchain block with a new configuration or new validators.' }),
    prev_key_block_seqno: Type.Integer({ description: 'Seqno of the previous key block.' }),
    start_lt: Type.String({ description: 'Logical time of the start of the block.' }),
    end_lt: Type.String({
      description: 'Logical time of the end of the block; those of its transactions lie between.',
    }),
    gen_utime: Type.Integer({ description: 'Generation time: Unix time in seconds.' }),
    prev_blocks: Type.Array(TonBlockIdExt, { description: 'The previous block; two after a merge.' }),
  },
  { description: 'The header of a block.', additionalProperties: true },
);
type BlockHeaderJson = Static<typeof BlockHeaderJson>;

const OutMsgQueueSize = v2Object('OutMsgQueueSize', {
  '@type': typeName('blocks.outMsgQueueSize'),
  id: TonBlockIdExt,
  size: Type.Integer({ description: 'Messages in the out-message queue of the shard after this block.' }),
});

const OutMsgQueueSizes = v2Object('OutMsgQueueSizes', {
  '@type': typeName('blocks.outMsgQueueSizes'),
  shards: Type.Array(OutMsgQueueSize, { description: 'The masterchain first, then the shards from left to right.' }),
  ext_msg_queue_size_limit: Type.Integer({
    description: 'How many external-in messages a node queues for a shard before it refuses further ones.',
  }),
});
type OutMsgQueueSizes = Static<typeof OutMsgQueueSizes>;

const TAG = 'Blocks';

const getMasterchainBlockSignatures = v2Endpoint({
  name: 'getMasterchainBlockSignatures',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'Signatures of a masterchain block',
  description:
    'Verified signatures of validators with more than two thirds of the weight. What is signed depends on the consensus ' +
    'protocol: the hashes of the block, or a vote for the candidate that became the block.',
  params: Type.Object({ seqno: masterchainSeqno }, { additionalProperties: false }),
  result: MasterchainBlockSignatures,
  statuses: [404, 422, 504],
  price: () => PRICE.block,
  freshness: 'forever',
  handle: async ({ seqno }, { network: { chain }, read }) => {
    const { block, signatures } = await chain.blockSignatures({ ...read, at: seqno });
    return blockSignatures(block, signatures);
  },
});

const getShardBlockProof = v2Endpoint({
  name: 'getShardBlockProof',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'Proof of a shard block by a masterchain block',
  description:
    'Merkle proofs from a masterchain block to a shard block: back to the masterchain block that commits it, from there to ' +
    'the newest block of its shard at that time, and along its shard. With a trusted masterchain block nothing else needs ' +
    'to be trusted.',
  params: Type.Object(
    {
      ...blockPositionFields,
      from_seqno: Type.Optional(
        Type.Integer({
          description: 'Seqno of the masterchain block to start from. Default: the newest one.',
          format: 'int32',
          minimum: 0,
          maximum: 0x7fff_ffff,
        }),
      ),
    },
    { additionalProperties: false },
  ),
  result: ShardBlockProof,
  statuses: [404, 422, 504],
  price: () => PRICE.proofs,
  freshness: ({ from_seqno }) => (from_seqno === undefined ? 'head' : 'forever'),
  handle: async ({ from_seqno, ...position }, { network: { chain }, read }): Promise<ShardBlockProof> => {
    const from = from_seqno === undefined ? (await chain.head(read)).block : await chain.blockId(from_seqno, read);
    const { masterchain_block, links } = await chain.shardBlockProof({ ...read, at: blockPosition(position) });
    if (masterchain_block.seqno > from.seqno) {
      throw v2Errors['old-masterchain-block']({ from: from.seqno, committed: masterchain_block.seqno });
    }
    const back = sameBlock(from, masterchain_block)
      ? []
      : (await chain.blockProof(from, masterchain_block, read)).links.filter(isBack);
    return {
      '@type': 'blocks.shardBlockProof',
      from: blockIdExt(from),
      mc_id: blockIdExt(masterchain_block),
      links: links.map(shardBlockLink),
      mc_proof: back.map(blockLinkBack),
    };
  },
});

/** Links to an older block have no other kind. */
function isBack(link: BlockLink): link is BlockLink & { kind: 'back' } {
  return link.kind === 'back';
}

/** The header of responses whose queue sizes a node counted. */
const QUEUE_SIZE_HEADER = 'X-Tern-Queue-Size';

const getMasterchainInfo = v2Endpoint({
  name: 'getMasterchainInfo',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'The newest masterchain block',
  description:
    'The newest masterchain block, its state hash, and the zerostate, which identifies the network. ' +
    '`last.seqno` is the height of the chain.',
  params: NO_PARAMETERS,
  result: MasterchainInfoJson,
  statuses: [504],
  freshness: 'head',
  handle: async (_, { network: { chain }, read }): Promise<MasterchainInfoJson> => {
    const { block, state_hash } = await chain.head(read);
    const zerostate = await chain.blockId(0, read);
    return {
      '@type': 'blocks.masterchainInfo',
      last: blockIdExt(block),
      state_root_hash: toBase64(state_hash),
      // Nodes return the zerostate without its shard here.
      init: { ...blockIdExt(zerostate), shard: '0' },
    };
  },
});

const getConsensusBlock = v2Endpoint({
  name: 'getConsensusBlock',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'Height of the chain as nodes report it',
  description: 'The highest masterchain seqno that the connected liteservers report, and the current time.',
  params: NO_PARAMETERS,
  result: ConsensusBlock,
  statuses: [504],
  freshness: 'none',
  handle: async (_, { network: { chain, servers, now }, read }): Promise<ConsensusBlock> => {
    const reported = Math.max(0, ...servers().map(({ alive, seqno }) => (alive ? seqno : 0)));
    // Without any report a query tells what is wrong.
    const consensus_block = reported > 0 ? reported : (await chain.head(read)).block.seqno;
    return { '@type': 'ext.blocks.consensusBlock', consensus_block, timestamp: Math.floor(now() / 1000) };
  },
});

const lookupBlock = v2Endpoint({
  name: 'lookupBlock',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'Find a block',
  description:
    'The full id of the block of a shard with a seqno, or of the first one that reaches a logical time, or of the first one ' +
    'that was generated at a time or later. Give exactly one of `seqno`, `lt` and `unixtime`.',
  params: Type.Object(
    {
      workchain: workchainParameter,
      shard: shardParameter,
      seqno: optionalBlockSeqno,
      lt: optionalInt64Parameter('Logical time that the block must reach.', 0n),
      unixtime: unixtimeParameter,
    },
    { additionalProperties: false },
  ),
  check: ({ seqno, lt, unixtime: time }) => {
    const given = [seqno, lt, time].filter((value) => value !== undefined).length;
    if (given === 1) return;
    const problem = `exactly one of seqno, lt, unixtime should be specified, not ${given}`;
    throw httpErrors['bad-parameter']({ parameter: 'seqno', problem });
  },
  result: TonBlockIdExt,
  schemaName: 'LookupBlock',
  statuses: [404, 422, 504],
  price: () => PRICE.block,
  freshness: 'forever',
  handle: async ({ seqno, lt, unixtime: utime, ...prefix }, { network: { chain }, read }) => {
    if (seqno !== undefined) return blockIdExt(await chain.blockId(blockPosition({ ...prefix, seqno }), read));
    const query = lt !== undefined ? ({ by: 'lt', lt } as const) : ({ by: 'utime', utime: utime as number } as const);
    const { block } = await chain.findBlock({ ...prefix, ...query }, read);
    return blockIdExt(block);
  },
});

const getShards = v2Endpoint({
  name: 'getShards',
  aliases: ['shards'],
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'Shards at a masterchain block',
  description: 'The newest block of each shard that a masterchain block commits. The masterchain itself is not listed.',
  params: Type.Object({ seqno: masterchainSeqno }, { additionalProperties: false }),
  result: ShardsJson,
  statuses: [404, 422, 504],
  price: () => PRICE.block,
  freshness: 'forever',
  handle: async ({ seqno }, { network: { chain }, read }): Promise<ShardsJson> => {
    const { shards } = await chain.shards({ ...read, at: seqno });
    return { '@type': 'blocks.shards', shards: shards.map(({ block }) => blockIdExt(block)) };
  },
});

const getBlockHeader = v2Endpoint({
  name: 'getBlockHeader',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'Header of a block',
  description:
    'The header of a block: times, splits and merges, validators, previous blocks. With `root_hash` and `file_hash` the ' +
    'block must have these hashes.',
  params: Type.Object(blockFields, { additionalProperties: false }),
  result: BlockHeaderJson,
  statuses: [404, 422, 504],
  price: () => PRICE.block,
  freshness: 'forever',
  handle: async (params, context) => {
    const { network, read } = context;
    const { header } = await network.chain.header({ ...read, at: await blockAt(params, context) });
    return blockHeaderJson(header);
  },
});

const getOutMsgQueueSize = v2Endpoint({
  name: 'getOutMsgQueueSize',
  aliases: ['getOutMsgQueueSizes'],
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'Sizes of the out-message queues',
  description:
    'How many messages are in the out-message queue of each shard, and how many external-in messages a node queues before it ' +
    'refuses more. Growing queues mean that messages are delayed. Where the state has no queue sizes, a node counted them, ' +
    'and the header `X-Tern-Queue-Size` says so.',
  params: NO_PARAMETERS,
  result: OutMsgQueueSizes,
  statuses: [504],
  price: () => PRICE.proofs,
  freshness: 'head',
  handle: async (_, { network: { chain }, read, header }): Promise<OutMsgQueueSizes> => {
    const [{ queues, proven }, ext_msg_queue_size_limit] = await Promise.all([
      chain.queueSizes(read),
      chain.externalQueueLimit(read),
    ]);
    if (!proven) header(QUEUE_SIZE_HEADER, 'node; reason=states do not keep the sizes of queues');
    const shards = queues.map(({ block, size }) => ({
      '@type': 'blocks.outMsgQueueSize' as const,
      id: blockIdExt(block),
      size,
    }));
    return { '@type': 'blocks.outMsgQueueSizes', shards, ext_msg_queue_size_limit };
  },
});

/** Blocks, in the order of the published document. */
export const v2BlockEndpoints: readonly AnyEndpoint<V2Context>[] = [
  getMasterchainInfo,
  getMasterchainBlockSignatures,
  getShardBlockProof,
  getConsensusBlock,
  lookupBlock,
  getShards,
  getBlockHeader,
  getOutMsgQueueSize,
];

/** `blocks.header` */
function blockHeaderJson({ id, block, info, prev }: ProvenHeader): BlockHeaderJson {
  return {
    '@type': 'blocks.header',
    id: blockIdExt(id),
    global_id: block.global_id,
    version: info.version,
    flags: info.flags,
    after_merge: info.after_merge,
    after_split: info.after_split,
    before_split: info.before_split,
    want_merge: info.want_merge,
    want_split: info.want_split,
    validator_list_hash_short: info.gen_validator_list_hash_short | 0,
    catchain_seqno: info.gen_catchain_seqno,
    min_ref_mc_seqno: info.min_ref_mc_seqno,
    is_key_block: info.key_block,
    prev_key_block_seqno: info.prev_key_block_seqno,
    start_lt: info.start_lt.toString(),
    end_lt: info.end_lt.toString(),
    gen_utime: info.gen_utime,
    prev_blocks: prev.map(blockIdExt),
  };
}

/** `blocks.blockSignatures` or `blocks.blockSignatures.simplex` */
function blockSignatures(block: BlockId, set: SignatureSet): MasterchainBlockSignatures {
  const id = blockIdExt(block);
  const signatures = set.signatures.map(({ node_id_short, signature }) => ({
    '@type': 'blocks.signature' as const,
    node_id_short: toBase64(node_id_short),
    signature: toBase64(signature),
  }));
  if (set.kind === 'ordinary') return { '@type': 'blocks.blockSignatures', id, signatures };
  const { session_id, slot, candidate } = set;
  return {
    '@type': 'blocks.blockSignatures.simplex',
    id,
    signatures,
    session_id: toBase64(session_id),
    slot: slot | 0,
    candidate: toBase64(candidate),
  };
}

/** `blocks.shardBlockLink` */
function shardBlockLink({ id, proof }: ShardBlockLink): ShardBlockProof['links'][number] {
  return { '@type': 'blocks.shardBlockLink', id: blockIdExt(id), proof: toBase64(proof) };
}

/** `blocks.blockLinkBack` */
function blockLinkBack(link: BlockLink & { kind: 'back' }): ShardBlockProof['mc_proof'][number] {
  return {
    '@type': 'blocks.blockLinkBack',
    to_key_block: link.to_key_block,
    from: blockIdExt(link.from),
    to: blockIdExt(link.to),
    dest_proof: toBase64(link.dest_proof),
    proof: toBase64(link.proof),
    state_proof: toBase64(link.state_proof),
  };
}

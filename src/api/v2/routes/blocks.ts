import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { type V2Context, v2Endpoint } from '#api/v2/context.js';
import {
  masterchainSeqno,
  optionalBlockSeqno,
  optionalInt64Parameter,
  shard,
  unixtime,
  workchain,
} from '#api/v2/parameters.js';
import { blockAt, blockFields, blockPosition } from '#api/v2/routes/block-at.js';
import { blockProofEndpoints } from '#api/v2/routes/block-proofs.js';
import { BlockHeader, ConsensusBlock, MasterchainInfo, OutMsgQueueSizes, Shards } from '#api/v2/schemas/blocks.js';
import { TonBlockIdExt } from '#api/v2/schemas/ton-objects.js';
import { blockHeader } from '#api/v2/serialize/blocks.js';
import { blockIdExt } from '#api/v2/serialize/ton-objects.js';
import { type BlockId, sameBlock } from '#formats/proofs/block-id.js';
import { toBase64 } from '#kernel/bytes/bytes.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { ReadOptions } from '#services/chain/read-options.js';

const READ = ['GET', 'POST'] as const;
const TAG = 'Blocks';
/** The header that says that a node counted the messages. */
const QUEUE_SIZE_HEADER = 'X-Tern-Queue-Size';
const NO_PARAMETERS = Type.Object({}, { additionalProperties: false });

/** Of each chain, the newest block whose header was read, with the hash of its state: asked for much more often than it changes. */
const newestStates = new WeakMap<ChainReads, { readonly block: BlockId; readonly state_hash: Uint8Array }>();

async function newestStateHash(chain: ChainReads, block: BlockId, read: ReadOptions): Promise<Uint8Array> {
  const known = newestStates.get(chain);
  if (known !== undefined && sameBlock(known.block, block)) return known.state_hash;
  const { state_hash } = await chain.header({ ...read, at: block });
  newestStates.set(chain, { block, state_hash: state_hash.slice() });
  return state_hash;
}

const getMasterchainInfo = v2Endpoint({
  name: 'getMasterchainInfo',
  verbs: READ,
  tag: TAG,
  summary: 'The newest masterchain block',
  description:
    'The newest block of the masterchain, the hash of its state, and the zerostate, which names the network. ' +
    '`last.seqno` is the height of the chain.',
  params: NO_PARAMETERS,
  result: MasterchainInfo,
  statuses: [504],
  freshness: 'head',
  handle: async (_, { network: { chain }, read }): Promise<MasterchainInfo> => {
    const { block } = await chain.head(read);
    const [state_hash, zerostate] = await Promise.all([newestStateHash(chain, block, read), chain.blockId(0, read)]);
    return {
      '@type': 'blocks.masterchainInfo',
      last: blockIdExt(block),
      state_root_hash: toBase64(state_hash),
      // Nodes name the zerostate without its shard here.
      init: { ...blockIdExt(zerostate), shard: '0' },
    };
  },
});

const getConsensusBlock = v2Endpoint({
  name: 'getConsensusBlock',
  verbs: READ,
  tag: TAG,
  summary: 'Height of the chain as nodes tell it',
  description: 'The highest number of a masterchain block that the connected nodes told of, and the time now.',
  params: NO_PARAMETERS,
  result: ConsensusBlock,
  statuses: [504],
  freshness: 'none',
  handle: async (_, { network: { chain, servers, now }, read }): Promise<ConsensusBlock> => {
    const told = Math.max(0, ...servers().map(({ alive, seqno }) => (alive ? seqno : 0)));
    // Without anybody who told something, asking says what is wrong.
    const consensus_block = told > 0 ? told : (await chain.head(read)).block.seqno;
    return { '@type': 'ext.blocks.consensusBlock', consensus_block, timestamp: Math.floor(now() / 1000) };
  },
});

const lookupBlock = v2Endpoint({
  name: 'lookupBlock',
  verbs: READ,
  tag: TAG,
  summary: 'Find a block',
  description:
    'The full name of the block of a shard with a number, or of the first one that reaches a logical time, or of the ' +
    'first one that was made at a time or later. Give just one of `seqno`, `lt` and `unixtime`.',
  params: Type.Object(
    {
      workchain,
      shard,
      seqno: optionalBlockSeqno,
      lt: optionalInt64Parameter('Logical time that the block is to reach.', 0n),
      unixtime,
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
  verbs: READ,
  tag: TAG,
  summary: 'Shards at a masterchain block',
  description: 'The newest block of each shard that a masterchain block commits. The masterchain itself is not listed.',
  params: Type.Object({ seqno: masterchainSeqno }, { additionalProperties: false }),
  result: Shards,
  statuses: [404, 422, 504],
  freshness: 'forever',
  handle: async ({ seqno }, { network: { chain }, read }): Promise<Shards> => {
    const { shards } = await chain.shards({ ...read, at: seqno });
    return { '@type': 'blocks.shards', shards: shards.map(({ block }) => blockIdExt(block)) };
  },
});

const getBlockHeader = v2Endpoint({
  name: 'getBlockHeader',
  verbs: READ,
  tag: TAG,
  summary: 'Header of a block',
  description:
    'What a block says of itself: times, splits and merges, validators, the blocks before. With `root_hash` and ' +
    '`file_hash` only just that block will do.',
  params: Type.Object(blockFields, { additionalProperties: false }),
  result: BlockHeader,
  statuses: [404, 422, 504],
  freshness: 'forever',
  handle: async (params, context) => {
    const { network, read } = context;
    const { header } = await network.chain.header({ ...read, at: await blockAt(params, context) });
    return blockHeader(header);
  },
});

const getOutMsgQueueSize = v2Endpoint({
  name: 'getOutMsgQueueSize',
  aliases: ['getOutMsgQueueSizes'],
  verbs: READ,
  tag: TAG,
  summary: 'Sizes of the message queues',
  description:
    'How many messages wait in the outgoing queue of each shard, and how many messages from outside a node takes ' +
    'before it refuses more. Growing queues mean that transactions are late. Where the network does not keep the sizes in ' +
    'its state, they are what a node counted, and the header `X-Tern-Queue-Size` says so.',
  params: NO_PARAMETERS,
  result: OutMsgQueueSizes,
  statuses: [504],
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
export const blockEndpoints: readonly AnyEndpoint<V2Context>[] = [
  getMasterchainInfo,
  ...blockProofEndpoints,
  getConsensusBlock,
  lookupBlock,
  getShards,
  getBlockHeader,
  getOutMsgQueueSize,
];

import { Type } from '@sinclair/typebox';
import { type AnyEndpoint, jsonText } from '#api/http/endpoint.js';
import {
  AddressCollector,
  answerType,
  decimal,
  flag,
  hash,
  integer,
  list,
  required,
  shard,
  writeAnswerJson,
} from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { NEEDS_HISTORY, NEEDS_NOTHING } from '#api/v3/coverage.js';
import { v3Errors } from '#api/v3/errors.js';
import { checkPage, filterOf, pageOf, rowsOf } from '#api/v3/page.js';
import {
  pageFields,
  seqnoParameter,
  sortParameter,
  timeParameters,
  v3BlockSeqnoParameter,
  v3HashParameter,
  v3ShardParameter,
  v3WorkchainParameter,
} from '#api/v3/parameters.js';
import { pagePrice, ROW_PRICE } from '#api/v3/price.js';
import type { IndexedBlock } from '#drivers/store/read/index-types.js';

export const BlockIdJson = answerType(
  'BlockId',
  {
    workchain: integer('-1 is the masterchain, 0 the basechain.'),
    shard,
    seqno: integer('Sequence number in its shard.'),
  },
  'The workchain, shard and seqno of a block.',
);

const BlockJson = answerType(
  'Block',
  {
    workchain: integer('-1 is the masterchain, 0 the basechain.'),
    shard,
    seqno: integer('Sequence number in its shard.'),
    root_hash: hash('Hash of the root cell.'),
    file_hash: hash('Hash of the file.'),
    global_id: integer('Id of the network: -239 is mainnet, -3 testnet.'),
    version: integer('Version of the block header.'),
    after_merge: flag('Its shard is the result of a merge.'),
    before_split: flag('Its shard is split after this block.'),
    after_split: flag('Its shard is the result of a split.'),
    want_merge: flag('Its validators want to merge the shard.'),
    want_split: flag('Its validators want to split the shard.'),
    key_block: flag('It is a key block: it may change the configuration.'),
    vert_seqno_incr: flag('It starts a new vertical chain.'),
    flags: integer('Flags of the header.'),
    gen_utime: decimal('Generation time: unix time in seconds.'),
    start_lt: decimal('First logical time.'),
    end_lt: decimal('Logical time after the last one.'),
    validator_list_hash_short: required(
      integer('CRC-32 of its validator list, signed.'),
      (block: IndexedBlock) => block.validator_list_hash_short | 0,
    ),
    gen_catchain_seqno: integer('Catchain seqno of its validator group.'),
    min_ref_mc_seqno: integer('Oldest masterchain block that its shard refers to.'),
    prev_key_block_seqno: integer('Seqno of the last key block before it.'),
    vert_seqno: integer('Seqno in the vertical chain.'),
    master_ref_seqno: required(
      integer('Masterchain block that it refers to; 0 for masterchain blocks.'),
      (block: IndexedBlock) => block.master_ref_seqno ?? 0,
    ),
    rand_seed: hash('Random seed.'),
    created_by: hash('Public key of the validator that created it.'),
    tx_count: integer('Number of its transactions.'),
    masterchain_block_ref: required(BlockIdJson, ({ mc_seqno }: IndexedBlock) => ({
      workchain: -1,
      shard: 1n << 63n,
      seqno: mc_seqno,
    })),
    prev_blocks: list(BlockIdJson, 'The previous block; two after a merge.'),
  },
  'A block. `masterchain_block_ref` is the masterchain block that commits it.',
);

const BlocksResponse = answerType('BlocksResponse', { blocks: list(BlockJson) });

const MasterchainInfoJson = answerType(
  'MasterchainInfo',
  { last: BlockJson, first: BlockJson },
  'The newest and the oldest masterchain block of the index.',
);

const TAG = 'Blockchain Data';
const GET = ['GET'] as const;

const masterchainSeqno = seqnoParameter('Seqno of the masterchain block.');

function answerBlocks(blocks: readonly IndexedBlock[], { profile }: V3Context) {
  return jsonText(writeAnswerJson(BlocksResponse, { blocks }, { profile, addresses: new AddressCollector() }));
}

/** Whether a request is for one block. */
export function namesBlock(given: {
  readonly workchain?: number | undefined;
  readonly shard?: bigint | undefined;
  readonly seqno?: number | undefined;
  readonly root_hash?: unknown;
  readonly file_hash?: unknown;
}): boolean {
  const { workchain, shard, seqno, root_hash, file_hash } = given;
  if (root_hash !== undefined || file_hash !== undefined) return true;
  return seqno !== undefined && workchain !== undefined && (workchain === -1 || shard !== undefined);
}

const masterchainInfo = v3Endpoint({
  name: 'masterchainInfo',
  verbs: GET,
  tag: TAG,
  summary: 'First and last block of the index',
  description: 'The oldest and the newest indexed masterchain block.',
  params: Type.Object({}, { additionalProperties: false }),
  result: MasterchainInfoJson.schema,
  schemaName: 'MasterchainInfo',
  statuses: [422, 503, 504],
  coverage: NEEDS_HISTORY,
  freshness: 'head',
  handle: async (_, { network, query, profile }) => {
    const head = await network.index.extent(query);
    if (head === null) throw v3Errors['nothing-indexed']({});
    return jsonText(writeAnswerJson(MasterchainInfoJson, head, { profile, addresses: new AddressCollector() }));
  },
});

const blocks = v3Endpoint({
  name: 'blocks',
  verbs: GET,
  tag: TAG,
  summary: 'Blocks',
  description:
    'Blocks that match all given conditions, ordered by generation time; ordered by logical time if the request bounds that and ' +
    'not the unix time.',
  params: Type.Object(
    {
      workchain: v3WorkchainParameter,
      shard: v3ShardParameter,
      seqno: v3BlockSeqnoParameter,
      root_hash: Type.Optional(v3HashParameter('Hash of the root cell')),
      file_hash: Type.Optional(v3HashParameter('Hash of the file')),
      mc_seqno: Type.Optional(seqnoParameter('Seqno of the masterchain block that commits it.')),
      ...timeParameters('gen_utime', 'start_lt'),
      ...pageFields,
      sort: sortParameter('By time.'),
    },
    { additionalProperties: false },
  ),
  check: checkPage,
  result: BlocksResponse.schema,
  statuses: [404, 422, 504],
  price: pagePrice(ROW_PRICE.block),
  coverage: {
    // A masterchain block is indexed with all its shard blocks or not at all.
    needs: ({ mc_seqno }) => (mc_seqno === undefined ? ['history'] : []),
    mcBlock: ({ mc_seqno, workchain, seqno }) => mc_seqno ?? (workchain === -1 ? seqno : undefined),
  },
  freshness: 'head',
  handle: async (params, context) => {
    const listed = await context.network.index.blocks(filterOf(params), pageOf(params, context), context.query);
    if (listed.rows.length === 0 && namesBlock(params)) context.coverage.requireHistory();
    return answerBlocks(rowsOf(listed, context), context);
  },
});

const masterchainBlockShardState = v3Endpoint({
  name: 'masterchainBlockShardState',
  verbs: GET,
  tag: TAG,
  summary: 'The newest blocks of all shards at a masterchain block',
  description:
    'The masterchain block and the newest block of each shard as of that masterchain block, ordered by workchain and shard.',
  params: Type.Object({ seqno: masterchainSeqno }, { additionalProperties: false }),
  result: BlocksResponse.schema,
  statuses: [404, 422, 504],
  coverage: { needs: ['history'], mcBlock: ({ seqno }) => seqno },
  freshness: 'head',
  handle: async ({ seqno }, context) => {
    const state = await context.network.index.shardState(seqno, context.query);
    if (state.length === 0) throw v3Errors['blocks-not-found']({ mc_seqno: seqno });
    return answerBlocks(state, context);
  },
});

const masterchainBlockShards = v3Endpoint({
  name: 'masterchainBlockShards',
  verbs: GET,
  tag: TAG,
  summary: 'Blocks that a masterchain block commits',
  description:
    'The masterchain block and all shard blocks that it newly commits. A page after the last of them is an error (404), as is ' +
    'a masterchain block that is not indexed.',
  params: Type.Object(
    {
      seqno: masterchainSeqno,
      include_mc_block: Type.Optional(
        Type.Boolean({ description: 'False: without the masterchain block itself. Default: true.' }),
      ),
      ...pageFields,
      sort: sortParameter('By generation time.'),
    },
    { additionalProperties: false },
  ),
  check: checkPage,
  result: BlocksResponse.schema,
  statuses: [404, 422, 504],
  // A masterchain block is indexed with all its shard blocks or not at all, and never changes.
  price: pagePrice(ROW_PRICE.block),
  coverage: { ...NEEDS_NOTHING, mcBlock: ({ seqno }) => seqno },
  freshness: 'forever',
  handle: async ({ seqno, include_mc_block = true, ...page }, context) => {
    const { index } = context.network;
    const filter = include_mc_block ? { mc_seqno: seqno } : { mc_seqno: seqno, shards_only: true };
    const listed = await index.blocks(filter, pageOf(page, context), context.query);
    if (listed.rows.length === 0 && (include_mc_block || !(await index.hasMcBlock(seqno, context.query)))) {
      throw v3Errors['blocks-not-found']({ mc_seqno: seqno });
    }
    return answerBlocks(rowsOf(listed, context), context);
  },
});

/** Methods about blocks, in the order of the document. */
export const v3BlockEndpoints: readonly AnyEndpoint<V3Context>[] = [
  masterchainInfo,
  blocks,
  masterchainBlockShardState,
  masterchainBlockShards,
];

import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { jsonText } from '#api/http/json-text.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { checkPage, pageOf, rowsOf } from '#api/v3/page.js';
import {
  blockSeqno,
  hashParameter,
  pageFields,
  seqnoParameter,
  shard,
  sortParameter,
  timeParameters,
  workchain,
} from '#api/v3/parameters.js';
import { BlocksResponse, MasterchainInfo } from '#api/v3/schemas/blocks.js';
import { blockText } from '#api/v3/serialize/block.js';
import { dialectOf } from '#api/v3/serialize/dialect.js';
import { listText } from '#api/v3/serialize/texts.js';
import type { IndexedBlock } from '#drivers/store/read/index-reads.js';

const TAG = 'Blockchain Data';
const GET = ['GET'] as const;

const masterchainSeqno = seqnoParameter('Number of the masterchain block.');

function blocksJson(blocks: readonly IndexedBlock[], { profile }: V3Context) {
  const dialect = dialectOf(profile);
  return jsonText(`{"blocks":${listText(blocks.map((block) => blockText(block, dialect)))}}`);
}

const masterchainInfo = v3Endpoint({
  name: 'masterchainInfo',
  verbs: GET,
  tag: TAG,
  summary: 'First and last block of the index',
  description: 'The oldest and the newest masterchain block that are indexed, each with all blocks that it commits.',
  params: Type.Object({}, { additionalProperties: false }),
  result: MasterchainInfo,
  schemaName: 'MasterchainInfo',
  statuses: [422, 503, 504],
  freshness: 'head',
  handle: async (_, { network, query, profile }) => {
    const head = await network.index.head(query);
    if (head === null) throw v3Errors['nothing-indexed']({});
    const dialect = dialectOf(profile);
    return jsonText(`{"last":${blockText(head.last, dialect)},"first":${blockText(head.first, dialect)}}`);
  },
});

const blocks = v3Endpoint({
  name: 'blocks',
  verbs: GET,
  tag: TAG,
  summary: 'Blocks',
  description:
    'Blocks that meet all conditions given, by the time of their making. Where a logical time is a bound and no unix time ' +
    'is, they are in the order of logical time.',
  params: Type.Object(
    {
      workchain,
      shard,
      seqno: blockSeqno,
      root_hash: Type.Optional(hashParameter('Hash of the root cell')),
      file_hash: Type.Optional(hashParameter('Hash of the file')),
      mc_seqno: Type.Optional(seqnoParameter('Number of the masterchain block that commits it.')),
      ...timeParameters('gen_utime', 'start_lt'),
      ...pageFields,
      sort: sortParameter('By time.'),
    },
    { additionalProperties: false },
  ),
  check: checkPage,
  result: BlocksResponse,
  statuses: [422, 504],
  freshness: 'head',
  handle: async (params, context) => {
    const { limit: _, offset: __, cursor: ___, sort: ____, ...filter } = params;
    const listed = await context.network.index.blocks(filter, pageOf(params, context), context.query);
    return blocksJson(rowsOf(listed, context), context);
  },
});

const masterchainBlockShardState = v3Endpoint({
  name: 'masterchainBlockShardState',
  verbs: GET,
  tag: TAG,
  summary: 'The newest blocks of all shards at a masterchain block',
  description:
    'The masterchain block, and the newest block of each shard as it commits them: what of the network was final at that ' +
    'time. Ordered by workchain and shard.',
  params: Type.Object({ seqno: masterchainSeqno }, { additionalProperties: false }),
  result: BlocksResponse,
  statuses: [404, 422, 504],
  freshness: 'head',
  handle: async ({ seqno }, context) => {
    const state = await context.network.index.shardState(seqno, context.query);
    if (state.length === 0) throw v3Errors['blocks-not-found']({ mc_seqno: seqno });
    return blocksJson(state, context);
  },
});

const masterchainBlockShards = v3Endpoint({
  name: 'masterchainBlockShards',
  verbs: GET,
  tag: TAG,
  summary: 'What a masterchain block commits',
  description:
    'The masterchain block, and all blocks of shards that it is the first to commit. Behind the last of them it is an error ' +
    '(404), as for a masterchain block that is not indexed.',
  params: Type.Object(
    {
      seqno: masterchainSeqno,
      include_mc_block: Type.Optional(
        Type.Boolean({ description: 'False: without the masterchain block itself. Default: true.' }),
      ),
      ...pageFields,
      sort: sortParameter('By the time of their making.'),
    },
    { additionalProperties: false },
  ),
  check: checkPage,
  result: BlocksResponse,
  statuses: [404, 422, 504],
  // A round is indexed whole or not at all, and does not change.
  freshness: 'forever',
  handle: async ({ seqno, include_mc_block = true, ...page }, context) => {
    const { index } = context.network;
    const filter = include_mc_block ? { mc_seqno: seqno } : { mc_seqno: seqno, shards_only: true };
    const listed = await index.blocks(filter, pageOf(page, context), context.query);
    if (listed.rows.length === 0 && (include_mc_block || !(await index.hasRound(seqno, context.query)))) {
      throw v3Errors['blocks-not-found']({ mc_seqno: seqno });
    }
    return blocksJson(rowsOf(listed, context), context);
  },
});

/** Methods about blocks, in the order of the document. */
export const blockEndpoints: readonly AnyEndpoint<V3Context>[] = [
  masterchainInfo,
  blocks,
  masterchainBlockShardState,
  masterchainBlockShards,
];

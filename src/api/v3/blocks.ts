import { Type } from '@sinclair/typebox';
import { type AnyEndpoint, jsonText } from '#api/http/endpoint.js';
import { decimalText, hashText, listText, type ProfileFormat, profileFormat } from '#api/v3/answer-type.js';
import { BlocksResponse, MasterchainInfoJson } from '#api/v3/block.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { checkPage, pageOf, rowsOf } from '#api/v3/page.js';
import {
  blockSeqnoParameter,
  hash256Parameter,
  pageFields,
  seqnoParameter,
  shardParameter,
  sortParameter,
  timeParameters,
  workchainParameter,
} from '#api/v3/parameters.js';
import { blockIdText } from '#api/v3/transactions.js';
import type { IndexedBlock } from '#drivers/store/read/index-types.js';

/** A block as `/blocks` shows it. Times and lts are texts; a masterchain block has `master_ref_seqno` 0. */
export function blockJson(block: IndexedBlock, dialect: ProfileFormat): string {
  const committed = { workchain: -1, shard: 1n << 63n, seqno: block.mc_seqno };
  return (
    `{"workchain":${block.workchain},"shard":${dialect.shard(block.shard)},"seqno":${block.seqno}` +
    `,"root_hash":${hashText(block.root_hash)},"file_hash":${hashText(block.file_hash)}` +
    `,"global_id":${block.global_id},"version":${block.version}` +
    `,"after_merge":${block.after_merge},"before_split":${block.before_split},"after_split":${block.after_split}` +
    `,"want_merge":${block.want_merge},"want_split":${block.want_split},"key_block":${block.key_block}` +
    `,"vert_seqno_incr":${block.vert_seqno_incr},"flags":${block.flags},"gen_utime":${decimalText(block.gen_utime)}` +
    `,"start_lt":${decimalText(block.start_lt)},"end_lt":${decimalText(block.end_lt)}` +
    `,"validator_list_hash_short":${block.validator_list_hash_short | 0}` +
    `,"gen_catchain_seqno":${block.gen_catchain_seqno},"min_ref_mc_seqno":${block.min_ref_mc_seqno}` +
    `,"prev_key_block_seqno":${block.prev_key_block_seqno},"vert_seqno":${block.vert_seqno}` +
    `,"master_ref_seqno":${block.master_ref_seqno ?? 0}` +
    `,"rand_seed":${hashText(block.rand_seed)},"created_by":${hashText(block.created_by)},"tx_count":${block.tx_count}` +
    `,"masterchain_block_ref":${blockIdText(committed, dialect)}` +
    `,"prev_blocks":${listText(block.prev_blocks.map((previous) => blockIdText(previous, dialect)))}}`
  );
}

const TAG = 'Blockchain Data';
const GET = ['GET'] as const;

const masterchainSeqno = seqnoParameter('Number of the masterchain block.');

function blocksJson(blocks: readonly IndexedBlock[], { profile }: V3Context) {
  const dialect = profileFormat(profile);
  return jsonText(`{"blocks":${listText(blocks.map((block) => blockJson(block, dialect)))}}`);
}

const masterchainInfo = v3Endpoint({
  name: 'masterchainInfo',
  verbs: GET,
  tag: TAG,
  summary: 'First and last block of the index',
  description: 'The oldest and the newest masterchain block that are indexed, each with all blocks that it commits.',
  params: Type.Object({}, { additionalProperties: false }),
  result: MasterchainInfoJson,
  schemaName: 'MasterchainInfo',
  statuses: [422, 503, 504],
  freshness: 'head',
  handle: async (_, { network, query, profile }) => {
    const head = await network.index.extent(query);
    if (head === null) throw v3Errors['nothing-indexed']({});
    const dialect = profileFormat(profile);
    return jsonText(`{"last":${blockJson(head.last, dialect)},"first":${blockJson(head.first, dialect)}}`);
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
      workchain: workchainParameter,
      shard: shardParameter,
      seqno: blockSeqnoParameter,
      root_hash: Type.Optional(hash256Parameter('Hash of the root cell')),
      file_hash: Type.Optional(hash256Parameter('Hash of the file')),
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
    if (listed.rows.length === 0 && (include_mc_block || !(await index.hasMcBlock(seqno, context.query)))) {
      throw v3Errors['blocks-not-found']({ mc_seqno: seqno });
    }
    return blocksJson(rowsOf(listed, context), context);
  },
});

/** Methods about blocks, in the order of the document. */
export const v3BlockEndpoints: readonly AnyEndpoint<V3Context>[] = [
  masterchainInfo,
  blocks,
  masterchainBlockShardState,
  masterchainBlockShards,
];

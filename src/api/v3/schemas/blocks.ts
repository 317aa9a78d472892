import { Type } from '@sinclair/typebox';
import { decimal, flag, hash, integer, namedObject, shard } from '#api/v3/schemas/fields.js';

export const BlockId = namedObject(
  'BlockId',
  { workchain: integer('-1 is the masterchain, 0 the basechain.'), shard, seqno: integer('Number in its shard.') },
  'The place of a block.',
);

export const Block = namedObject(
  'Block',
  {
    workchain: integer('-1 is the masterchain, 0 the basechain.'),
    shard,
    seqno: integer('Number in its shard.'),
    root_hash: hash('Hash of the root cell.'),
    file_hash: hash('Hash of the file.'),
    global_id: integer('Id of the network: -239 is mainnet, -3 testnet.'),
    version: integer('Version of the block’s header.'),
    after_merge: flag('Two shards were merged before it.'),
    before_split: flag('Its shard is split after it.'),
    after_split: flag('Its shard was split before it.'),
    want_merge: flag('Its validators want to merge the shard.'),
    want_split: flag('Its validators want to split the shard.'),
    key_block: flag('It may change the configuration.'),
    vert_seqno_incr: flag('It begins a new vertical chain.'),
    flags: integer('Flags of the header.'),
    gen_utime: decimal('When it was made: unix time in seconds.'),
    start_lt: decimal('First logical time.'),
    end_lt: decimal('Logical time after the last one.'),
    validator_list_hash_short: integer('CRC-32 of the list of its validators, with sign.'),
    gen_catchain_seqno: integer('Number of the session of its validators.'),
    min_ref_mc_seqno: integer('Oldest masterchain block that its shard refers to.'),
    prev_key_block_seqno: integer('Number of the last key block before it.'),
    vert_seqno: integer('Number in the vertical chain.'),
    master_ref_seqno: integer('Masterchain block that it refers to; 0 for blocks of the masterchain.'),
    rand_seed: hash('Seed of the random numbers in it.'),
    created_by: hash('Public key of the validator that made it.'),
    tx_count: integer('Number of its transactions.'),
    masterchain_block_ref: BlockId,
    prev_blocks: Type.Array(BlockId, { description: 'The block before it; two after a merge.' }),
  },
  'A block. `masterchain_block_ref` is the masterchain block that commits it.',
);

export const BlocksResponse = namedObject('BlocksResponse', { blocks: Type.Array(Block) });

export const MasterchainInfo = namedObject(
  'MasterchainInfo',
  { last: Block, first: Block },
  'The newest and the oldest masterchain block of the index.',
);

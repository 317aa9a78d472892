import { Type } from '@sinclair/typebox';
import {
  answerObject,
  booleanField,
  decimalField,
  hash256Field,
  integerField,
  shardField,
} from '#api/v3/answer-type.js';

export const BlockIdJson = answerObject(
  'BlockId',
  {
    workchain: integerField('-1 is the masterchain, 0 the basechain.'),
    shard: shardField,
    seqno: integerField('Number in its shard.'),
  },
  'The place of a block.',
);

export const BlockJson = answerObject(
  'Block',
  {
    workchain: integerField('-1 is the masterchain, 0 the basechain.'),
    shard: shardField,
    seqno: integerField('Number in its shard.'),
    root_hash: hash256Field('Hash of the root cell.'),
    file_hash: hash256Field('Hash of the file.'),
    global_id: integerField('Id of the network: -239 is mainnet, -3 testnet.'),
    version: integerField('Version of the block’s header.'),
    after_merge: booleanField('Two shards were merged before it.'),
    before_split: booleanField('Its shard is split after it.'),
    after_split: booleanField('Its shard was split before it.'),
    want_merge: booleanField('Its validators want to merge the shard.'),
    want_split: booleanField('Its validators want to split the shard.'),
    key_block: booleanField('It may change the configuration.'),
    vert_seqno_incr: booleanField('It begins a new vertical chain.'),
    flags: integerField('Flags of the header.'),
    gen_utime: decimalField('When it was made: unix time in seconds.'),
    start_lt: decimalField('First logical time.'),
    end_lt: decimalField('Logical time after the last one.'),
    validator_list_hash_short: integerField('CRC-32 of the list of its validators, with sign.'),
    gen_catchain_seqno: integerField('Number of the session of its validators.'),
    min_ref_mc_seqno: integerField('Oldest masterchain block that its shard refers to.'),
    prev_key_block_seqno: integerField('Number of the last key block before it.'),
    vert_seqno: integerField('Number in the vertical chain.'),
    master_ref_seqno: integerField('Masterchain block that it refers to; 0 for blocks of the masterchain.'),
    rand_seed: hash256Field('Seed of the random numbers in it.'),
    created_by: hash256Field('Public key of the validator that made it.'),
    tx_count: integerField('Number of its transactions.'),
    masterchain_block_ref: BlockIdJson,
    prev_blocks: Type.Array(BlockIdJson, { description: 'The block before it; two after a merge.' }),
  },
  'A block. `masterchain_block_ref` is the masterchain block that commits it.',
);

export const BlocksResponse = answerObject('BlocksResponse', { blocks: Type.Array(BlockJson) });

export const MasterchainInfoJson = answerObject(
  'MasterchainInfo',
  { last: BlockJson, first: BlockJson },
  'The newest and the oldest masterchain block of the index.',
);

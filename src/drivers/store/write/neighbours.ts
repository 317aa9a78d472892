import type { ClientBase, QueryResultRow } from 'pg';
import type { Database, ReadLimits } from '#drivers/store/database.js';
import type { SeqnoRange } from '#drivers/store/index-state.js';
import { firstIdOf } from '#drivers/store/keys.js';

/** A stored block, by its place and its hashes. */
export interface StoredBlockId {
  readonly workchain: number;
  /** Signed. */
  readonly shard: bigint;
  readonly seqno: number;
  readonly root_hash: Uint8Array;
  readonly file_hash: Uint8Array;
}

/** The stored blocks next to a range that is to be written. */
export interface StoredNeighbours {
  /** The newest indexed masterchain block before the range, and the oldest one after it; null: none. */
  readonly below: StoredBlockId | null;
  readonly above: StoredBlockId | null;
  /** Those of the wanted shard blocks that are stored. */
  readonly shardBlocks: readonly StoredBlockId[];
}

/** A shard block is looked for in this many masterchain blocks before the range: shards are committed at least every few. */
const SHARD_MC_BLOCKS = 4096;

interface NeighbourRow extends Omit<StoredBlockId, 'seqno'> {
  readonly seqno: number;
  readonly id: bigint;
}

const COLUMNS = 'b.id, b.workchain, b.shard, b.seqno, b.root_hash, b.file_hash';

/**
 * Reads the stored blocks next to a range of masterchain blocks that is not indexed yet.
 *
 * @param shardBlocks places of shard blocks that the blocks of the range follow; shards are signed
 */
export async function readNeighbours(
  client: ClientBase,
  { from, to }: SeqnoRange,
  shardBlocks: readonly Pick<StoredBlockId, 'workchain' | 'shard' | 'seqno'>[],
): Promise<StoredNeighbours> {
  const { rows } = await client.query<NeighbourRow>({
    name: 'read-neighbours',
    text: `WITH near AS (
             SELECT (SELECT max(upper(r)) - 1 FROM unnest(rounds) r WHERE upper(r) <= $1) AS below,
                    (SELECT min(lower(r)) FROM unnest(rounds) r WHERE lower(r) > $2) AS above FROM index_state
           ), mc AS (SELECT below AS seqno FROM near UNION ALL SELECT above FROM near)
           SELECT ${COLUMNS} FROM mc JOIN blocks b ON b.id = mc.seqno::bigint << 24
           UNION ALL
           SELECT ${COLUMNS} FROM unnest($3::integer[], $4::bigint[], $5::integer[]) p (workchain, shard, seqno)
             JOIN blocks b USING (workchain, shard, seqno) WHERE b.id >= $6 AND b.id < $7`,
    values: [
      from,
      to,
      shardBlocks.map(({ workchain }) => workchain),
      shardBlocks.map(({ shard }) => shard),
      shardBlocks.map(({ seqno }) => seqno),
      firstIdOf(Math.max(from - SHARD_MC_BLOCKS, 0)),
      firstIdOf(from),
    ],
  });
  const mc = rows.filter(({ workchain }) => workchain === -1);
  return {
    below: mc.find(({ seqno }) => seqno < from) ?? null,
    above: mc.find(({ seqno }) => seqno > to) ?? null,
    shardBlocks: rows.filter(({ workchain }) => workchain !== -1),
  };
}

/** The stored id of the newest indexed masterchain block; null: none. */
export async function readNewestMcBlockId(
  database: Pick<Database, 'query'>,
  limits: ReadLimits,
): Promise<StoredBlockId | null> {
  const text = `SELECT ${COLUMNS} FROM index_state s JOIN blocks b ON b.id = (upper(s.rounds) - 1)::bigint << 24`;
  const [row] = await database.query<StoredBlockId & QueryResultRow>({ name: 'newest-mc-block', text }, limits);
  return row ?? null;
}

/** The stored ids of masterchain blocks. */
export async function readMcBlockIds(client: ClientBase, seqnos: readonly number[]): Promise<readonly StoredBlockId[]> {
  const { rows } = await client.query<StoredBlockId>(
    `SELECT ${COLUMNS} FROM unnest($1::integer[]) s (seqno) JOIN blocks b ON b.id = s.seqno::bigint << 24`,
    [seqnos],
  );
  return rows;
}

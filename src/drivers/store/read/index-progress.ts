import type { Database, ReadLimits } from '#drivers/store/database.js';
import { storeErrors } from '#drivers/store/errors.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';

/** How far an index is, for those who only read it. */
export interface IndexProgress {
  /** The indexed rounds, as text: another text, another content. */
  readonly rounds: string;
  /** The lowest and the highest masterchain seqno that are indexed; null when there is none. */
  readonly first: number | null;
  readonly last: number | null;
  /** When the block of `last` was made, in unix seconds. */
  readonly gen_utime: number | null;
  /** How many masterchain blocks between first and last are not indexed. */
  readonly missing: number;
}

/** Which network an index is of: hashes of the zerostate. */
export interface NetworkIdentity {
  readonly root_hash: Uint8Array;
  readonly file_hash: Uint8Array;
}

interface Row {
  readonly root_hash: Uint8Array;
  readonly file_hash: Uint8Array;
  readonly rounds: string;
  readonly first: number | null;
  readonly last: number | null;
  readonly gen_utime: bigint | null;
  readonly count: bigint;
}

const TEXT = `SELECT s.zerostate_root_hash AS root_hash, s.zerostate_file_hash AS file_hash, s.rounds::text AS rounds,
  lower(s.rounds) AS first, upper(s.rounds) - 1 AS last,
  (SELECT gen_utime FROM blocks WHERE id = (upper(s.rounds) - 1)::bigint << 24) AS gen_utime,
  (SELECT coalesce(sum(upper(r) - lower(r)), 0) FROM unnest(s.rounds) r) AS count
FROM index_state s`;

/**
 * How far the index is; null before it is begun.
 *
 * @throws store/other-network when it is of another network, and what the database says
 */
export async function readIndexProgress(
  database: Database,
  network: NetworkIdentity,
  limits: ReadLimits,
): Promise<IndexProgress | null> {
  const [row] = await database.query<Row>({ name: 'index-progress', text: TEXT }, limits);
  if (row === undefined) return null;
  for (const field of ['root_hash', 'file_hash'] as const) {
    if (bytesEqual(row[field], network[field])) continue;
    const [expected, found] = [toHex(network[field]), toHex(row[field])];
    throw storeErrors['other-network']({ field: `zerostate_${field}`, expected, found });
  }
  const { rounds, first, last, gen_utime, count } = row;
  const missing = first === null || last === null ? 0 : last - first + 1 - Number(count);
  return { rounds, first, last, gen_utime: gen_utime === null ? null : Number(gen_utime), missing };
}

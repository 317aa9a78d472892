import type { Database, ReadLimits } from '#drivers/store/database.js';
import { type NetworkIdentity, requireSameNetwork } from '#drivers/store/network-identity.js';

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
  /** Another number, something else to tell of contracts or metadata. */
  readonly contract_changes: bigint;
}

interface Row extends NetworkIdentity {
  readonly rounds: string;
  readonly first: number | null;
  readonly last: number | null;
  readonly gen_utime: bigint | null;
  readonly count: bigint;
  readonly contract_changes: bigint;
}

const TEXT = `SELECT s.zerostate_root_hash AS root_hash, s.zerostate_file_hash AS file_hash, s.rounds::text AS rounds,
  lower(s.rounds) AS first, upper(s.rounds) - 1 AS last,
  (SELECT gen_utime FROM blocks WHERE id = (upper(s.rounds) - 1)::bigint << 24) AS gen_utime,
  (SELECT coalesce(sum(upper(r) - lower(r)), 0) FROM unnest(s.rounds) r) AS count, s.contract_changes
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
  requireSameNetwork(network, row);
  const { rounds, first, last, gen_utime, count, contract_changes } = row;
  const missing = first === null || last === null ? 0 : last - first + 1 - Number(count);
  return { rounds, first, last, gen_utime: gen_utime === null ? null : Number(gen_utime), missing, contract_changes };
}

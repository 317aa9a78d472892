import type { ClientBase } from 'pg';
import { addressOfBytes } from '#drivers/store/keys.js';
import { bytesEqual } from '#kernel/bytes/bytes.js';

/** A row of `contracts`: what was found of an account when it was last looked at. */
export interface Summary {
  readonly address: Uint8Array;
  readonly last_trans_lt: bigint;
  readonly mc_seqno: number;
  readonly code_hash: Uint8Array | null;
  /** Sorted. */
  readonly kinds: readonly string[];
  /** Reasons by kind. */
  readonly refused: Readonly<Record<string, string>> | null;
}

/** Summaries by raw address, which nobody else changes until the transaction ends. */
export async function readSummaries(
  client: ClientBase,
  addresses: readonly Uint8Array[],
): Promise<ReadonlyMap<string, Summary>> {
  const { rows } = await client.query<Summary>({
    name: 'contract-summaries',
    text: `SELECT address, last_trans_lt, mc_seqno, code_hash, kinds, refused FROM contracts
           WHERE address = ANY($1::bytea[]) ORDER BY address FOR UPDATE`,
    values: [addresses],
  });
  return new Map(rows.map((row) => [addressOfBytes(row.address).toRaw(), row]));
}

/**
 * Whether a summary needs not be written: it is as the known one, or tells nothing of an account of which nothing was told
 * before.
 */
export function sameSummary(summary: Summary, known: Summary | undefined): boolean {
  if (known === undefined) return summary.kinds.length === 0 && summary.refused === null;
  return (
    summary.last_trans_lt === known.last_trans_lt &&
    summary.mc_seqno === known.mc_seqno &&
    sameBytes(summary.code_hash, known.code_hash) &&
    summary.kinds.join() === known.kinds.join() &&
    reasons(summary) === reasons(known)
  );
}

/** Writes summaries over those that are there. */
export async function writeSummaries(client: ClientBase, summaries: readonly Summary[]): Promise<void> {
  if (summaries.length === 0) return;
  const json = summaries.map(({ kinds, refused }) => JSON.stringify({ kinds, refused }));
  await client.query({
    name: 'write-contract-summaries',
    text: `INSERT INTO contracts AS known (address, last_trans_lt, mc_seqno, code_hash, kinds, refused)
           SELECT n.address, n.last_trans_lt, n.mc_seqno, n.code_hash,
             ARRAY(SELECT jsonb_array_elements_text(n.told->'kinds')), nullif(n.told->'refused', 'null')
           FROM unnest($1::bytea[], $2::bigint[], $3::int[], $4::bytea[], $5::jsonb[])
             n (address, last_trans_lt, mc_seqno, code_hash, told)
           ORDER BY n.address
           ON CONFLICT (address) DO UPDATE SET last_trans_lt = excluded.last_trans_lt, mc_seqno = excluded.mc_seqno,
             code_hash = excluded.code_hash, kinds = excluded.kinds, refused = excluded.refused
           WHERE known.last_trans_lt <= excluded.last_trans_lt`,
    values: [
      summaries.map(({ address }) => address),
      summaries.map(({ last_trans_lt }) => last_trans_lt),
      summaries.map(({ mc_seqno }) => mc_seqno),
      summaries.map(({ code_hash }) => code_hash),
      json,
    ],
  });
}

function sameBytes(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : bytesEqual(a, b);
}

function reasons({ refused }: Summary): string {
  return JSON.stringify(Object.entries(refused ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));
}

import type { ClientBase } from 'pg';
import type { SeqnoRange } from '#drivers/store/write/index-state.js';

/** What is derived from indexed rounds: by each batch from its own, and from those that were indexed before. */
export type Derivation = 'token_events';

/** Notes rounds as derived, in the transaction that writes what follows from them. */
export async function noteDerived(client: ClientBase, name: Derivation, { from, to }: SeqnoRange): Promise<void> {
  await client.query({
    name: 'note-derived',
    text: `INSERT INTO derivations AS d (name, rounds) VALUES ($1, int4multirange(int4range($2, $3)))
           ON CONFLICT (name) DO UPDATE SET rounds = d.rounds + excluded.rounds`,
    values: [name, from, to + 1],
  });
}

/** Forgets what was derived, so that it is derived anew. What is there stays until then. */
export async function forgetDerived(client: ClientBase, name: Derivation): Promise<void> {
  await client.query(`UPDATE derivations SET rounds = '{}' WHERE name = $1`, [name]);
}

/** The first rounds that are indexed and not derived, at most so many; null: there are none. */
export async function nextUnderived(client: ClientBase, name: Derivation, most: number): Promise<SeqnoRange | null> {
  const { rows } = await client.query<{ first: number | null; end: number | null }>({
    name: 'next-underived',
    text: `SELECT lower(r) AS first, least(upper(r), lower(r) + $2) AS end
           FROM index_state s LEFT JOIN derivations d ON d.name = $1
           CROSS JOIN LATERAL (SELECT unnest(s.rounds - coalesce(d.rounds, '{}')) AS r ORDER BY r LIMIT 1) AS u`,
    values: [name, most],
  });
  const next = rows[0];
  return next?.first == null || next.end === null ? null : { from: next.first, to: next.end - 1 };
}

import pg, { type ClientBase } from 'pg';

/** A contract whose rows do not hold any more. */
export interface Lapse {
  readonly address: Uint8Array;
  readonly reason: string;
  /** Tables in which its row does hold. */
  readonly except: readonly string[];
}

/** The rows that have lapsed in one table. */
export interface LapsedRows {
  readonly table: string;
  readonly addresses: readonly Uint8Array[];
}

/** The tables of kinds of contracts are those with this column. */
const TABLES = `
  SELECT c.relname AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  WHERE a.attname = 'lapsed' AND NOT a.attisdropped AND c.relkind = 'r' AND c.relpersistence = 'p'
    AND pg_table_is_visible(c.oid) ORDER BY 1`;

/** Notes in the rows of contracts, whichever tables these are in, that they do not hold any more. */
export async function lapseRows(client: ClientBase, lapses: readonly Lapse[]): Promise<readonly LapsedRows[]> {
  if (lapses.length === 0) return [];
  const { rows: tables } = await client.query<{ name: string }>({ name: 'contract-tables', text: TABLES });
  const lapsed: LapsedRows[] = [];
  for (const { name } of tables) {
    const concerned = lapses.filter(({ except }) => !except.includes(name));
    const { rows } = await client.query<{ address: Uint8Array }>(
      `UPDATE ${pg.escapeIdentifier(name)} t SET lapsed = n.reason
       FROM unnest($1::bytea[], $2::text[]) n (address, reason)
       WHERE t.address = n.address AND t.lapsed IS NULL RETURNING t.address`,
      [concerned.map(({ address }) => address), concerned.map(({ reason }) => reason)],
    );
    lapsed.push({ table: name, addresses: rows.map(({ address }) => address) });
  }
  return lapsed;
}

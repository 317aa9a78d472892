import type pg from 'pg';

/** The tables of the index, and what their rows are ordered by. */
const TABLES = {
  index_state: 'one_row',
  blocks: 'id',
  transactions: 'id',
  messages: 'tx_id, position',
  traces: 'root',
  trace_accounts: 'root, account_key',
  open_messages: 'msg_hash',
  orphan_messages: 'msg_hash',
  accounts: 'address',
  codes: 'code_hash',
  token_events: 'tx_id',
} as const;

export type IndexTable = keyof typeof TABLES;

/** Of each table how many rows it has, and a hash over all of them: equal indexes have equal dumps. */
export type IndexDump = Readonly<Record<IndexTable, string>>;

/** All that an index holds, each row as PostgreSQL prints it, in an order that depends on nothing else. */
export async function dumpIndex(client: pg.ClientBase): Promise<IndexDump> {
  const dump: Record<string, string> = {};
  for (const [table, order] of Object.entries(TABLES)) {
    const { rows } = await client.query<{ dump: string }>(
      `SELECT count(*) || ' rows, ' || coalesce(md5(string_agg(md5(t::text), '' ORDER BY ${order})), '-') AS dump
       FROM ${contentOf(table)} t`,
    );
    dump[table] = rows[0]!.dump;
  }
  return dump as IndexDump;
}

/** The rows of a table that only one of two indexes has: `- row` of the first, `+ row` of the second. */
export async function differingRows(
  first: pg.ClientBase,
  second: pg.ClientBase,
  table: IndexTable,
  limit = 10,
): Promise<string[]> {
  const [a, b] = await Promise.all([printedRows(first, table), printedRows(second, table)]);
  const only = (these: Set<string>, others: Set<string>, sign: string) =>
    [...these].filter((row) => !others.has(row)).map((row) => `${sign} ${row.slice(0, 600)}`);
  return [...only(a, b, '-').slice(0, limit), ...only(b, a, '+').slice(0, limit)];
}

/** How often what is told of contracts has changed, and which of their events are confirmed, depends on when it was looked at. */
function contentOf(table: string): string {
  if (table === 'token_events') {
    return '(SELECT tx_id, lt, now, account_key, source_key, destination_key, kind, aborted FROM token_events)';
  }
  return table === 'index_state'
    ? "(SELECT to_jsonb(i) - 'contract_changes' AS row, one_row FROM index_state i)"
    : table;
}

async function printedRows(client: pg.ClientBase, table: IndexTable): Promise<Set<string>> {
  const { rows } = await client.query<{ row: string }>(
    `SELECT t::text AS row FROM ${contentOf(table)} t ORDER BY ${TABLES[table]}`,
  );
  return new Set(rows.map(({ row }) => row));
}

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
  classified_traces: 'root',
  actions: 'root, position',
  action_accounts: 'root, position, account_key',
  accounts: 'address',
  codes: 'code_hash',
  contracts: 'address',
  token_events: 'tx_id',
  jetton_masters: 'address',
  jetton_wallets: 'address',
  nft_collections: 'address',
  nft_items: 'address',
  dns_items: 'address',
  nft_sales: 'address',
  nft_auctions: 'address',
  telemint_items: 'address',
  multisigs: 'address',
  multisig_orders: 'address',
  vesting_contracts: 'address',
  nominator_pools: 'address',
  dex_pools: 'address',
} as const;

const CONTRACT_TABLES: readonly string[] = Object.keys(TABLES).slice(Object.keys(TABLES).indexOf('jetton_masters'));

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

/**
 * What depends on nothing but the chain. When contracts were looked at decides how often what is told of them has changed, and
 * whether those were seen that are gone.
 */
function contentOf(table: string): string {
  switch (table) {
    case 'index_state':
      return "(SELECT to_jsonb(i) - '{contract_changes,last_event}'::text[] AS row, one_row FROM index_state i)";
    case 'contracts':
      return "(SELECT address, last_trans_lt, mc_seqno, code_hash, kinds FROM contracts WHERE kinds <> '{}')";
    case 'token_events':
      return "(SELECT tx_id, to_jsonb(e) - '{confirmed,token_key}'::text[] AS row FROM token_events e)";
    default:
      return CONTRACT_TABLES.includes(table)
        ? `(SELECT address, to_jsonb(c) AS row FROM ${table} c WHERE lapsed IS NULL)`
        : table;
  }
}

async function printedRows(client: pg.ClientBase, table: IndexTable): Promise<Set<string>> {
  const { rows } = await client.query<{ row: string }>(
    `SELECT t::text AS row FROM ${contentOf(table)} t ORDER BY ${TABLES[table]}`,
  );
  return new Set(rows.map(({ row }) => row));
}

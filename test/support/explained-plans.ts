import pg from 'pg';
import type { Database } from '#drivers/store/database.js';
import { insert } from '#test/support/indexed-chain.js';

/** A statement that was sent. */
export interface SentStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly isPrepared: boolean;
}

/** Stands for a database: keeps what is sent to it, and answers as it is told. */
export function recordingDatabase(answer: (statement: SentStatement) => object[] | Promise<object[]>): {
  readonly database: Database;
  readonly sent: SentStatement[];
} {
  const sent: SentStatement[] = [];
  const query = async (statement: { text: string; values: readonly unknown[]; name?: string }) => {
    const { text, values, name } = statement;
    sent.push({ text, values, isPrepared: name !== undefined });
    return answer({ text, values, isPrepared: name !== undefined });
  };
  const database = { read: (work: (reader: object) => Promise<unknown>) => work({ query }) };
  return { database: database as unknown as Database, sent };
}

/** What a plan does. */
export interface PlanCost {
  /** Tables that are read from end to end. */
  readonly scanned: readonly string[];
  /** Blocks of tables and indexes that were looked at. */
  readonly buffers: number;
  readonly ms: number;
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Loops': number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Runs a statement, and tells what its plan did. @param mode the plan for any values, or the one for these */
export async function explain(
  client: pg.Client,
  { text, values }: SentStatement,
  mode: 'force_generic_plan' | 'force_custom_plan',
): Promise<PlanCost> {
  const written = values.map((value) => literal(value));
  await client.query(`SET plan_cache_mode = ${mode}`);
  await client.query(`PREPARE explained AS ${text}`);
  try {
    const call = written.length === 0 ? 'explained' : `explained(${written.join(', ')})`;
    const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE ${call}`);
    const [{ Plan: plan, 'Execution Time': ms }] = rows[0]['QUERY PLAN'];
    const scanned: string[] = [];
    collect(plan, scanned);
    return { scanned, buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], ms };
  } finally {
    await client.query('DEALLOCATE explained');
  }
}

function collect(node: PlanNode, scanned: string[]): void {
  if (node['Node Type'] === 'Seq Scan' && node['Actual Loops'] > 0) scanned.push(node['Relation Name']!);
  for (const child of node.Plans ?? []) collect(child, scanned);
}

function literal(value: unknown): string {
  if (value === null) return 'NULL';
  // In the text of an array a backslash stands for the character behind it.
  const item = (one: unknown) => `"${plain(one).replaceAll('\\', '\\\\')}"`;
  if (Array.isArray(value)) return pg.escapeLiteral(`{${value.map(item).join(',')}}`);
  return pg.escapeLiteral(plain(value));
}

function plain(value: unknown): string {
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : String(value);
}

/** Masterchain blocks, transactions in each, and partitions of {@link fillLarge}. */
export const LARGE = { rounds: 4800, transactions: 40, partitionRounds: 1300, lt: 1_000_000n } as const;

/** Fills the tables of an index with numbers: many rows, of which few accounts, bodies and opcodes have most. No cells. */
export async function fillLarge(
  client: pg.Client,
  keys: { readonly hot: bigint; readonly cold: bigint },
): Promise<void> {
  const { rounds, transactions, partitionRounds } = LARGE;
  for (const table of ['blocks', 'transactions', 'messages', 'traces', 'trace_accounts', 'token_events']) {
    for (let from = 0; from <= rounds; from += partitionRounds) {
      await client.query(
        `CREATE TABLE ${table}_p${from / partitionRounds} PARTITION OF ${table}
         FOR VALUES FROM (${BigInt(from) << 24n}) TO (${BigInt(from + partitionRounds) << 24n})`,
      );
    }
  }
  const spread = (text: string) => `hashint8extended(${text}, 1)`;
  await client.query(
    `INSERT INTO blocks
     SELECT r::bigint << 24 | o, CASE o WHEN 0 THEN -1 ELSE 0 END,
       CASE o WHEN 0 THEN ${-(1n << 63n)} WHEN 1 THEN 4611686018427387904 ELSE -4611686018427387904 END, r,
       sha256((r * 4 + o)::text::bytea), sha256((r * 4 + o + 9000000)::text::bytea), 1, 0, 0, 0, 1000 + r,
       r::bigint * 1000000 + 10, r::bigint * 1000000 + 900000 + (CASE o WHEN 0 THEN 50000 ELSE 0 END), 0, 0, 0, 0, 0, NULL, '', '', 13, 40,
       ARRAY[]::bigint[], CASE o WHEN 0 THEN ARRAY[0, 4611686018427387904, r, 0, -4611686018427387904, r] END
     FROM generate_series(1, ${rounds}) r, generate_series(0, 2) o`,
  );
  await client.query(
    `INSERT INTO transactions
     SELECT r::bigint << 24 | n, r::bigint * 1000000 + 100 + n, 1000 + r,
       CASE WHEN n % 2 = 0 THEN ${keys.hot} WHEN n = 1 AND r % 300 = 0 THEN ${keys.cold} ELSE ${spread('r % 1000 * 1000 + n')} END,
       ${spread('r::bigint << 24 | n')} & 1152921504606846975, r::bigint << 24 | (n - n % 3),
       CASE WHEN n % 3 = 0 THEN NULL ELSE ${spread('((r - 2)::bigint << 24 | n) * 7')} & 1152921504606846975 END,
       CASE WHEN n % 5 = 0 THEN -4611686018427387904 ELSE 4611686018427387904 END, 0, r, 13, NULL, '\\x00'
     FROM generate_series(1, ${rounds}) r, generate_series(1, ${transactions}) n`,
  );
  await client.query(
    `INSERT INTO messages
     SELECT r::bigint << 24 | n, ${spread('(r::bigint << 24 | n) * 7')} & 1152921504606846975,
       CASE WHEN n % 3 = 0 THEN 77 ELSE ${spread('r::bigint << 24 | n')} & 1152921504606846975 END, NULL,
       CASE WHEN n % 40 = 0 THEN NULL WHEN n % 2 = 0 THEN ${keys.hot} ELSE ${spread('r % 1000 * 1000 + n')} END,
       CASE WHEN n % 4 = 0 THEN ${keys.hot} WHEN n = 1 AND r % 300 = 0 THEN ${keys.cold} ELSE ${spread('r % 900 * 1000 + n')} END,
       CASE WHEN n % 40 = 0 THEN NULL ELSE r::bigint * 1000000 + 101 + n END, CASE WHEN n % 40 = 0 THEN NULL ELSE 1000 + r END,
       CASE n % 5 WHEN 0 THEN 0 WHEN 1 THEN 395134233 ELSE n END, CASE WHEN n % 40 = 0 THEN 0 ELSE 1 END
     FROM generate_series(1, ${rounds}) r, generate_series(1, ${transactions}) n`,
  );
  await client.query(
    `INSERT INTO traces
     SELECT r::bigint << 24 | n, r::bigint * 1000000 + 100 + n, 1000 + r, r::bigint * 1000000 + 102 + n, 1000 + r, r, 3, 3, 0, 0, ''
     FROM generate_series(1, ${rounds}) r, generate_series(0, ${transactions}, 3) n`,
  );
  await client.query(
    `INSERT INTO trace_accounts
     SELECT r::bigint << 24 | n, CASE WHEN n % 2 = 0 THEN ${keys.hot} ELSE ${spread('n + r')} END, r::bigint * 1000000 + 102 + n, 1000 + r
     FROM generate_series(1, ${rounds}) r, generate_series(0, ${transactions}, 3) n`,
  );
  await client.query(
    `INSERT INTO token_events
     SELECT r::bigint << 24 | n, r::bigint * 1000000 + 100 + n, 1000 + r,
       CASE WHEN n % 4 = 0 THEN ${keys.hot} WHEN n = 1 AND r % 300 = 0 THEN ${keys.cold} ELSE ${spread('r % 1000 * 1000 + n')} END,
       CASE WHEN n % 3 = 0 THEN ${keys.hot} WHEN n = 1 AND r % 300 = 0 THEN ${keys.cold} ELSE ${spread('r % 10')} END,
       CASE WHEN n % 2 = 0 THEN ${keys.hot} WHEN n = 1 AND r % 300 = 0 THEN ${keys.cold} ELSE ${spread('r % 900 * 1000 + n')} END,
       CASE WHEN n % 5 = 0 THEN ${keys.hot} WHEN n = 1 AND r % 300 = 0 THEN ${keys.cold} ELSE ${spread('r % 800 * 1000 + n')} END,
       CASE n % 8 WHEN 7 THEN 2 WHEN 6 THEN 4 WHEN 5 THEN 3 ELSE 1 END, false, n % 7 > 0
     FROM generate_series(1, ${rounds}) r, generate_series(1, ${transactions}) n`,
  );
  await insert(client, 'index_state', [
    {
      ...{ one_row: true, zerostate_root_hash: new Uint8Array(), zerostate_file_hash: new Uint8Array() },
      ...{ partition_rounds: partitionRounds, selection: {}, rounds: `{[1,${rounds + 1})}`, pruned_below: 0 },
    },
  ]);
  await client.query('VACUUM ANALYZE');
}

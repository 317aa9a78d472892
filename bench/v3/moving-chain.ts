import pg from 'pg';
import { connectionConfig } from '#drivers/store/connection.js';
import { appendEvents, touchedKeys } from '#drivers/store/event-log.js';
import { claimRange } from '#drivers/store/index-state.js';
import { firstIdOf } from '#drivers/store/keys.js';

/** The tables of a block, with the column that says which block a row belongs to. */
const TABLES = {
  blocks: 'id',
  transactions: 'id',
  messages: 'tx_id',
  trace_accounts: 'root',
  traces: 'root',
} as const;

const HELD = Object.keys(TABLES).map((table) => `held_${table}`);

/** A trace is told with its last block. */
const BY_END: ReadonlySet<string> = new Set(['traces', 'trace_accounts']);

/**
 * A chain that goes on: the last blocks of a synthetic index are taken out of it and committed again one by one, as the indexer
 * commits them: in one transaction, with an event that names what the block touched.
 */
export class MovingChain {
  readonly #client: pg.Client;
  readonly #last: number;
  #head: number;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> = Promise.resolve();
  /** Milliseconds that commits took. */
  readonly commits: number[] = [];
  touchedAccounts = 0;

  private constructor(client: pg.Client, head: number, last: number) {
    this.#client = client;
    this.#head = head;
    this.#last = last;
  }

  /** @param blocks how many are held back */
  static async take(url: string, last: number, blocks: number): Promise<MovingChain> {
    const client = new pg.Client(connectionConfig(url));
    await client.connect();
    const head = last - blocks;
    await MovingChain.#putBack(client, last);
    await client.query('BEGIN');
    for (const [table, column] of Object.entries(TABLES)) {
      const isLater = BY_END.has(table)
        ? `x.root IN (SELECT t.root FROM traces t WHERE t.mc_seqno_end > ${head})`
        : `x.${column} >= ${firstIdOf(head + 1)}`;
      await client.query(`CREATE TABLE held_${table} AS SELECT * FROM ${table} x WHERE ${isLater}`);
    }
    for (const [table, column] of Object.entries(TABLES).reverse()) {
      const isHeld = BY_END.has(table)
        ? `x.root IN (SELECT h.root FROM held_traces h)`
        : `x.${column} >= ${firstIdOf(head + 1)}`;
      await client.query(`DELETE FROM ${table} x WHERE ${isHeld}`);
    }
    for (const [table, column] of Object.entries(TABLES))
      await client.query(`CREATE INDEX ON held_${table} (${column})`);
    await client.query('CREATE INDEX ON held_traces (mc_seqno_end)');
    await client.query('UPDATE index_state SET rounds = int4multirange(int4range(1, $1))', [head + 1]);
    await client.query('COMMIT');
    await client.query('ANALYZE');
    return new MovingChain(client, head, last);
  }

  /** What a run that was interrupted has held back. */
  static async #putBack(client: pg.Client, last: number): Promise<void> {
    const { rows } = await client.query<{ head: number; isHeld: boolean }>(
      `SELECT upper(rounds) - 1 AS head, to_regclass('held_traces') IS NOT NULL AS "isHeld" FROM index_state`,
    );
    const [state] = rows;
    if (state?.isHeld !== true) return;
    await new MovingChain(client, state.head, last).#commit(last);
    await client.query(`DROP TABLE ${HELD.join(', ')}`);
  }

  get head(): number {
    return this.#head;
  }

  /** @param together blocks that are committed at once, as one busy block */
  start(perSecond: number, together: number): void {
    this.#timer = setInterval(() => {
      this.#running = this.#running.then(() => this.#commit(together));
    }, 1000 / perSecond);
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#running;
  }

  /** The index as it was. */
  async close(): Promise<void> {
    await this.stop();
    while (this.#head < this.#last) await this.#commit(this.#last - this.#head);
    await this.#client.query(`DROP TABLE ${HELD.join(', ')}`);
    await this.#client.end();
  }

  async #commit(together: number): Promise<void> {
    if (this.#head >= this.#last) return;
    const began = performance.now();
    const client = this.#client;
    const from = this.#head + 1;
    const to = Math.min(this.#last, this.#head + together);
    const [low, high] = [firstIdOf(from), firstIdOf(to + 1)];
    const moved = async <Row>(table: keyof typeof TABLES, columns: string): Promise<Row[]> => {
      const which = BY_END.has(table)
        ? `h.root IN (SELECT t.root FROM held_traces t WHERE t.mc_seqno_end BETWEEN ${from} AND ${to})`
        : `h.${TABLES[table]} >= ${low} AND h.${TABLES[table]} < ${high}`;
      const { rows } = await client.query(
        `INSERT INTO ${table} SELECT h.* FROM held_${table} h WHERE ${which} RETURNING ${columns}`,
      );
      return rows as Row[];
    };
    await client.query('BEGIN');
    const claimed = await claimRange(client, { from, to }, 1);
    await moved('blocks', 'id');
    const transactions = await moved<Parameters<typeof touchedKeys>[0]['transactions'][number]>(
      'transactions',
      'account_key, hash_key, in_msg_key, trace_root',
    );
    const messages = await moved<Parameters<typeof touchedKeys>[0]['messages'][number]>(
      'messages',
      'msg_key, norm_key, destination_key',
    );
    await moved('trace_accounts', 'root');
    const traces = await moved<{ readonly root: bigint }>('traces', 'root');
    const touched = touchedKeys({
      transactions,
      messages,
      traces: traces.map(({ root }) => root),
      senders: [],
      tokens: [],
      owners: [],
    });
    await appendEvents(client, [{ id: claimed.last_event, kind: 'committed', range: { from, to }, touched }]);
    await client.query('COMMIT');
    this.#head = to;
    this.touchedAccounts += touched.accounts.length;
    this.commits.push(performance.now() - began);
  }
}

import type pg from 'pg';
import type { Pool } from '#drivers/store/pool.js';
import { pause } from '#kernel/async/pause.js';
import type { Clock } from '#kernel/clock/clock.js';

/**
 * A query. One with a name is parsed once for each connection, and planned once if a plan for any values is as good as one for
 * these. The same name must always have the same text.
 */
export interface Query {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** A connection while a reading has it. */
export interface Reader {
  /** @throws store/timeout, store/cancelled, store/unreachable and others */
  query<Row extends pg.QueryResultRow>(query: Query): Promise<Row[]>;
}

/** The queries of one reading, on one connection, which can be stopped together. */
export class Reading {
  readonly #pool: Pool;
  readonly #clock: Clock;
  #stopped: Error | null = null;
  #running = 0;
  /** Ends when nothing is left to be cancelled. */
  #cancelling: Promise<void> | null = null;
  #client: pg.PoolClient | null = null;

  constructor(pool: Pool, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
  }

  /** Cancels the query that runs, and refuses further ones; all fail for this reason. Only the first reason counts. */
  stop(reason: Error): void {
    this.#stopped ??= reason;
    if (this.#running > 0) this.#cancelling ??= this.#cancel();
  }

  async query<Row extends pg.QueryResultRow>(client: pg.PoolClient, { name, text, values }: Query): Promise<Row[]> {
    if (this.#stopped !== null) throw this.#stopped;
    this.#client = client;
    this.#running++;
    try {
      const { rows } = await client.query<Row>({ text, ...(name && { name }), ...(values && { values: [...values] }) });
      return rows;
    } catch (error) {
      throw this.#stopped ?? error;
    } finally {
      this.#running--;
      // The connection goes on to another reading, which must not be cancelled instead.
      await this.#cancelling;
    }
  }

  /** A cancellation that overtakes its query has no effect, so it is said again. */
  async #cancel(): Promise<void> {
    while (this.#running > 0) {
      await this.#pool.cancel(this.#client!);
      if (this.#running > 0) await pause(20, this.#clock);
    }
  }
}

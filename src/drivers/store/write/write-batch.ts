import type { ClientBase } from 'pg';
import { copyBinary } from '#drivers/store/copy.js';
import { claimRounds, type SeqnoRange } from '#drivers/store/write/index-state.js';
import { mergeAccounts } from '#drivers/store/write/merge-accounts.js';
import { lockTraces } from '#drivers/store/write/merge-traces.js';

/** Rows of one table in the binary form of `COPY`. */
export interface EncodedTable {
  readonly table: string;
  readonly columns: readonly string[];
  readonly bytes: Uint8Array;
  readonly rows: number;
}

/** What is written of a range of rounds. */
export interface EncodedBatch {
  readonly range: SeqnoRange;
  /** Rows that are added as they are, and those of the staging tables. */
  readonly tables: readonly EncodedTable[];
}

/**
 * Writes a batch in the transaction of the caller. Most of it goes beside other batches; from `traces` on one batch at a time,
 * until the transaction ends.
 *
 * @param traces changes the traces that this batch continues or connects; its own rows are there
 * @throws store/overlap and what the database says: the transaction must be rolled back
 */
export async function writeBatch(
  client: ClientBase,
  { range, tables }: EncodedBatch,
  traces: () => Promise<void>,
): Promise<void> {
  for (const { table, columns, bytes, rows } of tables) {
    if (rows > 0) await copyBinary(client, table, columns, [bytes]);
  }
  await lockTraces(client);
  await claimRounds(client, range);
  await mergeAccounts(client);
  await traces();
}

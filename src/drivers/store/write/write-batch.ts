import pg, { type ClientBase } from 'pg';
import { copyBinary } from '#drivers/store/copy.js';
import { storeErrors } from '#drivers/store/errors.js';
import { claimRounds, requireUnclaimed, type SeqnoRange } from '#drivers/store/write/index-state.js';
import { mergeAccounts } from '#drivers/store/write/merge-accounts.js';
import { lockTraces } from '#drivers/store/write/merge-traces.js';

/** Rows of one table in the binary form of `COPY`. */
export interface EncodedTable {
  readonly table: string;
  readonly columns: readonly string[];
  readonly bytes: Uint8Array;
  readonly rows: number;
}

/** What is written of a range of rounds, in three parts, each of which is made when it is due. */
export interface BatchParts {
  readonly range: SeqnoRange;
  /** Hashes of codes whose accounts need not be looked at for what contracts they are. */
  readonly plainCodes: readonly Uint8Array[];
  /** Rows that are added as they are. */
  rows(): Promise<readonly EncodedTable[]>;
  /** Rows of the staging tables. What was written before this batch can be read. */
  staged(): Promise<readonly EncodedTable[]>;
  /** Changes the traces that this batch continues or connects; its own rows are there. */
  traces(): Promise<void>;
}

const UNIQUE_VIOLATION = '23505';

/** How a batch goes beside others. */
export interface BatchOrder {
  /** No other one is written at the same time: what `rows` reads of traces stays true. */
  readonly alone: boolean;
  /** Waited for before `staged`: batches that come in their order find there what those before them have written. */
  readonly turn: () => Promise<void>;
}

/**
 * Writes a batch in the transaction of the caller. Most of it goes beside other batches; from `staged` on one batch at a time,
 * until the transaction ends.
 *
 * @throws store/overlap and what the database says: the transaction must be rolled back
 */
export async function writeBatch(client: ClientBase, parts: BatchParts, { alone, turn }: BatchOrder): Promise<void> {
  const { range } = parts;
  if (alone) await lockTraces(client);
  await requireUnclaimed(client, range);
  try {
    await copyTables(client, await parts.rows());
  } catch (error) {
    // Another process has written the same rounds meanwhile.
    if (error instanceof pg.DatabaseError && error.code === UNIQUE_VIOLATION) throw storeErrors.overlap(range, error);
    throw error;
  }
  await turn();
  if (!alone) await lockTraces(client);
  await claimRounds(client, range);
  await copyTables(client, await parts.staged());
  await mergeAccounts(client, parts.plainCodes);
  await parts.traces();
}

async function copyTables(client: ClientBase, tables: readonly EncodedTable[]): Promise<void> {
  for (const { table, columns, bytes, rows } of tables) {
    if (rows > 0) await copyBinary(client, table, columns, [bytes]);
  }
}

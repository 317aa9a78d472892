import type { ClientBase } from 'pg';
import pg from 'pg';
import { CopyRows, copyBinary } from '#drivers/store/copy.js';
import { storeErrors } from '#drivers/store/errors.js';
import { appendEvents, type IndexEvent, type TouchedMcBlock } from '#drivers/store/event-log.js';
import { type ClaimedRange, claimRange, requireUnclaimed, type SeqnoRange } from '#drivers/store/index-state.js';
import {
  BLOCKS,
  MESSAGES,
  OPEN_MESSAGES,
  ORPHAN_MESSAGES,
  STAGED_ACCOUNTS,
  STAGED_CODES,
  type TableRows,
  TOKEN_EVENTS,
  TRACE_ACCOUNTS,
  TRACES,
  TRANSACTIONS,
} from '#drivers/store/tables.js';
import { mergeAccounts, stageDeletedAccounts } from '#drivers/store/write/accounts.js';
import { importedIntervals } from '#drivers/store/write/state-imports.js';
import { lockTraces } from '#drivers/store/write/traces.js';

/** Rows of one table in the binary form of `COPY`. */
export interface EncodedTable {
  readonly table: string;
  readonly columns: readonly string[];
  readonly bytes: Uint8Array;
  readonly rows: number;
}

/** The contents of a batch: a range of masterchain blocks with their shard blocks, in parts that are made when they are due. */
export interface BatchParts {
  readonly range: SeqnoRange;
  /** Hashes of codes whose accounts need no contract detection. */
  readonly plainCodes: readonly Uint8Array[];
  /**
   * Checks that the batch continues the indexed chain. Nothing else is written until the transaction ends, and all batches before
   * this one can be read by now. Throws when it does not.
   */
  requireContinuity(): Promise<void>;
  /** Rows that are inserted as they are. */
  rows(): Promise<readonly EncodedTable[]>;
  /** Rows of the staging tables. All batches before this one can be read by now. */
  staged(): Promise<readonly EncodedTable[]>;
  /** Updates traces that this batch continues or joins; its own rows are written by now. */
  traces(): Promise<void>;
  /** What each masterchain block touched, for the event log; called last, and only of a batch that is written exclusively. */
  touched(): readonly TouchedMcBlock[];
}

const UNIQUE_VIOLATION = '23505';

/** How a batch is ordered relative to concurrent ones. */
export interface BatchOrder {
  /** No other batch is written at the same time: what `rows` reads of traces stays valid. */
  readonly exclusive: boolean;
  /** Awaited before `staged`: there, batches in order see what the batches before them have written. */
  readonly awaitPrevious: () => Promise<void>;
}

/**
 * Writes a batch in the transaction of the caller. `rows` runs concurrently with other batches; from `staged` on, until the
 * transaction ends, one batch runs at a time.
 *
 * @throws store/overlap and errors of the database: the transaction must be rolled back
 */
export async function writeBatch(
  client: ClientBase,
  parts: BatchParts,
  { exclusive, awaitPrevious }: BatchOrder,
): Promise<void> {
  const { range } = parts;
  if (exclusive) await lockTraces(client);
  await requireUnclaimed(client, range);
  try {
    await copyTables(client, await parts.rows());
  } catch (error) {
    // Another process has written the same masterchain blocks meanwhile.
    if (error instanceof pg.DatabaseError && error.code === UNIQUE_VIOLATION) throw storeErrors.overlap(range, error);
    throw error;
  }
  await awaitPrevious();
  if (!exclusive) await lockTraces(client);
  await parts.requireContinuity();
  const claimed = await claimRange(client, range, exclusive ? range.to - range.from + 1 : 1);
  await copyTables(client, await parts.staged());
  const { state_seqno, import_seqno } = claimed;
  if (state_seqno !== null && range.from <= state_seqno) await stageDeletedAccounts(client, state_seqno);
  if (import_seqno !== null && range.from <= import_seqno && import_seqno > (state_seqno ?? -1)) {
    await stageDeletedAccounts(client, import_seqno, await importedIntervals(client));
  }
  await mergeAccounts(client, parts.plainCodes);
  await parts.traces();
  await appendEvents(client, batchEvents(range, claimed, exclusive ? parts.touched() : null));
}

/** An event for each masterchain block, or one for all. */
function batchEvents(
  range: SeqnoRange,
  { last_event, is_newest }: ClaimedRange,
  blocks: readonly TouchedMcBlock[] | null,
): IndexEvent[] {
  if (blocks === null) return [{ id: last_event, kind: 'backfilled', range, touched: null }];
  return blocks.map(({ mc_seqno, touched }, i) => ({
    id: last_event - BigInt(blocks.length - 1 - i),
    kind: is_newest ? 'committed' : 'backfilled',
    range: { from: mc_seqno, to: mc_seqno },
    touched,
  }));
}

export async function copyTables(client: ClientBase, tables: readonly EncodedTable[]): Promise<void> {
  for (const { table, columns, bytes, rows } of tables) {
    if (rows > 0) await copyBinary(client, table, columns, [bytes]);
  }
}

/** The tables of a batch, in the order in which they are written. */
const TABLES = {
  blocks: BLOCKS,
  transactions: TRANSACTIONS,
  messages: MESSAGES,
  token_events: TOKEN_EVENTS,
  traces: TRACES,
  trace_accounts: TRACE_ACCOUNTS,
  open_messages: OPEN_MESSAGES,
  orphan_messages: ORPHAN_MESSAGES,
  accounts: STAGED_ACCOUNTS,
  codes: STAGED_CODES,
} as const;

type Tables = typeof TABLES;
type RowOf<Name extends keyof Tables> = Tables[Name] extends TableRows<infer Row> ? Row : never;

/** Encodes the rows of a batch for COPY. The buffers are reused by the next batch. */
export class BatchEncoder {
  readonly #rows = Object.fromEntries(Object.keys(TABLES).map((name) => [name, new CopyRows(4096)])) as {
    readonly [Name in keyof Tables]: CopyRows;
  };

  add<Name extends keyof Tables>(table: Name, row: RowOf<Name>): void {
    (TABLES[table] as TableRows<RowOf<Name>>).write(this.#rows[table], row);
  }

  addAll<Name extends keyof Tables>(table: Name, rows: Iterable<RowOf<Name>>): void {
    const { write } = TABLES[table] as TableRows<RowOf<Name>>;
    for (const row of rows) write(this.#rows[table], row);
  }

  /** The encoded rows; views that are valid until the next row is added. */
  finish(): EncodedTable[] {
    return (Object.keys(TABLES) as (keyof Tables)[]).map((name) => {
      const { table, columns } = TABLES[name];
      const rows = this.#rows[name];
      return { table, columns, bytes: rows.finish(), rows: rows.rows };
    });
  }

  reset(): void {
    for (const rows of Object.values(this.#rows)) rows.reset();
  }
}

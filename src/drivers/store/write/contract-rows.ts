import type { ClientBase } from 'pg';
import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import { readSummaries, type Summary, sameSummary, writeSummaries } from '#drivers/store/write/contract-summaries.js';
import {
  type ContractState,
  type ContractTable,
  clearStaged,
  mergeRows,
  type StatedRow,
} from '#drivers/store/write/contract-tables.js';
import { type ColumnValue, holdsValue } from '#drivers/store/write/contract-values.js';
import { lapseRows } from '#drivers/store/write/lapse-rows.js';
import { dropMetadataLinks, stageMetadataLinks } from '#drivers/store/write/metadata-links.js';
import { itemsOfSales, SALE_TABLES, setRealOwners } from '#drivers/store/write/real-owners.js';

/** A kind that a contract is of, and its row. */
export interface FoundKind {
  readonly kind: string;
  readonly table: ContractTable;
  /** By column; those that are not given are null. */
  readonly values: Readonly<Record<string, ColumnValue>>;
}

/** Why a contract is not of a kind any more, that it was. */
export type LapseReason = 'destroyed' | 'changed' | 'refused';

/** What was found of an account in one of its states. */
export interface FoundContract extends ContractState {
  /** Of each kind that it is of. */
  readonly rows: readonly FoundKind[];
  /** Reasons by the kind that it is not, although it seemed or claimed to be. */
  readonly refused: Readonly<Record<string, string>>;
  /** What is written of kinds that it was of before and is not in this state. */
  readonly lapsed: LapseReason;
}

/** What became of it. */
export interface WrittenContracts {
  /** Addresses whose state was older than what is known of them: nothing was written. */
  readonly older: number;
  /** Rows that are new, came back or have changed in anything, be it only in the state that they were read from. */
  readonly changed: number;
  /** Rows that do not hold any more. */
  readonly lapsed: number;
}

/** Reason of a kind whose row does not fit its table. */
const DOES_NOT_FIT = 'value-range';

/**
 * Writes what was found of accounts, in the transaction of the caller: the rows of their kinds, what is not so any more, and
 * all that follows from that (real owners of items, metadata to be fetched). Of two states of an account the one with the
 * greater last_trans_lt stays, whatever the order in which they come; what is written already is not written again.
 *
 * Waits for batches that are being written, as they count their rounds in the same row; whoever takes entries out of
 * `contract_queue` in the same transaction does so afterwards.
 *
 * @param found each address once
 */
export async function writeContracts(client: ClientBase, found: readonly FoundContract[]): Promise<WrittenContracts> {
  const summaries = await readSummaries(
    client,
    found.map(({ address }) => addressBytes(address)),
  );
  const current = found
    .filter(({ address, last_trans_lt }) => (summaries.get(address.toRaw())?.last_trans_lt ?? 0n) <= last_trans_lt)
    .map(withoutMisfits);
  const losing = current.filter(({ address, rows }) =>
    summaries.get(address.toRaw())?.kinds.some((kind) => rows.every((row) => row.kind !== kind)),
  );
  const sales = current
    .filter(({ rows }) => rows.some(({ table }) => SALE_TABLES.includes(table.name)))
    .concat(losing)
    .map(({ address }) => addressBytes(address));
  const itemsBefore = await itemsOfSales(client, sales);

  const lapses = await lapseRows(
    client,
    losing.map(({ address, rows, lapsed }) => ({
      address: addressBytes(address),
      reason: lapsed,
      except: rows.map(({ table }) => table.name),
    })),
  );
  for (const { table, addresses } of lapses) await dropMetadataLinks(client, table, addresses);
  const lapsed = lapses.reduce((sum, { addresses }) => sum + addresses.length, 0);

  let changed = 0;
  for (const { table, rows } of byTable(current)) {
    changed += (await mergeRows(client, table, rows)).length;
    await stageMetadataLinks(client, table.name);
    await clearStaged(client, table.name);
  }
  const items = await itemsOfSales(client, sales);
  const owners = await setRealOwners(client, [...itemsBefore, ...items]);
  await writeSummaries(
    client,
    current.map(summaryOf).filter((summary) => !sameSummary(summary, summaries.get(addressKey(summary)))),
  );
  if (changed + lapsed + owners > 0) {
    await client.query('UPDATE index_state SET contract_changes = contract_changes + 1');
  }
  return { older: found.length - current.length, changed, lapsed };
}

/** Rows by table, those of sales before those of items. */
function byTable(
  found: readonly FoundContract[],
): readonly { readonly table: ContractTable; readonly rows: readonly StatedRow[] }[] {
  const tables = new Map<string, { table: ContractTable; rows: StatedRow[] }>();
  for (const state of found) {
    for (const { table, values } of state.rows) {
      let entry = tables.get(table.name);
      if (entry === undefined) {
        entry = { table, rows: [] };
        tables.set(table.name, entry);
      }
      entry.rows.push({ state, values });
    }
  }
  return [...tables.values()].sort(
    (a, b) => Number(SALE_TABLES.includes(b.table.name)) - Number(SALE_TABLES.includes(a.table.name)),
  );
}

/** A kind whose values do not fit the columns is none: contracts may answer with numbers of any size. */
function withoutMisfits(found: FoundContract): FoundContract {
  const misfits = found.rows.filter(({ table, values }) =>
    Object.entries(table.columns).some(([name, type]) => !holdsValue(type, values[name] ?? null)),
  );
  if (misfits.length === 0) return found;
  return {
    ...found,
    rows: found.rows.filter((row) => !misfits.includes(row)),
    refused: { ...found.refused, ...Object.fromEntries(misfits.map(({ kind }) => [kind, DOES_NOT_FIT])) },
  };
}

function summaryOf({ address, last_trans_lt, mc_seqno, code_hash, rows, refused }: FoundContract): Summary {
  return {
    address: addressBytes(address),
    last_trans_lt,
    mc_seqno,
    code_hash,
    kinds: rows.map(({ kind }) => kind).sort(),
    refused: Object.keys(refused).length === 0 ? null : refused,
  };
}

function addressKey({ address }: Summary): string {
  return addressOfBytes(address).toRaw();
}

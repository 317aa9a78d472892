import type { ClientBase } from 'pg';
import pg from 'pg';
import { CopyRows, copyBinary } from '#drivers/store/copy.js';
import { recordContractChange } from '#drivers/store/event-log.js';
import { accountKey, addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import {
  type ColumnValue,
  type ContractSourceState,
  type ContractTable,
  type ContractTableRow,
  clearStaged,
  holdsValue,
  itemsOfSales,
  mergeRows,
  SALE_TABLES,
  setRealOwners,
} from '#drivers/store/write/contract-tables.js';
import { dropMetadataLinks, stageMetadataLinks } from '#drivers/store/write/token-metadata.js';
import { bytesEqual } from '#kernel/bytes.js';

/** An interface that a contract implements, and its row. */
export interface FoundInterface {
  readonly kind: string;
  readonly table: ContractTable;
  /** By column; absent ones are null. */
  readonly values: Readonly<Record<string, ColumnValue>>;
}

/** Why a contract does not implement an interface any more. */
export type SupersededReason = 'destroyed' | 'changed' | 'refused';

/** Result of detection for one state of an account. */
export interface ContractFindings extends ContractSourceState {
  /** For each interface that it implements. */
  readonly rows: readonly FoundInterface[];
  /** Reasons by interface that it seems or claims to implement and does not. */
  readonly refused: Readonly<Record<string, string>>;
  /** The reason that is written for interfaces it implemented before and does not in this state. */
  readonly supersededReason: SupersededReason;
}

/** What was written. */
export interface WrittenContracts {
  /** Addresses whose state is older than the known one: nothing was written. */
  readonly older: number;
  /** Rows that are new, valid again or changed, be it only in the state that they were read from. */
  readonly changed: number;
  /** Rows that became superseded. */
  readonly superseded: number;
}

/** Refusal of an interface whose row does not fit its table. */
const DOES_NOT_FIT = 'value-range';

/**
 * Writes results of detection, in the transaction of the caller: rows of interfaces, superseded rows, and what follows from them
 * (real owners of items, metadata to be fetched). Of two states of an account the one with the greater last_trans_lt stays, in
 * whatever order they come; rows that are equal are not written again.
 *
 * Waits for batches that are being written, which update the same row of `index_state`; a transaction that also removes entries from
 * `contract_queue` does so afterwards.
 *
 * @param found each address once
 * @param known those that may be known already: without them, no contracts are read first
 */
export async function writeContracts(
  client: ClientBase,
  found: readonly ContractFindings[],
  known: readonly ContractFindings[] = found,
): Promise<WrittenContracts> {
  const summaries = await readContractSummaries(
    client,
    known.map(({ address }) => addressBytes(address)),
  );
  const current = found
    .filter(({ address, last_trans_lt }) => (summaries.get(address.toRaw())?.last_trans_lt ?? 0n) <= last_trans_lt)
    .map(withoutUnstorableRows);
  const losing = current.filter(({ address, rows }) =>
    summaries.get(address.toRaw())?.kinds.some((kind) => rows.every((row) => row.kind !== kind)),
  );
  const sales = current
    .filter(({ rows }) => rows.some(({ table }) => SALE_TABLES.includes(table.name)))
    .concat(losing)
    .map(({ address }) => addressBytes(address));
  const itemsBefore = await itemsOfSales(client, sales);
  const domains = current
    .filter(({ rows }) => rows.some(({ table }) => table.name === DOMAIN_TABLE))
    .concat(losing)
    .map(({ address }) => addressBytes(address));
  const domainOwnersBefore = await ownersOfDomains(client, domains);
  const owned = current
    .filter(({ rows }) => rows.some(({ table }) => Object.hasOwn(NAMING_COLUMNS, table.name)))
    .concat(losing)
    .map(({ address }) => addressBytes(address));
  const namedBefore = await namedByContracts(client, [
    ...owned.filter((address) => summaries.has(addressOfBytes(address).toRaw())),
    ...itemsBefore,
  ]);

  const supersededRows = await supersedeRows(
    client,
    losing.map(({ address, rows, supersededReason }) => ({
      address: addressBytes(address),
      reason: supersededReason,
      except: rows.map(({ table }) => table.name),
    })),
  );
  for (const { table, addresses } of supersededRows) await dropMetadataLinks(client, table, addresses);
  const superseded = supersededRows.reduce((sum, { addresses }) => sum + addresses.length, 0);

  let changed = 0;
  for (const { table, rows } of rowsByTable(current)) {
    changed += (await mergeRows(client, table, rows)).length;
    await stageMetadataLinks(client, table.name);
    await clearStaged(client, table.name);
  }
  const items = await itemsOfSales(client, sales);
  const owners = await setRealOwners(client, [...itemsBefore, ...items]);
  await writeContractSummaries(
    client,
    current
      .map(contractSummaryOf)
      .filter((summary) => !sameContractSummary(summary, summaries.get(addressKey(summary)))),
  );
  if (changed + superseded + owners > 0) {
    // The address book tells the domains of an account.
    const domainOwners = [...domainOwnersBefore, ...(await ownersOfDomains(client, domains))];
    const touched = [...current.map(({ address }) => addressBytes(address)), ...itemsBefore, ...items, ...domainOwners];
    const namedAfter = await namedByContracts(client, [...owned, ...itemsBefore, ...items]);
    const keys = (addresses: readonly Uint8Array[]) => [...new Set(addresses.map(accountKey))];
    await recordContractChange(client, keys(touched), {
      owners: keys([...namedBefore.owners, ...namedAfter.owners]),
      tokens: keys([...namedBefore.tokens, ...namedAfter.tokens]),
    });
  }
  return { older: found.length - current.length, changed, superseded };
}

/** The columns by which lists find the contracts of an account and those of a token, by table. */
const NAMING_COLUMNS: Readonly<Record<string, { readonly owners: readonly string[]; readonly token?: string }>> = {
  jetton_masters: { owners: ['admin'] },
  jetton_wallets: { owners: ['owner'], token: 'jetton' },
  nft_collections: { owners: ['owner'] },
  nft_items: { owners: ['owner', 'real_owner'], token: 'collection' },
};

const NAMED_BY_CONTRACTS = Object.entries(NAMING_COLUMNS)
  .flatMap(([table, { owners, token }]) =>
    [...owners, ...(token === undefined ? [] : [token])].map(
      (column) =>
        `SELECT ${column} AS address, ${column === token} AS is_token FROM ${table} WHERE address = ANY($1::bytea[]) AND ${column} IS NOT NULL`,
    ),
  )
  .join(' UNION ');

/** Whom the rows of contracts name as owner or admin, and as jetton master or NFT collection. */
async function namedByContracts(
  client: ClientBase,
  contracts: readonly Uint8Array[],
): Promise<{ readonly owners: readonly Uint8Array[]; readonly tokens: readonly Uint8Array[] }> {
  if (contracts.length === 0) return { owners: [], tokens: [] };
  const { rows } = await client.query<{ address: Uint8Array; is_token: boolean }>({
    name: 'named-by-contracts',
    text: NAMED_BY_CONTRACTS,
    values: [contracts],
  });
  const named = (asToken: boolean) => rows.filter(({ is_token }) => is_token === asToken).map(({ address }) => address);
  return { owners: named(false), tokens: named(true) };
}

const DOMAIN_TABLE = 'dns_items';

async function ownersOfDomains(client: ClientBase, items: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
  if (items.length === 0) return [];
  const { rows } = await client.query<{ owner: Uint8Array }>({
    name: 'owners-of-domains',
    text: 'SELECT owner FROM dns_items WHERE address = ANY($1::bytea[]) AND owner IS NOT NULL',
    values: [items],
  });
  return rows.map(({ owner }) => owner);
}

/** Rows by table, sales before items. */
function rowsByTable(
  found: readonly ContractFindings[],
): readonly { readonly table: ContractTable; readonly rows: readonly ContractTableRow[] }[] {
  const tables = new Map<string, { table: ContractTable; rows: ContractTableRow[] }>();
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

/** Refuses interfaces whose values do not fit the columns: contracts may return integers of any size. */
function withoutUnstorableRows(found: ContractFindings): ContractFindings {
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

function contractSummaryOf({
  address,
  last_trans_lt,
  mc_seqno,
  code_hash,
  rows,
  refused,
}: ContractFindings): ContractSummary {
  return {
    address: addressBytes(address),
    last_trans_lt,
    mc_seqno,
    code_hash,
    kinds: rows.map(({ kind }) => kind).sort(),
    refused: Object.keys(refused).length === 0 ? null : refused,
  };
}

function addressKey({ address }: ContractSummary): string {
  return addressOfBytes(address).toRaw();
}

/** A row of `contracts`: the result of the last detection of an account. */
interface ContractSummary {
  readonly address: Uint8Array;
  readonly last_trans_lt: bigint;
  readonly mc_seqno: number;
  readonly code_hash: Uint8Array | null;
  /** Sorted. */
  readonly kinds: readonly string[];
  /** Reasons by kind. */
  readonly refused: Readonly<Record<string, string>> | null;
}

/** Summaries by raw address, locked until the transaction ends. */
async function readContractSummaries(
  client: ClientBase,
  addresses: readonly Uint8Array[],
): Promise<ReadonlyMap<string, ContractSummary>> {
  if (addresses.length === 0) return new Map();
  const { rows } = await client.query<ContractSummary>({
    name: 'contract-summaries',
    text: `SELECT address, last_trans_lt, mc_seqno, code_hash, kinds, refused FROM contracts
           WHERE address = ANY($1::bytea[]) ORDER BY address FOR UPDATE`,
    values: [addresses],
  });
  return new Map(rows.map((row) => [addressOfBytes(row.address).toRaw(), row]));
}

/**
 * Whether a summary need not be written: it equals the known one, or is empty and there is none.
 */
function sameContractSummary(summary: ContractSummary, known: ContractSummary | undefined): boolean {
  if (known === undefined) return summary.kinds.length === 0 && summary.refused === null;
  return (
    summary.last_trans_lt === known.last_trans_lt &&
    summary.mc_seqno === known.mc_seqno &&
    sameBytes(summary.code_hash, known.code_hash) &&
    summary.kinds.join() === known.kinds.join() &&
    reasons(summary) === reasons(known)
  );
}

const SUMMARY_COLUMNS = ['address', 'last_trans_lt', 'mc_seqno', 'code_hash', 'kinds', 'refused'];

/** Writes summaries, replacing older ones. */
async function writeContractSummaries(client: ClientBase, summaries: readonly ContractSummary[]): Promise<void> {
  if (summaries.length === 0) return;
  const staged = new CopyRows(summaries.length * 128);
  for (const { address, last_trans_lt, mc_seqno, code_hash, kinds, refused } of summaries) {
    staged.row(SUMMARY_COLUMNS.length);
    staged.bytea(address);
    staged.int8(last_trans_lt);
    staged.int4(mc_seqno);
    staged.bytea(code_hash);
    staged.textArray(kinds);
    staged.jsonb(refused === null ? null : JSON.stringify(refused));
  }
  await client.query('CREATE TEMP TABLE IF NOT EXISTS staged_contracts (LIKE contracts) ON COMMIT DELETE ROWS');
  await copyBinary(client, 'staged_contracts', SUMMARY_COLUMNS, [staged.finish()]);
  await client.query({
    name: 'write-contract-summaries',
    text: `INSERT INTO contracts AS known SELECT * FROM staged_contracts n ORDER BY n.address
           ON CONFLICT (address) DO UPDATE SET last_trans_lt = excluded.last_trans_lt, mc_seqno = excluded.mc_seqno,
             code_hash = excluded.code_hash, kinds = excluded.kinds, refused = excluded.refused
           WHERE known.last_trans_lt <= excluded.last_trans_lt`,
  });
  await client.query('DELETE FROM staged_contracts');
}

function sameBytes(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : bytesEqual(a, b);
}

function reasons({ refused }: ContractSummary): string {
  return JSON.stringify(Object.entries(refused ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A contract with rows that are not valid any more. */
interface SupersededContract {
  readonly address: Uint8Array;
  readonly reason: string;
  /** Tables in which its row stays valid. */
  readonly except: readonly string[];
}

/** The rows that became superseded in one table. */
interface SupersededRows {
  readonly table: string;
  readonly addresses: readonly Uint8Array[];
}

/** Tables of contract interfaces are those with the column `lapsed`. */
const CONTRACT_TABLES_QUERY = `
  SELECT c.relname AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  WHERE a.attname = 'lapsed' AND NOT a.attisdropped AND c.relkind = 'r' AND c.relpersistence = 'p'
    AND pg_table_is_visible(c.oid) ORDER BY 1`;

/** Marks rows of contracts as superseded, in all tables of contract interfaces. */
async function supersedeRows(
  client: ClientBase,
  superseded: readonly SupersededContract[],
): Promise<readonly SupersededRows[]> {
  if (superseded.length === 0) return [];
  const { rows: tables } = await client.query<{ name: string }>({
    name: 'contract-tables',
    text: CONTRACT_TABLES_QUERY,
  });
  const lapsed: SupersededRows[] = [];
  for (const { name } of tables) {
    const concerned = superseded.filter(({ except }) => !except.includes(name));
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

import type { ClientBase } from 'pg';
import { contractFacts, FACT_COLUMNS } from '#domain/actions/contract-facts.js';
import type { ContractFacts } from '#domain/actions/trace-facts.js';
import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import type { ColumnValue } from '#drivers/store/write/contract-tables.js';
import type { FoundInterface } from '#drivers/store/write/contracts.js';
import { Address, parseAddress } from '#formats/address/address.js';

/** A contract after a masterchain block. */
export interface PastContract {
  readonly address: Address;
  readonly mc_seqno: number;
}

/** What is known of a contract at a time. */
export interface PastFacts {
  /** `wanted`: it is to be read; `unavailable`: no server has the state any more. */
  readonly outcome: 'wanted' | 'read' | 'unavailable';
  /** Null: it had none of the interfaces, or is not known. */
  readonly contract: ContractFacts | null;
}

export function pastKey({ address, mc_seqno }: PastContract): string {
  return `${address.toRaw()} ${mc_seqno}`;
}

function columns(contracts: readonly PastContract[]): [Uint8Array[], number[]] {
  return [contracts.map(({ address }) => addressBytes(address)), contracts.map(({ mc_seqno }) => mc_seqno)];
}

/** What is known of contracts at a time, by {@link pastKey}. */
export async function readPastFacts(
  client: Pick<ClientBase, 'query'>,
  contracts: readonly PastContract[],
): Promise<ReadonlyMap<string, PastFacts>> {
  if (contracts.length === 0) return new Map();
  const { rows } = await client.query<{
    address: Uint8Array;
    mc_seqno: number;
    outcome: 'read' | 'unavailable' | null;
    code_hash: Uint8Array | null;
    facts: Json | null;
  }>({
    name: 'past-facts',
    text: `SELECT p.address, p.mc_seqno, p.outcome, p.code_hash, p.facts
           FROM unnest($1::bytea[], $2::int[]) AS k (address, mc_seqno) JOIN past_contracts p USING (address, mc_seqno)`,
    values: columns(contracts),
  });
  return new Map(
    rows.map(({ address, mc_seqno, outcome, code_hash, facts }) => [
      pastKey({ address: addressOfBytes(address), mc_seqno }),
      { outcome: outcome ?? 'wanted', contract: facts === null ? null : factsOfJson(facts, code_hash) },
    ]),
  );
}

/** Asks for contracts at a time; those that are known or asked for stay as they are. */
export async function wantPastContracts(client: ClientBase, wanted: readonly PastContract[]): Promise<void> {
  if (wanted.length === 0) return;
  await client.query({
    name: 'want-past-contracts',
    text: `INSERT INTO past_contracts (address, mc_seqno)
           SELECT DISTINCT address, mc_seqno FROM unnest($1::bytea[], $2::int[]) AS k (address, mc_seqno)
           ORDER BY address, mc_seqno ON CONFLICT DO NOTHING`,
    values: columns(wanted),
  });
}

/** A contract that is to be read. */
export interface WantedPastContract extends PastContract {
  /** Failed attempts. */
  readonly attempts: number;
}

/** Contracts that are due to be read. @param now unix seconds */
export async function nextPastContracts(
  client: ClientBase,
  now: number,
  most: number,
): Promise<readonly WantedPastContract[]> {
  const { rows } = await client.query<{ address: Uint8Array; mc_seqno: number; attempts: number }>({
    name: 'next-past-contracts',
    text: `SELECT address, mc_seqno, attempts FROM past_contracts WHERE outcome IS NULL AND not_before <= $1
           ORDER BY not_before LIMIT $2`,
    values: [now, most],
  });
  return rows.map(({ address, ...rest }) => ({ ...rest, address: addressOfBytes(address) }));
}

/** Number of contracts that are to be read and have not failed. */
export async function countWantedPastContracts(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ n: bigint }>({
    name: 'count-past-contracts',
    text: 'SELECT count(*) AS n FROM past_contracts WHERE outcome IS NULL AND attempts = 0',
  });
  return Number(rows[0]!.n);
}

/** What was read of a contract. */
export interface ReadPastContract extends PastContract {
  readonly outcome: 'read' | 'unavailable';
  readonly code_hash: Uint8Array | null;
  readonly rows: readonly FoundInterface[];
}

export async function writePastContracts(client: ClientBase, found: readonly ReadPastContract[]): Promise<void> {
  if (found.length === 0) return;
  await client.query({
    name: 'write-past-contracts',
    text: `UPDATE past_contracts p SET outcome = k.outcome, code_hash = k.code_hash, facts = k.facts
           FROM unnest($1::bytea[], $2::int[], $3::text[], $4::bytea[], $5::jsonb[])
             AS k (address, mc_seqno, outcome, code_hash, facts)
           WHERE p.address = k.address AND p.mc_seqno = k.mc_seqno`,
    values: [
      ...columns(found),
      found.map(({ outcome }) => outcome),
      found.map(({ code_hash }) => code_hash),
      found.map(({ rows }) => (rows.length === 0 ? null : JSON.stringify(factsJson(rows)))),
    ],
  });
}

/** Puts off what could not be read: twice as long each time, up to an hour. @param now unix seconds */
export async function postponePastContracts(
  client: ClientBase,
  contracts: readonly PastContract[],
  now: number,
): Promise<void> {
  if (contracts.length === 0) return;
  await client.query({
    name: 'postpone-past-contracts',
    text: `UPDATE past_contracts p SET attempts = least(p.attempts + 1, 1000),
             not_before = $3::bigint + least(2 ^ least(p.attempts + 1, 20), 3600)::bigint
           FROM unnest($1::bytea[], $2::int[]) AS k (address, mc_seqno)
           WHERE p.address = k.address AND p.mc_seqno = k.mc_seqno`,
    values: [...columns(contracts), now],
  });
}

/** Forgets what no server had, so that it is asked for again. */
export async function forgetUnavailablePast(client: ClientBase): Promise<void> {
  await client.query(`DELETE FROM past_contracts WHERE outcome = 'unavailable'`);
}

/** Columns of an interface: addresses raw, integers as text. */
type JsonRow = Readonly<Record<string, string | readonly string[] | null>>;
type Json = Readonly<Record<string, JsonRow>>;

const columnsOf: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(FACT_COLUMNS));

function factsJson(rows: readonly FoundInterface[]): Json {
  const json: Record<string, JsonRow> = {};
  for (const { kind, values } of rows) {
    const names = columnsOf.get(kind);
    if (names !== undefined) json[kind] = Object.fromEntries(names.map((name) => [name, columnJson(values[name])]));
  }
  return json;
}

function columnJson(value: ColumnValue | undefined): string | readonly string[] | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Address) return value.toRaw();
  return Array.isArray(value) ? (value as readonly Address[]).map((one) => one.toRaw()) : String(value);
}

function factsOfJson(json: Json, code_hash: Uint8Array | null): ContractFacts {
  return contractFacts(code_hash, (kind) => {
    const row = json[kind];
    return row && Object.fromEntries(Object.entries(row).map(([name, value]) => [name, columnOf(name, value)]));
  });
}

const INTEGERS: ReadonlySet<string> = new Set(['index', 'full_price', 'last_bid']);
const TEXTS: ReadonlySet<string> = new Set(['content', 'dex']);

function columnOf(name: string, value: JsonRow[string]): unknown {
  if (value === null || TEXTS.has(name)) return value;
  if (typeof value !== 'string') return value.map((one) => parseAddress(one).address);
  return INTEGERS.has(name) ? BigInt(value) : parseAddress(value).address;
}

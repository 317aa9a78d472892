import type { ClientBase } from 'pg';
import { CopyRows, copyBinary } from '#drivers/store/copy.js';
import type { SeqnoRange } from '#drivers/store/index-state.js';
import { addressBytes, firstIdOf } from '#drivers/store/keys.js';
import { loadTransaction } from '#drivers/store/stored-transaction.js';
import { TOKEN_EVENTS } from '#drivers/store/tables.js';
import { requeueContracts } from '#drivers/store/write/contract-queue.js';
import {
  readKnownTokens,
  type TokenEventCandidate,
  tokenEventCandidate,
  tokenEventRow,
} from '#drivers/store/write/token-events.js';
import { lockTraces } from '#drivers/store/write/traces.js';
import { Address } from '#formats/address/address.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';

/** Marks masterchain blocks as derived, in the transaction that writes the rows. @param key row of `derivations` */
export async function markDerived(client: ClientBase, key: string, { from, to }: SeqnoRange): Promise<void> {
  await client.query({
    name: 'note-derived',
    text: `INSERT INTO derivations AS d (name, rounds) VALUES ($1, int4multirange(int4range($2, $3)))
           ON CONFLICT (name) DO UPDATE SET rounds = d.rounds + excluded.rounds`,
    values: [key, from, to + 1],
  });
}

/** Resets the progress, so that all indexed blocks are derived again. Existing rows stay until they are replaced. */
export async function resetDerived(client: ClientBase, key: string): Promise<void> {
  await client.query(`UPDATE derivations SET rounds = '{}' WHERE name = $1`, [key]);
}

/** The first indexed masterchain blocks that are not derived, at most `most` of them; null: none. */
export async function nextUnderived(client: ClientBase, key: string, most: number): Promise<SeqnoRange | null> {
  const { rows } = await client.query<{ first: number | null; end: number | null }>({
    name: 'next-underived',
    text: `SELECT lower(r) AS first, least(upper(r), lower(r) + $2) AS end
           FROM index_state s LEFT JOIN derivations d ON d.name = $1
           CROSS JOIN LATERAL (SELECT unnest(s.rounds - coalesce(d.rounds, '{}')) AS r ORDER BY r LIMIT 1) AS u`,
    values: [key, most],
  });
  const next = rows[0];
  return next?.first == null || next.end === null ? null : { from: next.first, to: next.end - 1 };
}

/** Number of indexed masterchain blocks that are not derived. */
export async function countUnderived(client: ClientBase, key: string): Promise<number> {
  const { rows } = await client.query<{ count: bigint }>(
    `SELECT coalesce(sum(upper(r) - lower(r)), 0) AS count FROM index_state s LEFT JOIN derivations d ON d.name = $1
     CROSS JOIN LATERAL unnest(s.rounds - coalesce(d.rounds, '{}')) r`,
    [key],
  );
  return Number(rows[0]?.count ?? 0);
}

/** How far a derivation by address is: the last derived key; null: complete; undefined: not started. */
export async function derivedPosition(client: ClientBase, key: string): Promise<Uint8Array | null | undefined> {
  const { rows } = await client.query<{ position: Uint8Array | null }>(
    'SELECT position FROM derivations WHERE name = $1',
    [key],
  );
  return rows[0]?.position;
}

/** Stores the progress of a derivation by address, in the transaction that writes its rows. @param position null: complete */
export async function setDerivedPosition(client: ClientBase, key: string, position: Uint8Array | null): Promise<void> {
  await client.query({
    name: 'note-queued-accounts',
    text: 'INSERT INTO derivations (name, position) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET position = $2',
    values: [key, position],
  });
}

/** A transaction of a complete trace, as stored. */
interface StoredTraceTransaction {
  readonly id: bigint;
  readonly lt: bigint;
  /** Unix seconds. */
  readonly now: bigint;
  readonly account_key: bigint;
  readonly workchain: number;
  /** See `loadTransaction`. */
  readonly boc: Uint8Array;
}

/** A trace all of whose messages have been received. */
export interface CompleteTrace {
  /** Id of its first transaction. */
  readonly root: bigint;
  /** By id: a transaction comes after the one that sent its message. */
  readonly transactions: readonly StoredTraceTransaction[];
}

/** Roots of the complete traces whose first transaction is in a range of masterchain blocks; ascending. */
export async function completeTraceRoots(client: ClientBase, { from, to }: SeqnoRange): Promise<bigint[]> {
  const { rows } = await client.query<{ root: bigint }>({
    name: 'complete-traces',
    text: 'SELECT root FROM traces WHERE root >= $1 AND root < $2 AND state = 0 ORDER BY root',
    values: [firstIdOf(from), firstIdOf(to + 1)],
  });
  return rows.map(({ root }) => root);
}

/** Reads traces with their transactions; by root. */
export async function readCompleteTraces(client: ClientBase, roots: readonly bigint[]): Promise<CompleteTrace[]> {
  if (roots.length === 0) return [];
  const { rows } = await client.query<StoredTraceTransaction & { readonly root: bigint }>({
    name: 'transactions-of-traces',
    text: `SELECT trace_root AS root, id, lt, now, account_key, workchain, boc FROM transactions
           WHERE trace_root = ANY($1::bigint[]) ORDER BY trace_root, id`,
    values: [roots],
  });
  const traces = new Map<bigint, StoredTraceTransaction[]>();
  for (const { root, ...transaction } of rows) {
    const transactions = traces.get(root);
    if (transactions === undefined) traces.set(root, [transaction]);
    else transactions.push(transaction);
  }
  return Array.from(traces, ([root, transactions]) => ({ root, transactions }));
}

/** A stored transaction whose inbound message has a token opcode. */
interface FoundTransaction {
  readonly id: bigint;
  readonly lt: bigint;
  readonly now: bigint;
  readonly account_key: bigint;
  readonly workchain: number;
  readonly boc: Uint8Array;
}

/**
 * Who holds the row of a message, its sender or its receiver, is found by its key alone. The row of a sender that was dropped
 * with old rounds is gone: then the message has to be looked at.
 */
const FIND_TOKEN_TRANSACTIONS = `
  SELECT t.id, t.lt, t.now, t.account_key, t.workchain, t.boc FROM transactions t
  CROSS JOIN LATERAL (
    SELECT count(*) AS known, bool_or(m.opcode = ANY($3::integer[])) AS may_be FROM messages m WHERE m.msg_key = t.in_msg_key
  ) AS m
  WHERE t.id >= $1 AND t.id < $2 AND t.in_msg_key IS NOT NULL AND (m.known = 0 OR m.may_be)`;

/**
 * Writes the token events of rounds that are indexed from what is stored of them, in the place of those that are there; in the
 * transaction of the caller. Their partitions are there.
 *
 * @param opcodes of messages that may tell of tokens, signed
 * @returns how many transactions were decoded
 */
export async function deriveTokenEvents(
  client: ClientBase,
  range: SeqnoRange,
  opcodes: readonly number[],
): Promise<number> {
  const ids = [firstIdOf(range.from), firstIdOf(range.to + 1)];
  const { rows } = await client.query<FoundTransaction>({
    name: 'find-token-events',
    text: FIND_TOKEN_TRANSACTIONS,
    values: [...ids, opcodes],
  });
  const decoded = rows.map((found) => ({ found, candidate: candidateIn(found) }));
  await lockTraces(client);
  const candidates = decoded.map(({ candidate }) => candidate).filter((candidate) => candidate !== null);
  const tokens = await readKnownTokens(client, candidates);
  const copy = new CopyRows(4096);
  for (const { found, candidate } of decoded) {
    if (candidate === null) continue;
    const { id, lt, now } = found;
    TOKEN_EVENTS.write(copy, tokenEventRow({ id, lt, now: Number(now) }, candidate, tokens));
  }
  await client.query('DELETE FROM token_events WHERE tx_id >= $1 AND tx_id < $2', ids);
  if (copy.rows > 0) await copyBinary(client, TOKEN_EVENTS.table, TOKEN_EVENTS.columns, [copy.finish()]);
  return rows.length;
}

function candidateIn({ workchain, account_key, boc }: FoundTransaction): TokenEventCandidate | null {
  const transaction = decodeCell(
    Transaction,
    loadTransaction(boc, () => null),
  );
  const address = addressBytes(Address.ofParts(workchain, transaction.account_addr));
  return tokenEventCandidate(transaction, { address, account_key });
}

/** How much of the address space of a workchain comes before a stored address: 0 to 1. */
export function shareBefore(address: Uint8Array | null | undefined): number {
  return ((address?.[1] ?? 0) * 256 + (address?.[2] ?? 0)) / 65_536;
}

/**
 * Queues the next accounts with code for detection; in a transaction, under the lock of the batches.
 *
 * @param plain code hashes that are left out
 * @param now unix seconds: they come after accounts that have changed
 * @returns the address of the last one; null: no more accounts
 */
export async function queueNextAccounts(
  client: ClientBase,
  after: Uint8Array,
  plain: readonly Uint8Array[],
  now: number,
  most: number,
): Promise<Uint8Array | null> {
  const page = await client.query<{ address: Uint8Array; wanted: boolean }>({
    name: 'next-accounts-to-queue',
    text: `SELECT address, NOT incomplete AND (code_hash <> ALL($2::bytea[])
             OR (SELECT true FROM contracts c WHERE c.address = a.address)) IS TRUE AS wanted
           FROM accounts a WHERE address > $1 ORDER BY address LIMIT $3`,
    values: [after, plain, most],
  });
  const wanted = page.rows.filter((each) => each.wanted).map(({ address }) => address);
  if (wanted.length > 0) await requeueContracts(client, wanted, now);
  return page.rows.length < most ? null : page.rows.at(-1)!.address;
}

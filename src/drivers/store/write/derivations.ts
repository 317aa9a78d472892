import type { ClientBase } from 'pg';
import { CopyRows, copyBinary } from '#drivers/store/copy.js';
import type { SeqnoRange } from '#drivers/store/index-state.js';
import { addressBytes, firstIdOf } from '#drivers/store/keys.js';
import { loadTransaction } from '#drivers/store/stored-transaction.js';
import { TOKEN_EVENTS } from '#drivers/store/tables.js';
import { countQueued, requeueContracts } from '#drivers/store/write/contract-queue.js';
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

/** What is derived from indexed rounds: by each batch from its own, and from those that were indexed before. */
export type Derivation = 'token_events';

/** Notes rounds as derived, in the transaction that writes what follows from them. */
export async function markDerived(client: ClientBase, name: Derivation, { from, to }: SeqnoRange): Promise<void> {
  await client.query({
    name: 'note-derived',
    text: `INSERT INTO derivations AS d (name, rounds) VALUES ($1, int4multirange(int4range($2, $3)))
           ON CONFLICT (name) DO UPDATE SET rounds = d.rounds + excluded.rounds`,
    values: [name, from, to + 1],
  });
}

/** Forgets what was derived, so that it is derived anew. What is there stays until then. */
export async function resetDerived(client: ClientBase, name: Derivation): Promise<void> {
  await client.query(`UPDATE derivations SET rounds = '{}' WHERE name = $1`, [name]);
}

/** The first rounds that are indexed and not derived, at most so many; null: there are none. */
export async function nextUnderived(client: ClientBase, name: Derivation, most: number): Promise<SeqnoRange | null> {
  const { rows } = await client.query<{ first: number | null; end: number | null }>({
    name: 'next-underived',
    text: `SELECT lower(r) AS first, least(upper(r), lower(r) + $2) AS end
           FROM index_state s LEFT JOIN derivations d ON d.name = $1
           CROSS JOIN LATERAL (SELECT unnest(s.rounds - coalesce(d.rounds, '{}')) AS r ORDER BY r LIMIT 1) AS u`,
    values: [name, most],
  });
  const next = rows[0];
  return next?.first == null || next.end === null ? null : { from: next.first, to: next.end - 1 };
}

/** A stored transaction that received a message with an opcode of tokens. */
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
  await markDerived(client, 'token_events', range);
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

/** In `derivations`: no row: accounts that were indexed before there was a queue are to be queued; no position: all are. */
const CONTRACTS_DERIVATION = 'contracts';

/**
 * Has all contracts looked at again, and all token events derived anew; in a transaction. Whoever leads does so. What was begun
 * before and has not come to its end goes on.
 */
export async function restartDerivations(client: ClientBase): Promise<void> {
  await lockTraces(client);
  if (!(await areContractsQueued(client)) || (await nextUnderived(client, 'token_events', 1)) !== null) {
    await client.query(`INSERT INTO derivations (name, position) VALUES ($1, '') ON CONFLICT DO NOTHING`, [
      CONTRACTS_DERIVATION,
    ]);
    return;
  }
  await client.query(`UPDATE derivations SET position = '' WHERE name = $1`, [CONTRACTS_DERIVATION]);
  await resetDerived(client, 'token_events');
}

/** What is left of deriving everything. */
export interface DerivationsLeft {
  /** Accounts that are to be looked at and can be, among those that are in the queue. */
  readonly queued: number;
  /** How much of all possible addresses has not been put into the queue: 0 to 1. */
  readonly unqueued: number;
  /** Masterchain blocks whose token events are not derived. */
  readonly mcBlocks: number;
}

export async function derivationsLeft(client: ClientBase): Promise<DerivationsLeft> {
  const { rows } = await client.query<{
    position: Uint8Array | null;
    known: boolean;
    rounds: bigint;
    changed: boolean;
  }>(
    `SELECT d.position, d.name IS NOT NULL AS known, EXISTS (SELECT FROM changed_contracts) AS changed,
       (SELECT coalesce(sum(upper(r) - lower(r)), 0) FROM unnest(s.rounds - coalesce(e.rounds, '{}')) r) AS rounds
     FROM index_state s LEFT JOIN derivations d ON d.name = $1 LEFT JOIN derivations e ON e.name = 'token_events'`,
    [CONTRACTS_DERIVATION],
  );
  const { position = null, known = false, rounds = 0n, changed = false } = rows[0] ?? {};
  const { soon } = await countQueued(client);
  const isQueued = known && position === null;
  return {
    queued: soon + Number(changed),
    unqueued: isQueued ? 0 : 1 - shareBefore(position),
    mcBlocks: Number(rounds),
  };
}

/** Which part of the addresses of a workchain, as they are stored, comes before one. */
function shareBefore(address: Uint8Array | null): number {
  return ((address?.[1] ?? 0) * 256 + (address?.[2] ?? 0)) / 65_536;
}

/** Whether all accounts with code have been put into the queue. */
export async function areContractsQueued(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query('SELECT FROM derivations WHERE name = $1 AND position IS NULL', [
    CONTRACTS_DERIVATION,
  ]);
  return rows.length === 1;
}

/**
 * Puts the next accounts with code into the queue; in a transaction, under the lock of the batches.
 *
 * @param plain hashes of codes that are left out
 * @param now unix seconds: they come after what has changed
 * @returns whether there are no more
 */
export async function queueNextAccounts(
  client: ClientBase,
  plain: readonly Uint8Array[],
  now: number,
  most: number,
): Promise<boolean> {
  const derivation = await client.query<{ position: Uint8Array | null }>(
    'SELECT position FROM derivations WHERE name = $1',
    [CONTRACTS_DERIVATION],
  );
  const row = derivation.rows[0];
  if (row !== undefined && row.position === null) return true;
  const page = await client.query<{ address: Uint8Array; wanted: boolean }>({
    name: 'next-accounts-to-queue',
    text: `SELECT address, NOT incomplete AND (code_hash <> ALL($2::bytea[])
             OR (SELECT true FROM contracts c WHERE c.address = a.address)) IS TRUE AS wanted
           FROM accounts a WHERE address > $1 ORDER BY address LIMIT $3`,
    values: [row?.position ?? new Uint8Array(), plain, most],
  });
  const wanted = page.rows.filter((each) => each.wanted).map(({ address }) => address);
  if (wanted.length > 0) await requeueContracts(client, wanted, now);
  const done = page.rows.length < most;
  await client.query({
    name: 'note-queued-accounts',
    text: 'INSERT INTO derivations (name, position) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET position = $2',
    values: [CONTRACTS_DERIVATION, done ? null : page.rows.at(-1)!.address],
  });
  return done;
}

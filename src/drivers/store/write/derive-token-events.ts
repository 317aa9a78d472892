import type { ClientBase } from 'pg';
import { copyBinary } from '#drivers/store/copy.js';
import { CopyRows } from '#drivers/store/copy-rows.js';
import { loadTransaction } from '#drivers/store/encode/stored-transaction.js';
import { TOKEN_EVENTS } from '#drivers/store/encode/table-rows.js';
import { candidateOf, type TokenCandidate } from '#drivers/store/encode/token-candidate.js';
import { firstIdOf } from '#drivers/store/ids.js';
import { addressBytes } from '#drivers/store/keys.js';
import { noteDerived } from '#drivers/store/write/derivations.js';
import type { SeqnoRange } from '#drivers/store/write/index-state.js';
import { lockTraces } from '#drivers/store/write/merge-traces.js';
import { readKnownTokens, tokenEventRow } from '#drivers/store/write/token-events.js';
import { Address } from '#formats/address/address.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';

/** A stored transaction that received a message with an opcode of tokens. */
interface Found {
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
const FIND = `
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
  const { rows } = await client.query<Found>({ name: 'find-token-events', text: FIND, values: [...ids, opcodes] });
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
  await noteDerived(client, 'token_events', range);
  return rows.length;
}

function candidateIn({ workchain, account_key, boc }: Found): TokenCandidate | null {
  const transaction = decodeCell(
    Transaction,
    loadTransaction(boc, () => null),
  );
  const address = addressBytes(Address.ofParts(workchain, transaction.account_addr));
  return candidateOf(transaction, { address, account_key });
}

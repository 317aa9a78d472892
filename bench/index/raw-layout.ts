import type pg from 'pg';
import { decodeState } from '#drivers/store/stored-state.js';
import { loadTransaction, sharedCodes } from '#drivers/store/stored-transaction.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { Cell } from '#formats/cells/cell.js';
import { openCell, Slice } from '#formats/cells/slice.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Dictionary } from '#formats/tlb/codec/dictionary.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { BitString, toBase64, toHex } from '#kernel/bytes.js';

interface RawRow {
  readonly boc: Uint8Array;
  readonly account_key: bigint;
  readonly state_after: Uint8Array | null;
}

/** A page of transactions with messages and the states around them, as values of JSON. */
export async function readRaw(client: pg.Client, below: bigint, limit: number): Promise<readonly object[]> {
  const { rows } = await client.query<RawRow>(
    'SELECT id, now, account_key, boc, state_after, trace_root FROM transactions WHERE lt <= $1 ORDER BY lt DESC LIMIT $2',
    [below, limit],
  );
  const codes = new Map<string, Cell>();
  const wanted = rows.flatMap(({ boc }) => sharedCodes(boc));
  if (wanted.length > 0) {
    const found = await client.query('SELECT code_hash, boc FROM codes WHERE code_hash = ANY($1)', [wanted]);
    for (const { code_hash, boc } of found.rows) codes.set(toHex(code_hash), parseBocRoot(boc));
  }
  const cells = rows.map(({ boc }) => loadTransaction(boc, (hash) => codes.get(toHex(hash)) ?? null));
  const transactions = cells.map((cell) => decodeCell(Transaction, cell));
  const { rows: before } = await client.query(
    `SELECT k.n, p.state_after FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY k (account_key, lt, n)
     JOIN transactions p ON p.account_key = k.account_key AND p.lt = k.lt`,
    [rows.map(({ account_key }) => account_key), transactions.map(({ prev_trans_lt }) => prev_trans_lt)],
  );
  const states = new Map(before.map(({ n, state_after }) => [Number(n) - 1, state_after]));
  return transactions.map((transaction, at) => {
    const earlier = states.get(at) ?? null;
    const { state_after } = rows[at]!;
    return {
      hash: toBase64(cells[at]!.hash()),
      ...(plain(transaction) as object),
      account_state_before: earlier === null ? null : plain(decodeState(earlier)),
      account_state_after: state_after === null ? null : plain(decodeState(state_after)),
    };
  });
}

/** A decoded value as JSON can hold it: hashes and cells in base64, large integers as text. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return toBase64(value);
  if (value instanceof Address) return value.toRaw();
  if (value instanceof BitString) return value.toString();
  if (value instanceof Cell) return { hash: toBase64(value.hash()), boc: toBase64(serializeBoc(value)) };
  if (value instanceof Slice) return plain(new Builder().storeSlice(value).endCell());
  if (value instanceof Dictionary || value instanceof Map) return [...value].map(plain);
  if (Array.isArray(value)) return value.map(plain);
  if ('cell' in value && 'value' in value) {
    const { cell, value: inner } = value as { cell: Cell; value: object };
    openCell(cell);
    return { hash: toBase64(cell.hash()), ...(plain(inner) as object) };
  }
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, plain(field)]));
}

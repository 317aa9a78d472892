import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { openCell } from '#formats/cells/slice.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { fromBase64, fromHex, toHex } from '#kernel/bytes.js';
import { codeOf, mainnetConfig } from '#test/support/tvm-contract.js';
import { startTvm } from '#test/support/tvm-pool.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

/** A transaction of a recorded network, with what it depends on. */
interface RecordedTransaction {
  readonly network: string;
  readonly transaction: string;
  readonly account: string;
  readonly message: string;
  readonly now: number;
  readonly lt: string;
  readonly rand_seed: string;
  readonly config: string;
}

/** Amounts by the number of a currency. */
type Currencies = Readonly<Record<number, number>>;

const recorded = JSON.parse(
  new TextDecoder().decode(readBytes(vectorPath('tvm/extra-currencies-over-balance.json'))),
) as readonly RecordedTransaction[];
const cellOf = (boc: string): Cell => parseBocRoot(fromBase64(boc)!);
const address = Address.ofParts(0, new Uint8Array(32).fill(5));

function dictionaryOf(currencies: Currencies): Builder {
  const entries = Object.entries(currencies).map(([number, amount]): [Uint8Array, Builder] => [
    Uint8Array.of(0, 0, 0, Number(number)),
    new Builder().storeUint(2, 5).storeUint(amount, 16),
  ]);
  const builder = new Builder().storeUint(entries.length === 0 ? 0 : 1, 1);
  return entries.length === 0 ? builder : builder.storeRef(buildDictionary(32, entries)!);
}

/** Sends the message of the body: ACCEPT, DROP, LDREF, DROP, PUSHINT mode, SENDRAWMSG. */
const senderCode = (mode: number): Cell => codeOf(`f80030d430${(0x810000 + mode).toString(16)}fb00`);

function senderOf(code: Cell, has: Currencies): Cell {
  const account = new Builder().storeUint(0b1100, 4).storeUint(0, 8).storeBytes(address.hash);
  account
    .storeUint(1, 3)
    .storeUint(3, 8)
    .storeUint(2, 3)
    .storeUint(800, 16)
    .storeUint(0, 3 + 32 + 1);
  account
    .storeUint(0, 64)
    .storeUint(8, 4)
    .storeBytes(Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0));
  account.storeSlice(openCell(dictionaryOf(has).endCell()));
  account.storeUint(1, 1).storeUint(0b00110, 5).storeRef(code).storeRef(EMPTY_CELL);
  return new Builder().storeRef(account.endCell()).storeBytes(new Uint8Array(32)).storeUint(0, 64).endCell();
}

/** An external-in message with a message to send: `int_msg_info$0` of 1 nanogram and these currencies. */
function messageWith(sent: Currencies): Cell {
  const out = new Builder().storeUint(0b0110, 4).storeUint(0, 2).storeUint(0b100, 3).storeUint(0, 8);
  out.storeBytes(new Uint8Array(32).fill(9)).storeUint(1, 4).storeUint(1, 8);
  out.storeSlice(openCell(dictionaryOf(sent).endCell())).storeUint(0, 8 + 64 + 32 + 2);
  const message = new Builder().storeUint(0b1000, 4).storeUint(0b100, 3).storeUint(0, 8).storeBytes(address.hash);
  return message
    .storeUint(0, 4 + 2)
    .storeRef(out.endCell())
    .endCell();
}

describe('the emulator', () => {
  let pool: TvmPool;
  beforeAll(async () => {
    pool = await startTvm({ workers: 1 });
  });
  afterAll(() => pool.close());

  it.each(recorded)('skips a message with more of an extra currency than there is, as in $network', async (each) => {
    const result = await pool.emulateTransaction({
      ...{ shard_account: cellOf(each.account), message: cellOf(each.message), config: cellOf(each.config) },
      ...{ now: each.now, lt: BigInt(each.lt), rand_seed: fromHex(each.rand_seed)! },
    });
    expect(result.accepted && toHex(result.transaction.hash())).toBe(each.transaction);
  });

  const sent = { 7: 1000 };
  it.each<[string, Currencies, mode: number, Record<string, unknown>]>([
    ['another one', { 5: 5000 }, 1, { success: false, result_code: 38, msgs_created: 0 }],
    ['another one, errors ignored', { 5: 5000 }, 3, { success: true, skipped_actions: 1, msgs_created: 0 }],
    ['less of it', { 7: 999 }, 1, { success: false, result_code: 38, msgs_created: 0 }],
    ['less of it and another one', { 5: 5000, 7: 999 }, 3, { success: true, skipped_actions: 1, msgs_created: 0 }],
    ['none', {}, 1, { success: false, result_code: 38, msgs_created: 0 }],
    ['as much', sent, 1, { success: true, result_code: 0, msgs_created: 1 }],
    ['more', { 5: 5000, 7: 1001 }, 1, { success: true, result_code: 0, msgs_created: 1 }],
  ])('sends an extra currency of an account that has %s', async (_, has, mode, expected) => {
    const result = await pool.emulateTransaction({
      ...{ shard_account: senderOf(senderCode(mode), has), message: messageWith(sent), config: mainnetConfig },
      ...{ now: 1_750_000_000, lt: 1_000_001n },
    });
    const { value } = decodeCell(Transaction, result.accepted ? result.transaction : EMPTY_CELL).description;
    expect('action' in value ? value.action?.value : null).toMatchObject(expected);
  });
});

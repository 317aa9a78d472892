import { storeErrors } from '#drivers/store/errors.js';
import { readBocHeader } from '#formats/cells/boc-header.js';

/** What stands in the first cell of a transaction, of what reads need. */
export interface TransactionHead {
  /** 32 bytes. */
  readonly account_addr: Uint8Array;
  readonly prev_trans_hash: Uint8Array;
  readonly prev_trans_lt: bigint;
  /** Whether there was no account before, and whether there is none after it. */
  readonly wasNonexist: boolean;
  readonly isNonexist: boolean;
}

/** `transaction$0111 account_addr:bits256 lt:uint64 prev_trans_hash:bits256 prev_trans_lt:uint64 now:uint32 outmsg_cnt:uint15 orig_status:(2 bits) end_status:(2 bits)` */
const AT = { account: 4, prevHash: 4 + 256 + 64, prevLt: 4 + 256 + 64 + 256 };
const STATUS_BYTE = (4 + 256 + 64 + 256 + 64 + 32 + 15) >> 3;
const NONEXIST = 3;

/**
 * Looks into a transaction as it is stored (the column `boc`) without reading its other cells.
 * @throws store/stored-value, cells/boc-*
 */
export function transactionHead(stored: Uint8Array): TransactionHead {
  const boc = stored.subarray(1 + (stored[0] ?? 0) * 2);
  const header = readBocHeader(boc);
  const data = boc.subarray(header.cellsStart + 2);
  // The root is the first of the cells, as the writer orders them; 0111 begins a transaction.
  if (header.roots[0] !== 0 || data.length < 92 || data[0]! >> 4 !== 7 || (boc[header.cellsStart]! & 0x10) !== 0) {
    throw storeErrors['stored-value']({ column: 'boc', problem: 'its first cell is not a transaction' });
  }
  const lt = nibbles(data, AT.prevLt, 8);
  // Bits 691 to 694: the fourth of byte 86 and the three behind it.
  const statuses = (data[STATUS_BYTE]! >> 1) & 15;
  return {
    account_addr: nibbles(data, AT.account, 32),
    prev_trans_hash: nibbles(data, AT.prevHash, 32),
    prev_trans_lt: new DataView(lt.buffer).getBigUint64(0),
    wasNonexist: statuses >> 2 === NONEXIST,
    isNonexist: (statuses & 3) === NONEXIST,
  };
}

/** Bytes from a bit that is the fifth of its byte. */
function nibbles(data: Uint8Array, bit: number, length: number): Uint8Array {
  const out = new Uint8Array(length);
  for (let i = 0, from = bit >> 3; i < length; i++, from++) out[i] = (data[from]! << 4) | (data[from + 1]! >> 4);
  return out;
}

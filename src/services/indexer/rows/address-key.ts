import { accountKey, addressBytes } from '#drivers/store/keys.js';
import { accountOf } from '#formats/address/msg-address.js';
import { sha256Into } from '#formats/cells/sha256.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';
import { type CellCursor, int64Of } from '#services/indexer/rows/cell-cursor.js';

const plain = new Uint8Array(33);
const digest = new Uint8Array(32);

/** `addr_std$10 anycast:(Maybe Anycast)` without anycast. */
const STANDARD = 0b100;

/**
 * The key of the account that a message names as its source or destination; `null` when it names none, and for addresses
 * outside of the chain. The cursor moves behind the address.
 */
export function readAddressKey(cursor: CellCursor): bigint | null {
  if (cursor.peek(2) === 0) {
    cursor.skip(2);
    return null;
  }
  if (cursor.peek(3) === STANDARD) {
    cursor.skip(3);
    cursor.copy(plain, 0, 33);
    return keyOf(plain);
  }
  const slice = cursor.slice();
  const before = slice.remainingBits;
  const account = accountOf(MsgAddress.load(slice));
  cursor.skip(before - slice.remainingBits);
  return account === null ? null : accountKey(addressBytes(account));
}

/** As `accountKey` for the 33 bytes of a usual address, sparing the digest's object. */
export function keyOf(address: Uint8Array): bigint {
  sha256Into(address, 33, digest, 0);
  return int64Of(
    (digest[0]! << 24) | (digest[1]! << 16) | (digest[2]! << 8) | digest[3]!,
    (digest[4]! << 24) | (digest[5]! << 16) | (digest[6]! << 8) | digest[7]!,
  );
}

/** Whether the address that begins here is that of account zero of the masterchain. */
export function isAccountZero(cursor: CellCursor): boolean {
  if (cursor.peek(3) !== STANDARD) return false;
  const { at } = cursor;
  cursor.skip(3);
  let zero = cursor.uint(8) === 0xff;
  for (let word = 0; word < 8 && zero; word++) zero = cursor.uint(32) === 0;
  cursor.at = at;
  return zero;
}

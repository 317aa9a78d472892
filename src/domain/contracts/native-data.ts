import { contractDataErrors } from '#domain/contracts/errors.js';
import { Address } from '#formats/address/address.js';
import type { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { sha256Into } from '#formats/cells/sha256.js';
import type { Slice } from '#formats/cells/slice.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';

/** Where the contracts live that contracts of known code deploy. */
export const BASECHAIN = 0;

/** `addr_std` without anycast, or `addr_none`. @throws contract-data/other-form for the others */
export function loadPlainAddress(data: Slice): Address | null {
  const value = MsgAddress.load(data);
  if (value === null || value instanceof Address) return value;
  throw contractDataErrors['other-form']({ problem: `an address is ${value.kind}` });
}

/** As {@link loadPlainAddress}. @throws contract-data/other-form for `addr_none`, too */
export function loadAccount(data: Slice): Address {
  const value = loadPlainAddress(data);
  if (value === null) throw contractDataErrors['other-form']({ problem: 'an address is addr_none' });
  return value;
}

export function storeAddress(builder: Builder, { workchain, hash }: Address): Builder {
  return builder.storeUint(0b100, 3).storeInt(workchain, 8).storeBytes(hash);
}

/** A cell of two references and two bytes at most, as it is hashed: descriptors, data, depths, hashes. */
const representation = new Uint8Array(2 + 2 + 2 * 2 + 2 * 32);

/** Hash of a `StateInit` of code and data only; `depth`: with `fixed_prefix_length`. The cell is not made for it. */
export function stateInitHash(code: Cell, data: Cell, depth: number | null = null): Uint8Array {
  representation[0] = 2;
  let at: number;
  if (depth === null) {
    // 00110 and the bit that ends the data.
    representation[1] = 1;
    representation[2] = 0b0011_0100;
    at = 3;
  } else {
    representation[1] = 3;
    // 1, five bits of depth, 0110 and the bit that ends the data.
    representation[2] = 0x80 | (depth << 2) | 0b01;
    representation[3] = 0b1010_0000;
    at = 4;
  }
  for (const cell of [code, data]) {
    // Nothing that is pruned is deployed, so each has one depth and one hash.
    const cellDepth = cell.depth();
    representation[at++] = cellDepth >> 8;
    representation[at++] = cellDepth & 0xff;
  }
  representation.set(code.hash(), at);
  representation.set(data.hash(), at + 32);
  const hash = new Uint8Array(32);
  sha256Into(representation, at + 64, hash, 0);
  return hash;
}

/** The address in the basechain of a contract that is deployed with this code and data. */
export function deployedAddress(code: Cell, data: Cell): Address {
  return Address.ofParts(BASECHAIN, stateInitHash(code, data));
}

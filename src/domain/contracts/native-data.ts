import { contractDataErrors } from '#domain/contracts/errors.js';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
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

/** Hash of a `StateInit` of code and data only; `depth`: with `fixed_prefix_length`. */
export function stateInitHash(code: Cell, data: Cell, depth: number | null = null): Uint8Array {
  const builder = new Builder();
  if (depth === null) builder.storeUint(0b00110, 5);
  else builder.storeBit(true).storeUint(depth, 5).storeUint(0b0110, 4);
  return builder.storeRef(code).storeRef(data).endCell().hash();
}

/** The address in the basechain of a contract that is deployed with this code and data. */
export function deployedAddress(code: Cell, data: Cell): Address {
  return Address.ofParts(BASECHAIN, stateInitHash(code, data));
}

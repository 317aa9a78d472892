import { contractDataErrors } from '#domain/contracts/errors.js';
import type { GetMethod } from '#domain/contracts/get-method.js';
import { Address } from '#formats/address/address.js';
import type { Builder } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { sha256Into } from '#formats/cells/digests.js';
import type { Slice } from '#formats/cells/slice.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/** Address, code and data of a contract. */
export interface NativeAccount {
  readonly address: Address;
  /** May be a library reference. */
  readonly code: Cell;
  readonly data: Cell;
}

/** A native reader: the result of one get-method of a known code, read from the data. */
export interface NativeGetMethod {
  readonly method: string;
  /** Returns what the get-method returns; throws a TernError if the data has not the layout of that code. */
  readonly read: (account: NativeAccount, ...given: never[]) => unknown;
}

/** Native readers of a known code. Other get-methods must be run on the TVM. */
export interface NativeCode {
  /** Hashes of the code, or of the library that it refers to: lower-case hexadecimal. */
  readonly hashes: readonly string[];
  readonly getMethods: readonly NativeGetMethod[];
  /** Get-methods that interface detection queries, and that this code does not have. */
  readonly missingMethods?: readonly string[];
}

/** The hash in a library reference cell; null if the cell is none. */
export function libraryHashOf(code: Cell): Uint8Array | null {
  if (code.type !== CellType.libraryReference) return null;
  return code.bytes.subarray(code.dataOffset + 1, code.dataOffset + 33);
}

/** The hash by which a code is known, as {@link NativeCode.hashes}. */
export function knownHashOf(code: Cell): string {
  return toHex(libraryHashOf(code) ?? code.hash());
}

/** Whether one of these codes is known to have no such get-method, so that it need not be called. */
export function lacksMethod(codes: readonly NativeCode[], code: Cell, method: string): boolean {
  const hash = knownHashOf(code);
  return codes.some(({ hashes, missingMethods }) => missingMethods?.includes(method) && hashes.includes(hash));
}

/** Declares the native reader of a get-method, with its types. */
export function nativeGetMethod<Arguments extends readonly unknown[], Result>(
  { name }: GetMethod<Arguments, Result>,
  read: (account: NativeAccount, ...given: Arguments) => Result,
): NativeGetMethod {
  return { method: name, read: read as unknown as NativeGetMethod['read'] };
}

/** Exit code of a contract that has no such get-method. */
const NO_METHOD_EXIT_CODE = 11;

/**
 * Result of a get-method from its native reader, boxed; null if it must be run on the TVM.
 *
 * @throws contract-data/method-failed if the code has no such get-method
 */
export function runNatively<Arguments extends readonly unknown[], Result>(
  code: NativeCode | null,
  account: NativeAccount,
  { name: method }: GetMethod<Arguments, Result>,
  given: Arguments,
): { readonly result: Result } | null {
  if (code === null) return null;
  const answer = code.getMethods.find((one) => one.method === method);
  if (answer === undefined) {
    if (code.missingMethods?.includes(method) !== true) return null;
    throw contractDataErrors['method-failed']({
      address: account.address.toRaw(),
      method,
      exit_code: NO_METHOD_EXIT_CODE,
    });
  }
  const read = answer.read as unknown as (account: NativeAccount, ...given: Arguments) => Result;
  return nullOnTernError(() => ({ result: read(account, ...given) }));
}

/** The result of `read`; null if the data has another layout, so that the code must be run. */
function nullOnTernError<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

/** The workchain of contracts that known codes deploy. */
export const BASECHAIN = 0;

/** `addr_std` without anycast, or `addr_none`. @throws contract-data/other-form for other addresses */
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

/** Representation of a cell with two references and at most two bytes: descriptors, data, depths, hashes. */
const cellRepresentation = new Uint8Array(2 + 2 + 2 * 2 + 2 * 32);

/** Hash of a `StateInit` with only code and data, without building the cell. @param depth `fixed_prefix_length` */
export function stateInitHash(code: Cell, data: Cell, depth: number | null = null): Uint8Array {
  cellRepresentation[0] = 2;
  let at: number;
  if (depth === null) {
    // 00110 and the bit that ends the data.
    cellRepresentation[1] = 1;
    cellRepresentation[2] = 0b0011_0100;
    at = 3;
  } else {
    cellRepresentation[1] = 3;
    // 1, five bits of depth, 0110 and the bit that ends the data.
    cellRepresentation[2] = 0x80 | (depth << 2) | 0b01;
    cellRepresentation[3] = 0b1010_0000;
    at = 4;
  }
  for (const cell of [code, data]) {
    // Deployed cells hold no pruned branches: each has one depth and one hash.
    const cellDepth = cell.depth();
    cellRepresentation[at++] = cellDepth >> 8;
    cellRepresentation[at++] = cellDepth & 0xff;
  }
  cellRepresentation.set(code.hash(), at);
  cellRepresentation.set(data.hash(), at + 32);
  const hash = new Uint8Array(32);
  sha256Into(cellRepresentation, at + 64, hash, 0);
  return hash;
}

/** The address in the basechain of a contract that is deployed with this code and data. */
export function deployedAddress(code: Cell, data: Cell): Address {
  return Address.ofParts(BASECHAIN, stateInitHash(code, data));
}

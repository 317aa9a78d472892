import type { GetMethodRequest } from '#drivers/tvm/get-method.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { fromHex } from '#kernel/bytes.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

/** Code of one cell, from hexadecimal bytes after `SETCP 0`; references to more may follow. */
export function codeOf(hex: string, ...refs: readonly Cell[]): Cell {
  const builder = new Builder().storeBytes(fromHex(`ff00${hex}`)!);
  for (const ref of refs) builder.storeRef(ref);
  return builder.endCell();
}

/** A library reference: a cell that stands for another one. */
export function libraryCell(hash: Uint8Array): Cell {
  return new Builder().storeUint(2, 8).storeBytes(hash).endExotic();
}

/** A configuration of mainnet, global version 12 or so. */
export const mainnetConfig: Cell = parseBocRoot(readBytes(vectorPath('config/mainnet-65466080.boc')));

/** A run of `code`, that drops the method id first or not; nothing else said is usual. */
export function getMethodRequest(code: Cell, more: Partial<GetMethodRequest> = {}): GetMethodRequest {
  return {
    code,
    data: EMPTY_CELL,
    method: 'run',
    stack: [],
    address: Address.ofParts(0, new Uint8Array(32).fill(7)),
    now: 1_750_000_000,
    balance: 10_000_000_000n,
    config: mainnetConfig,
    ...more,
  };
}

/** `account_descr` of `account_none`: what an account that does not exist is. */
export const EMPTY_SHARD_ACCOUNT: Cell = new Builder()
  .storeRef(new Builder().storeUint(0, 1).endCell())
  .storeBytes(new Uint8Array(32))
  .storeUint(0, 32)
  .storeUint(0, 32)
  .endCell();

import { localnetApiErrors } from '#api/localnet/errors.js';
import type { Address } from '#formats/address/address.js';
import { parseAddress } from '#formats/address/parse-address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { wholeCell } from '#formats/cells/whole-cell.js';
import { shardPrefixLength } from '#formats/tlb/shard-ident.js';
import { fromBase64, fromHex, toBase64 } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** The workchains that local networks have. */
const WORKCHAINS: ReadonlySet<number> = new Set([-1, 0]);

/** An account in raw or user-friendly form; the flags of the latter do not matter. @throws address/*, localnet-api/parameter-value */
export function decodeAddress(text: string): Address {
  const { address } = parseAddress(text);
  if (WORKCHAINS.has(address.workchain)) return address;
  throw badValue(`${quoted(text)} is in workchain ${address.workchain}; a local network has -1 and 0`);
}

/** Nanotons in decimal digits. @throws localnet-api/parameter-value */
export function decodeNanotons(text: string, least: bigint, most: bigint): bigint {
  const value = /^\d{1,40}$/.test(text) ? BigInt(text) : null;
  if (value !== null && value >= least && value <= most) return value;
  throw badValue(`${quoted(text)} is not a whole number of nanotons from ${least} to ${most}`);
}

/** A shard as uint64: hexadecimal with `0x` or without, or else a signed decimal number. @throws localnet-api/parameter-value */
export function decodeShard(text: string): bigint {
  const hex = /^(?:0[xX])?([0-9a-fA-F]{1,16})$/.exec(text)?.[1];
  if (hex !== undefined && isShard(BigInt(`0x${hex}`))) return BigInt(`0x${hex}`);
  if (/^-?\d{1,19}$/.test(text)) {
    const value = BigInt(text);
    const shard = BigInt.asUintN(64, value);
    if (BigInt.asIntN(64, value) === value && isShard(shard)) return shard;
  }
  throw badValue(`${quoted(text)} is not a shard: up to 16 hexadecimal digits, or a signed 64-bit decimal number`);
}

function isShard(shard: bigint): boolean {
  try {
    shardPrefixLength(shard);
    return true;
  } catch (error) {
    if (isTernError(error)) return false;
    throw error;
  }
}

/**
 * A cell in a bag of cells with one root, in base64 or hexadecimal; nothing of it is pruned.
 * @throws localnet-api/parameter-value
 */
export function decodeCellText(text: string): Cell {
  if (text === '') throw badValue('it is empty');
  // Standard base64 only, with its padding: what follows a - or _ may mean something else. No bag of cells in base64 is hexadecimal.
  const bytes = fromHex(text) ?? (text.length % 4 === 0 && !/[-_]/.test(text) ? fromBase64(text) : null);
  if (bytes === null) throw badValue('it is neither base64 in the standard alphabet, with padding, nor hexadecimal');
  return refusing('it is not a bag of cells', () => wholeCell(bytes));
}

export function encodeCellText(cell: Cell): string {
  return toBase64(serializeBoc(cell));
}

/** What `read` gives; whatever is wrong with its input is wrong with the value. @throws localnet-api/parameter-value */
export function refusing<T>(problem: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw isTernError(error) ? badValue(`${problem}: ${error.message}`, error) : error;
  }
}

export function badValue(problem: string, cause?: unknown): Error {
  return localnetApiErrors['parameter-value']({ problem }, cause);
}

/** A text as an error message can show it. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
}

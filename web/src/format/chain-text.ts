import { type Address, parseAddress } from '#formats/address/address.js';
import { fromBase64, fromHex, toBase64, toHex } from '#kernel/bytes.js';

/** The hexadecimal form of a hash that an API gives in base64; the text as it is where it is none. */
export function hexOf(hash: string): string {
  const bytes = fromBase64(hash);
  return bytes === null || bytes.length !== 32 ? hash : toHex(bytes);
}

/** A hash in any form that people paste: hex, base64, base64url. @returns base64; null when it is none */
export function hashOf(text: string): string | null {
  const hex = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text)?.[1];
  const bytes = hex === undefined ? fromBase64(text) : fromHex(hex);
  return bytes === null || bytes.length !== 32 ? null : toBase64(bytes);
}

/** A text with its middle left out: `EQAbcd…wxyz` */
export function shortened(text: string, begin = 6, end = 4): string {
  return text.length <= begin + end + 1 ? text : `${text.slice(0, begin)}…${text.slice(-end)}`;
}

/** The address of a text in any form; null when it is none. */
export function addressOf(text: string): Address | null {
  try {
    return parseAddress(text).address;
  } catch {
    return null;
  }
}

/** The raw form with hex digits in capitals, as API v3 keys its address book. */
export function rawAddress(address: Address): string {
  return address.toRaw().toUpperCase();
}

/** The shard of a block as people write it: 16 hex digits. @param shard decimal int64, or hex */
export function shardHex(shard: string): string {
  if (!/^-?\d+$/.test(shard) || /^[0-9a-fA-F]{16}$/.test(shard)) return shard.toLowerCase();
  return BigInt.asUintN(64, BigInt(shard)).toString(16).padStart(16, '0');
}

/** The decimal int64 of a shard in hex, as API v2 takes it; null when it is none. */
export function shardDecimal(hex: string): string | null {
  return /^[0-9a-fA-F]{16}$/.test(hex) ? BigInt.asIntN(64, BigInt(`0x${hex}`)).toString() : null;
}

/** An opcode as eight hex digits with `0x`; null when there is none. @param opcode signed 32-bit, or hex text */
export function opcodeHex(opcode: number | string | null | undefined): string | null {
  if (opcode == null) return null;
  if (typeof opcode === 'number') return `0x${(opcode >>> 0).toString(16).padStart(8, '0')}`;
  return /^-?\d+$/.test(opcode) ? opcodeHex(Number(opcode)) : opcode;
}

/** The name of a workchain. */
export function workchainName(workchain: number): string {
  if (workchain === -1) return 'masterchain';
  return workchain === 0 ? 'basechain' : `workchain ${workchain}`;
}

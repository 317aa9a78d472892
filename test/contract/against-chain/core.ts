import { Address, Cell as CoreCell } from '@ton/core';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';

/** The same cell in the other library, which reads everything that is expected here. */
export function coreCell(cell: Cell): CoreCell {
  return CoreCell.fromBoc(Buffer.from(serializeBoc(cell)))[0]!;
}

/** How {@link withHashes} shows a bag of cells. */
export function shown(cell: CoreCell | null | undefined): string {
  return cell == null ? '' : `cell ${cell.hash().toString('hex')}`;
}

/** A result with the hash of the root in place of each bag of cells: many bags stand for one cell. */
export function withHashes(value: unknown): unknown {
  if (typeof value === 'string') {
    if (!/^te6c[A-Za-z0-9+/=]+$/.test(value)) return value;
    return shown(CoreCell.fromBoc(Buffer.from(value, 'base64'))[0]);
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withHashes);
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withHashes(field)]));
}

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
export const hexToBase64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');

/** `0:` and 64 hex digits as the user-friendly, bounceable form. */
export const friendly = (raw: string): string => Address.parseRaw(raw).toString();

/** As the API names a block. */
export function blockIdJson(id: BlockId): Record<string, unknown> {
  return {
    '@type': 'chain.blockIdExt',
    workchain: id.workchain,
    shard: BigInt.asIntN(64, id.shard).toString(),
    seqno: id.seqno,
    root_hash: base64(id.root_hash),
    file_hash: base64(id.file_hash),
  };
}

/** Parameters that name a block. */
export function positionOf(id: BlockId): { workchain: number; shard: string; seqno: number } {
  return { workchain: id.workchain, shard: BigInt.asIntN(64, id.shard).toString(), seqno: id.seqno };
}

/** @param hash base64; without, the name of no transaction */
export function transactionIdJson(lt: bigint, hash: Uint8Array): Record<string, unknown> {
  return { '@type': 'internal.transactionId', lt: lt.toString(), hash: base64(hash) };
}

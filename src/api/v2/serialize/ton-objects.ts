import {
  BLOCK_ID_TYPE,
  CELL_TYPE,
  type ExtraCurrencyBalance,
  type InternalTransactionId,
  type TonBlockIdExt,
  type TvmCell,
} from '#api/v2/schemas/ton-objects.js';
import type { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import type { TransactionRef } from '#formats/proofs/account-transactions.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { signedShard } from '#formats/tl/block-id.js';
import type { ExtraCurrencyCollection } from '#formats/tlb/currency.js';
import { toBase64 } from '#kernel/bytes/bytes.js';

/** Stands for a hash that is not there. */
const ZERO_HASH = toBase64(new Uint8Array(32));

const WITH_CRC = { crc32c: true } as const;

export function blockIdExt(id: BlockId): TonBlockIdExt {
  return {
    '@type': BLOCK_ID_TYPE,
    workchain: id.workchain,
    shard: signedShard(id.shard).toString(),
    seqno: id.seqno,
    root_hash: toBase64(id.root_hash),
    file_hash: toBase64(id.file_hash),
  };
}

/** @param ref `null`: the name of no transaction, lt 0 and a hash of zeros */
export function transactionId(ref: TransactionRef | null): InternalTransactionId {
  if (ref === null) return { '@type': 'internal.transactionId', lt: '0', hash: ZERO_HASH };
  return { '@type': 'internal.transactionId', lt: ref.lt.toString(), hash: toBase64(ref.hash) };
}

/** A bag with one root and a checksum, as tonlib writes it, in base64. */
export function bocBase64(cell: Cell): string {
  return toBase64(serializeBoc(cell, WITH_CRC));
}

/** @param cell `null`: a cell that is not there, without bytes */
export function tvmCell(cell: Cell | null): TvmCell {
  return { '@type': CELL_TYPE, bytes: cell === null ? '' : bocBase64(cell) };
}

/** The user-friendly form, bounceable; empty for no address, or one of a workchain that this form has no room for. */
export function friendlyAddress(address: Address | null): string {
  if (address === null || (address.workchain << 24) >> 24 !== address.workchain) return '';
  return address.toFriendly();
}

export function accountAddress(address: Address | null): { '@type': 'accountAddress'; account_address: string } {
  return { '@type': 'accountAddress', account_address: friendlyAddress(address) };
}

/** Ids are signed, as tonlib shows them. */
export function extraCurrencies(currencies: ExtraCurrencyCollection): ExtraCurrencyBalance[] {
  if (currencies.isEmpty) return [];
  return Array.from(currencies, ([id, amount]) => ({
    '@type': 'extraCurrency',
    id: id | 0,
    amount: amount.toString(),
  }));
}

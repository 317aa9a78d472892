import { type Static, type TSchema, Type } from '@sinclair/typebox';
import type { Address, ParsedAddress } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { TransactionRef } from '#formats/proofs/transactions.js';
import { signedShard } from '#formats/tl/block-id.js';
import type { ExtraCurrencyCollection } from '#formats/tlb/currency.js';
import { toBase64, toHex } from '#kernel/bytes.js';

/** Names of types that the published document and live services spell differently; renamed in the `toncenter` profile. */
export const BLOCK_ID_TYPE = 'chain.blockIdExt';
export const CELL_TYPE = 'vm.cell';

/** The `@type` of an object. */
export function typeName<const Name extends string>(name: Name) {
  return Type.Literal(name, { description: `Always \`${name}\`.` });
}

/** An object with exactly these fields; `$id` is its name in the document. */
export function v2Object<Fields extends Record<string, TSchema>>(
  $id: string,
  fields: Fields,
  options: { readonly description?: string; readonly additionalProperties?: boolean } = {},
) {
  return Type.Object(fields, { $id, additionalProperties: false, ...options });
}

export function hashField(description: string) {
  return Type.String({ description: `${description} 32 bytes in base64.` });
}

/** Bytes in base64. */
export function bytesField(description: string) {
  return Type.String({ description: `${description} In base64.`, contentEncoding: 'base64' });
}

/** An integer that does not fit a JSON number. */
export function decimalField(description: string) {
  return Type.String({ description: `${description} A decimal string.` });
}

export const AccountAddress = Type.Partial(
  Type.Object({
    '@type': typeName('accountAddress'),
    account_address: Type.String({ description: 'User-friendly bounceable form; empty where there is no account.' }),
  }),
  { $id: 'AccountAddress', additionalProperties: false },
);

export const TonBlockIdExt = v2Object(
  'TonBlockIdExt',
  {
    '@type': typeName(BLOCK_ID_TYPE),
    workchain: Type.Integer({ description: '-1 is the masterchain, 0 the basechain.' }),
    shard: Type.String({ description: 'Shard as a signed 64-bit decimal number.' }),
    seqno: Type.Integer({ description: 'Seqno of the block in its shard.' }),
    root_hash: hashField('Hash of the root cell.'),
    file_hash: hashField('SHA-256 of the serialized block.'),
  },
  { description: 'The full id of a block.' },
);
export type TonBlockIdExt = Static<typeof TonBlockIdExt>;

export const InternalTransactionId = v2Object(
  'InternalTransactionId',
  {
    '@type': typeName('internal.transactionId'),
    lt: Type.String({ description: 'Logical time; `0` stands for no transaction.' }),
    hash: hashField('Hash of the transaction; zeros stand for no transaction.'),
  },
  { description: 'A transaction of a known account.' },
);
export type InternalTransactionId = Static<typeof InternalTransactionId>;

export const ExtraCurrencyBalance = v2Object('ExtraCurrencyBalance', {
  '@type': typeName('extraCurrency'),
  id: Type.Integer({ description: 'Id of the currency, an int32.', format: 'int32' }),
  amount: decimalField('Amount in the smallest unit of the currency.'),
});
export type ExtraCurrencyBalance = Static<typeof ExtraCurrencyBalance>;

export const TvmCell = v2Object('TvmCell', {
  '@type': typeName(CELL_TYPE),
  bytes: bytesField('Bag of cells with the cell as its root.'),
});
export type TvmCell = Static<typeof TvmCell>;

/** Stands for no hash. */
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

/** @param ref `null`: no transaction, written as lt 0 and a hash of zeros */
export function transactionId(ref: TransactionRef | null): InternalTransactionId {
  if (ref === null) return { '@type': 'internal.transactionId', lt: '0', hash: ZERO_HASH };
  return { '@type': 'internal.transactionId', lt: ref.lt.toString(), hash: toBase64(ref.hash) };
}

/** A bag of cells with one root and a checksum, as tonlib writes it, in base64. */
export function bocBase64(cell: Cell): string {
  return toBase64(serializeBoc(cell, WITH_CRC));
}

/** @param cell `null`: no cell, without bytes */
export function tvmCell(cell: Cell | null): TvmCell {
  return { '@type': CELL_TYPE, bytes: cell === null ? '' : bocBase64(cell) };
}

/** The user-friendly form, bounceable; empty for no address, or a workchain that does not fit this form (int8). */
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

/** `0:83DFD552…` */
export function upperRaw({ workchain, hash }: Address): string {
  return `${workchain}:${toHex(hash).toUpperCase()}`;
}

/** The user-friendly form with the flags of the given form; bounceable when it had none. @throws address/workchain */
export function echoedAddress({ address, bounceable, testnet }: ParsedAddress): string {
  return address.toFriendly({ bounceable: bounceable ?? true, testnet: testnet ?? false });
}

/** The given form in its canonical notation: raw with upper-case digits, user-friendly in base64url. */
export function normalizedAddress(parsed: ParsedAddress): string {
  return parsed.form === 'raw' ? upperRaw(parsed.address) : echoedAddress(parsed);
}

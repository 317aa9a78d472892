import { type Static, type TSchema, Type } from '@sinclair/typebox';

/** Names of types that the published document and live services spell differently; the `toncenter` profile renames them. */
export const BLOCK_ID_TYPE = 'chain.blockIdExt';
export const CELL_TYPE = 'vm.cell';

/** The `@type` of an object. */
export function typeName<const Name extends string>(name: Name) {
  return Type.Literal(name, { description: `Always \`${name}\`.` });
}

/** An object with just these fields, under the name that it has in the document. */
export function namedObject<Fields extends Record<string, TSchema>>(
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

/** A number that does not fit a JSON number. */
export function decimalField(description: string) {
  return Type.String({ description: `${description} A decimal number as text.` });
}

export const AccountAddress = Type.Partial(
  Type.Object({
    '@type': typeName('accountAddress'),
    account_address: Type.String({ description: 'User-friendly bounceable form; empty where there is no account.' }),
  }),
  { $id: 'AccountAddress', additionalProperties: false },
);

export const TonBlockIdExt = namedObject(
  'TonBlockIdExt',
  {
    '@type': typeName(BLOCK_ID_TYPE),
    workchain: Type.Integer({ description: '-1 is the masterchain, 0 the basechain.' }),
    shard: Type.String({ description: 'Shard as a signed 64-bit decimal number.' }),
    seqno: Type.Integer({ description: 'Number of the block in its shard.' }),
    root_hash: hashField('Hash of the root cell.'),
    file_hash: hashField('SHA-256 of the serialized block.'),
  },
  { description: 'The full name of a block.' },
);
export type TonBlockIdExt = Static<typeof TonBlockIdExt>;

export const InternalTransactionId = namedObject(
  'InternalTransactionId',
  {
    '@type': typeName('internal.transactionId'),
    lt: Type.String({ description: 'Logical time; `0` stands for no transaction.' }),
    hash: hashField('Hash of the transaction; zeros stand for no transaction.'),
  },
  { description: 'A transaction of a known account.' },
);
export type InternalTransactionId = Static<typeof InternalTransactionId>;

export const ExtraCurrencyBalance = namedObject('ExtraCurrencyBalance', {
  '@type': typeName('extraCurrency'),
  id: Type.Integer({ description: 'Id of the currency, an int32.', format: 'int32' }),
  amount: decimalField('Amount in the smallest unit of the currency.'),
});
export type ExtraCurrencyBalance = Static<typeof ExtraCurrencyBalance>;

export const TvmCell = namedObject('TvmCell', {
  '@type': typeName(CELL_TYPE),
  bytes: bytesField('Bag of cells with the cell as its root.'),
});
export type TvmCell = Static<typeof TvmCell>;

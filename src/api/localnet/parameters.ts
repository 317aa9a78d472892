import { type TProperties, Type } from '@sinclair/typebox';
import {
  decodeAddress,
  decodeCellText,
  decodeNanotons,
  decodeShard,
  encodeCellText,
} from '#api/localnet/parameter-forms.js';

const ADDRESS_EXAMPLE = '0:83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8';

/** Twice what mainnet has; more than any contract reckons with. */
export const MOST_NANOTONS = 10n ** 19n;

/** Everything that a method takes; other names are refused. */
export function paramsOf<Fields extends TProperties>(fields: Fields) {
  return Type.Object(fields, { additionalProperties: false });
}

/** An account. */
export function addressParameter(description: string) {
  const forms = 'in raw form (`0:` or `-1:` and 64 hexadecimal digits) or user-friendly form (48 characters)';
  return Type.Transform(Type.String({ description: `${description}, ${forms}.`, examples: [ADDRESS_EXAMPLE] }))
    .Decode(decodeAddress)
    .Encode((address) => address.toRaw());
}

/** An amount in nanotons. */
export function nanotonsParameter(description: string, least: bigint) {
  const bounds = `Nanotons (1 TON is 1000000000), as text or as a whole number, ${least} to ${MOST_NANOTONS}.`;
  return Type.Transform(
    Type.String({ description: `${description} ${bounds}`, format: 'int64', examples: ['1000000000'] }),
  )
    .Decode((text) => decodeNanotons(text, least, MOST_NANOTONS))
    .Encode(String);
}

/** A cell in a bag of cells. */
export function cellParameter(description: string) {
  const text = `${description} A bag of cells in base64 or hexadecimal.`;
  return Type.Transform(Type.String({ description: text }))
    .Decode(decodeCellText)
    .Encode(encodeCellText);
}

/** What a split or a merge is about. */
export const shardParameters = {
  workchain: Type.Optional(
    Type.Integer({
      description: 'Workchain of the shard. The masterchain has one shard for ever.',
      default: 0,
      minimum: 0,
      maximum: 0,
    }),
  ),
  shard: Type.Transform(
    Type.String({
      description:
        'The shard, one that the status lists: hexadecimal, such as 8000000000000000, with `0x` or without, or a signed ' +
        'decimal number.',
      examples: ['8000000000000000'],
    }),
  )
    .Decode(decodeShard)
    .Encode((value) => value.toString(16)),
};

/** What a snapshot is called. */
export const snapshotName = Type.String({
  description: 'Name of the snapshot: up to 64 letters, digits, `-`, `_` and `.`, the first one a letter or a digit.',
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  examples: ['before-the-sale'],
});

import { Type } from '@sinclair/typebox';
import { flag, interfaces, map, namedObject, nullable, optional, text } from '#api/v3/schemas/fields.js';

export const AddressBookRow = namedObject(
  'AddressBookRow',
  {
    user_friendly: nullable(
      text('User-friendly form: non-bounceable for wallets and accounts without code, bounceable for other contracts.'),
    ),
    domain: nullable(text('Domain that leads to the account; none are told yet.')),
    interfaces,
  },
  'How to show an account.',
);

export const AddressBook = map(AddressBookRow, {
  $id: 'AddressBook',
  description: 'How to show the accounts of the answer, by raw address. Empty with `X-No-Address-Book`.',
});

const TokenInfo = namedObject('TokenInfo', {
  type: optional(text('`jetton_masters`, `jetton_wallets`, `nft_collections` or `nft_items`.')),
  valid: optional(flag('The description could be read.')),
  name: optional(text('Name.')),
  symbol: optional(text('Symbol.')),
  description: optional(text('Description.')),
  image: optional(text('Link to an image.')),
  nft_index: optional(text('Index in the collection: a decimal number as text.')),
  extra: optional(Type.Object({}, { additionalProperties: true, description: 'Further attributes.' })),
});

const AddressMetadata = namedObject('AddressMetadata', {
  is_indexed: flag('The description has been fetched.'),
  token_info: Type.Array(TokenInfo),
});

export const Metadata = map(AddressMetadata, {
  $id: 'Metadata',
  description:
    'What tokens among the accounts say of themselves, by raw address. Tokens are not indexed yet: it is empty.',
});

import { Type } from '@sinclair/typebox';
import { flag, interfaces, map, namedObject, nullable, optional, text } from '#api/v3/schemas/fields.js';

export const AddressBookRow = namedObject(
  'AddressBookRow',
  {
    user_friendly: nullable(
      text('User-friendly form: non-bounceable for wallets and accounts without code, bounceable for other contracts.'),
    ),
    domain: nullable(text('The shortest of the `.ton` and `.t.me` domains that the account owns and that lead to it.')),
    interfaces: nullable(interfaces),
  },
  'How to show an account.',
);

export const AddressBook = map(AddressBookRow, {
  $id: 'AddressBook',
  description: 'How to show the accounts of the answer, by raw address. Empty with `X-No-Address-Book`.',
});

const TokenInfo = namedObject('TokenInfo', {
  type: optional(text('`jetton_masters`, `jetton_wallets`, `nft_collections` or `nft_items`.')),
  valid: optional(flag('There is what such a token must have: a symbol, a name, a domain.')),
  name: optional(text('Name.')),
  symbol: optional(text('Symbol.')),
  description: optional(text('Description.')),
  image: optional(text('Link to an image.')),
  nft_index: optional(text('Index in the collection: a decimal number as text.')),
  is_nsfw: optional(flag('Whoever runs the service says that it is not for everybody’s eyes.')),
  is_scam: optional(flag('Whoever runs the service says that it is a fraud.')),
  extra: optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          'All the rest, such as `uri`, `decimals`, `attributes`; of a jetton wallet `balance`, `owner` and `jetton`.',
      },
    ),
  ),
});

const AddressMetadata = namedObject('AddressMetadata', {
  is_indexed: flag('False: what its link leads to is still to be read, and nothing more is told.'),
  token_info: Type.Array(TokenInfo),
});

export const Metadata = map(AddressMetadata, {
  $id: 'Metadata',
  description:
    'What tokens among the accounts say of themselves, by raw address; of jetton wallets also what their jettons say. Empty with ' +
    '`X-No-Metadata`.',
});

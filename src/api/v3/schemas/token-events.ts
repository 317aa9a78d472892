import { type TSchema, Type } from '@sinclair/typebox';
import { AddressBook, Metadata } from '#api/v3/schemas/address-book.js';
import { address, boc, decimal, flag, hash, integer, namedObject, nullable } from '#api/v3/schemas/fields.js';

/** Of the transaction in which a wallet or an item received the message. */
const transaction = {
  transaction_hash: hash('Hash of the transaction.'),
  transaction_lt: decimal('Its logical time.'),
  transaction_now: integer('When it happened: unix time in seconds.'),
  transaction_aborted: flag('The contract failed, and nothing moved.'),
};

const response_destination = nullable(
  address('Who is to get the coins that are left; `addr_none` where the message names nobody.'),
);

const decoded = (of: string) =>
  nullable(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description: `${of} by its layout, with the name of it in \`@type\`. Not there when the layout is not known.`,
      },
    ),
  );

const custom = {
  custom_payload: nullable(boc('What the contract itself is told.')),
  decoded_custom_payload: decoded('That'),
};

const forward = {
  forward_payload: nullable(
    boc(
      'What the new owner is told, whether it stands in the message or in a cell of its own; not there when it is empty.',
    ),
  ),
  decoded_forward_payload: decoded('That'),
};

const trace_id = nullable(hash('Hash of the first transaction of its trace.'));

const JettonTransfer = namedObject(
  'JettonTransfer',
  {
    query_id: decimal('Number that its sender chose.'),
    source: address('Owner of the jettons, who sent the message.'),
    destination: address('New owner.'),
    amount: decimal('In the smallest units of the jetton.'),
    source_wallet: address('Jetton wallet of the source.'),
    jetton_master: address('Jetton master.'),
    ...transaction,
    response_destination,
    ...custom,
    forward_ton_amount: nullable(decimal('Nanotons that the new owner gets with the notification.')),
    ...forward,
    trace_id,
  },
  'Jettons that their owner sent to somebody.',
);

const JettonBurn = namedObject(
  'JettonBurn',
  {
    query_id: decimal('Number that its sender chose.'),
    owner: address('Owner of the jettons, who sent the message.'),
    jetton_wallet: address('Jetton wallet of the owner.'),
    jetton_master: address('Jetton master.'),
    ...transaction,
    amount: decimal('In the smallest units of the jetton.'),
    response_destination,
    ...custom,
    trace_id,
  },
  'Jettons that their owner gave up.',
);

const NFTTransfer = namedObject(
  'NFTTransfer',
  {
    query_id: decimal('Number that its sender chose.'),
    nft_address: address('The item.'),
    nft_collection: nullable(address('Its collection; there are items without one.')),
    ...transaction,
    old_owner: address('Owner before, who sent the message.'),
    new_owner: address('Owner after it.'),
    response_destination,
    ...custom,
    forward_amount: nullable(decimal('Nanotons that the new owner gets with the notification.')),
    ...forward,
    trace_id,
  },
  'An NFT that its owner gave to somebody.',
);

const response = ($id: string, member: string, row: TSchema) =>
  namedObject($id, { [member]: Type.Array(row), address_book: AddressBook, metadata: Metadata });

export const JettonTransfersResponse = response('JettonTransfersResponse', 'jetton_transfers', JettonTransfer);
export const JettonBurnsResponse = response('JettonBurnsResponse', 'jetton_burns', JettonBurn);
export const NFTTransfersResponse = response('NFTTransfersResponse', 'nft_transfers', NFTTransfer);

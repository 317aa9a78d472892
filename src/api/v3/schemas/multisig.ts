import { Type } from '@sinclair/typebox';
import { AddressBook } from '#api/v3/schemas/address-book.js';
import { address, boc, decimal, flag, hash, integer, namedObject, nullable, text } from '#api/v3/schemas/fields.js';
import { PARSED_BODY_TYPES } from '#api/v3/serialize/order-action.js';

function addresses(description: string) {
  return Type.Array(Type.String(), { description: `${description} Raw addresses.` });
}

const state = {
  last_transaction_lt: decimal('Logical time of its last transaction.'),
  code_hash: nullable(hash('Of the code.')),
  data_hash: nullable(hash('Of the data.')),
};

const OrderAction = namedObject(
  'OrderAction',
  {
    destination: nullable(address('Where the message goes; none of a change of the multisig itself.')),
    value: nullable(decimal('Nanotons that it brings.')),
    body_raw: nullable(boc('The body; of a change of the multisig itself the action.')),
    parsed: flag('It could be read.'),
    error: nullable(text('Why it could not.')),
    parsed_body: nullable(
      Type.Object({}, { additionalProperties: true, description: 'The body by its fields, as of `parsed_body_type`.' }),
    ),
    parsed_body_type: text('What the body is.', { enum: PARSED_BODY_TYPES }),
    send_mode: integer('Mode of sending.'),
  },
  'What a multisig does when enough have agreed.',
);

export const MultisigOrder = namedObject(
  'MultisigOrder',
  {
    address: address('The order.'),
    multisig_address: address('The multisig.'),
    order_seqno: decimal('Its number.'),
    threshold: nullable(integer('How many have to agree.')),
    sent_for_execution: nullable(flag('Enough have agreed.')),
    approvals_mask: nullable(decimal('Who has: bit i for the signer with index i.')),
    approvals_num: nullable(integer('How many have.')),
    expiration_date: nullable(integer('Until when they may, in unix seconds.')),
    order_boc: nullable(boc('The actions.')),
    signers: nullable(addresses('Who may agree.')),
    ...state,
    actions: nullable(
      Type.Array(OrderAction, {
        description: 'The actions, with `parse_actions`; not there when there are none or they cannot be read.',
      }),
    ),
  },
  'An order of a multisig. What the multisig has not told it yet has no value.',
);

export const Multisig = namedObject(
  'Multisig',
  {
    address: address('The multisig.'),
    next_order_seqno: decimal('Number of the next order; -1 where orders may have any.'),
    threshold: integer('How many of the signers have to agree.'),
    signers: addresses('Who agrees to orders.'),
    proposers: addresses('Who may propose orders besides.'),
    ...state,
    orders: nullable(
      Type.Array(MultisigOrder, { description: 'Its orders, the oldest first; empty with `include_orders=false`.' }),
    ),
  },
  'A multisig of version 2.',
);

export const MultisigResponse = namedObject('MultisigResponse', {
  multisigs: Type.Array(Multisig),
  address_book: AddressBook,
});

export const MultisigOrderResponse = namedObject('MultisigOrderResponse', {
  orders: Type.Array(MultisigOrder),
  address_book: AddressBook,
});

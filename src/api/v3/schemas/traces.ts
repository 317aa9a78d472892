import { Type } from '@sinclair/typebox';
import { AddressBook, Metadata } from '#api/v3/schemas/address-book.js';
import { decimal, flag, hash, integer, map, namedObject, nullable, optional, text } from '#api/v3/schemas/fields.js';
import { Message } from '#api/v3/schemas/messages.js';
import { Transaction } from '#api/v3/schemas/transactions.js';

const TraceMeta = namedObject('TraceMeta', {
  trace_state: text(
    '`complete`: all its messages arrived. `pending`: some are on their way. `broken`: it began before the indexed history.',
  ),
  messages: integer('Messages that arrived.'),
  transactions: integer('Transactions.'),
  pending_messages: integer('Messages on their way.'),
  classification_state: text('`unclassified`: it was not looked for actions.'),
});

const TraceNode = Type.Recursive(
  (This) =>
    Type.Object(
      {
        tx_hash: hash('The transaction.'),
        in_msg_hash: Type.Optional(hash('The message that began it; tick-tock transactions have none.')),
        transaction: Type.Optional(Transaction),
        in_msg: Type.Optional(Message),
        children: Type.Array(This, {
          description: 'Transactions that its messages began. Live services have null for none that arrived.',
        }),
      },
      { description: 'A transaction in the tree. `transaction` and `in_msg` are not filled.' },
    ),
  { $id: 'TraceNode' },
);

const Action = Type.Object({}, { $id: 'Action', additionalProperties: true, description: 'Not told yet.' });

export const Trace = namedObject(
  'Trace',
  {
    trace_id: hash('Hash of its first transaction.'),
    external_hash: nullable(
      hash('The message from outside, or of the validators, that began it; other traces have none.'),
    ),
    mc_seqno_start: decimal('Masterchain block that commits its first transaction.'),
    mc_seqno_end: decimal('Masterchain block that commits its last one.'),
    start_lt: decimal('Of its first transaction.'),
    start_utime: integer('Of its first transaction: unix time in seconds.'),
    end_lt: decimal('Greatest of all its transactions.'),
    end_utime: integer('Latest of all its transactions: unix time in seconds.'),
    trace_info: TraceMeta,
    is_incomplete: flag('It has too many transactions (above 4,000), which are left out.'),
    warning: optional(text('What is wrong with it.')),
    actions: optional(
      Type.Array(Action, {
        description:
          'With `include_actions`. Traces are not looked for actions yet, which `classification_state` says: it is empty.',
      }),
    ),
    trace: optional(TraceNode),
    transactions_order: optional(Type.Array(Type.String(), { description: 'Hashes by logical time.' })),
    transactions: optional(map(Transaction, { description: 'By hash.' })),
  },
  'Transactions that messages connect.',
);

export const TracesResponse = namedObject('TracesResponse', {
  traces: Type.Array(Trace),
  address_book: AddressBook,
  metadata: Metadata,
});

export const EventsResponse = namedObject('DeprecatedEventsResponse', {
  events: Type.Array(Trace),
  address_book: AddressBook,
  metadata: Metadata,
});

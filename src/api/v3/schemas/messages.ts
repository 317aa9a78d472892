import { Type } from '@sinclair/typebox';
import { byProfile } from '#api/http/profile-keywords.js';
import {
  address,
  boc,
  currencies,
  decimal,
  flag,
  hash,
  namedObject,
  nullable,
  optional,
  text,
} from '#api/v3/schemas/fields.js';

export const MessageContent = namedObject(
  'MessageContent',
  {
    hash: hash('Hash of the cell.'),
    body: boc('The cell.'),
    decoded: nullable(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description:
            'The body by its layout, with the name of it in `@type`. Not there when the layout is not known.',
        },
      ),
    ),
  },
  'A cell of a message.',
);

const OPCODE = 'First 32 bits of the body; there is none where it has fewer.';

export const Message = namedObject(
  'Message',
  {
    hash: hash('Hash of the message.'),
    source: nullable(address('Sender; messages from outside have none.')),
    destination: nullable(address('Receiver; messages to the outside have none.')),
    value: nullable(decimal('Nanotons that it brings.')),
    value_extra_currencies: nullable(currencies),
    fwd_fee: nullable(decimal('Nanotons for its way.')),
    ihr_fee: nullable(decimal('Nanotons for instant routing; 0 since global version 12.')),
    extra_flags: nullable(decimal('Flags about bouncing, since global version 12.')),
    created_lt: nullable(decimal('Logical time of its making; messages from outside have none.')),
    created_at: nullable(decimal('Unix time of its making, in seconds; messages from outside have none.')),
    opcode: nullable(
      Type.Any({
        ...byProfile({
          spec: { type: 'integer', description: `${OPCODE} With sign.` },
          toncenter: { type: 'string', description: `${OPCODE} Hexadecimal with 0x.` },
        }),
      }),
    ),
    decoded_opcode: nullable(text('What bodies with this opcode are called.')),
    ihr_disabled: nullable(flag('No instant routing.')),
    bounce: nullable(flag('What it brings comes back when the receiver fails.')),
    bounced: nullable(flag('It comes back.')),
    import_fee: nullable(decimal('Nanotons; of messages from outside.')),
    in_msg_tx_hash: optional(hash('In /messages: the transaction that received it.')),
    out_msg_tx_hash: optional(hash('In /messages: the transaction that sent it.')),
    message_content: MessageContent,
    init_state: nullable(MessageContent),
    hash_norm: optional(
      hash(
        'Of a message from outside: the hash that does not depend on how its sender stored it (TEP-467), if that is another.',
      ),
    ),
  },
  'A message. What its kind does not have is not there.',
);

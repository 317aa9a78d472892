import { Type } from '@sinclair/typebox';
import { hash, integer, namedObject, optional } from '#api/v3/schemas/fields.js';

export const V2SendMessageResult = namedObject('V2SendMessageResult', {
  message_hash: hash('Hash of the message as it was sent.'),
  message_hash_norm: optional(hash('The hash that does not depend on how it was stored (TEP-467).')),
});

export const V2StackEntity = namedObject(
  'V2StackEntity',
  {
    type: Type.String({ description: '`num`, `cell`, `slice`, `tuple` or `list`.' }),
    value: Type.Any({
      description: 'Text: a number, or a bag of cells in base64; of tuples and lists an array of such entries.',
    }),
  },
  'A value on a stack.',
);

export const V2RunGetMethodResult = namedObject('V2RunGetMethodResult', {
  gas_used: integer('Gas.'),
  exit_code: integer('0 and 1 are success.'),
  stack: Type.Array(V2StackEntity, { description: 'Results, the first one first.' }),
});

const V2EstimatedFee = namedObject('V2EstimatedFee', {
  in_fwd_fee: integer('Nanotons for taking the message in.'),
  storage_fee: integer('Nanotons of rent.'),
  gas_fee: integer('Nanotons for gas.'),
  fwd_fee: integer('Nanotons for the messages that it sends.'),
});

export const V2EstimateFeeResult = namedObject('V2EstimateFeeResult', {
  source_fees: V2EstimatedFee,
  destination_fees: Type.Array(V2EstimatedFee, { description: 'Not computed: empty.' }),
});

export const DecodeResponse = namedObject('DecodeResponse', {
  opcodes: Type.Array(Type.String(), { description: 'Names, in the order asked for; `unknown` for one without.' }),
  bodies: Type.Array(
    Type.Object({}, { additionalProperties: true, description: 'A body by its layout, or `error` with the reason.' }),
  ),
});

import { type Static, Type } from '@sinclair/typebox';
import { hashField, namedObject, typeName } from '#api/v2/schemas/ton-objects.js';

export const ResultOk = namedObject(
  'ResultOk',
  { '@type': typeName('ok') },
  { description: 'A node took the message; whether it has an effect, the chain will show.' },
);
export type ResultOk = Static<typeof ResultOk>;

export const ExtMessageInfo = namedObject(
  'ExtMessageInfo',
  {
    '@type': typeName('raw.extMessageInfo'),
    hash: hashField('Hash of the message as it was sent.'),
    hash_norm: hashField(
      'Hash of the message in a form that does not depend on how it was stored (TEP-467): the one to look it up by.',
    ),
  },
  { description: 'A message from outside that a node took.' },
);
export type ExtMessageInfo = Static<typeof ExtMessageInfo>;

const nanotons = (description: string) => Type.Integer({ description: `${description} Nanotons.`, format: 'int64' });

const Fees = namedObject('Fees', {
  '@type': typeName('fees'),
  in_fwd_fee: nanotons('For taking the message in.'),
  storage_fee: nanotons('For what the account has stored since it last paid.'),
  gas_fee: nanotons('For running the contract.'),
  fwd_fee: nanotons('For forwarding the messages that it sends.'),
});

export const QueryFees = namedObject(
  'QueryFees',
  {
    '@type': typeName('query.fees'),
    source_fees: Fees,
    destination_fees: Type.Array(Fees, { description: 'Always empty.' }),
  },
  { description: 'What a message from outside would cost the account that receives it.' },
);
export type QueryFees = Static<typeof QueryFees>;

import { type Static, Type } from '@sinclair/typebox';
import {
  AccountAddress,
  bytesField,
  decimalField,
  ExtraCurrencyBalance,
  hashField,
  InternalTransactionId,
  namedObject,
  TonBlockIdExt,
  typeName,
} from '#api/v2/schemas/ton-objects.js';

const MsgDataRaw = Type.Partial(
  Type.Object({
    '@type': typeName('msg.dataRaw'),
    body: bytesField('Bag of cells with the body.'),
    init_state: bytesField('Bag of cells with the `StateInit` that the message deploys; empty when it has none.'),
  }),
  { $id: 'MsgDataRaw', additionalProperties: false },
);

const MsgDataText = Type.Partial(Type.Object({ '@type': typeName('msg.dataText'), text: bytesField('The comment.') }), {
  $id: 'MsgDataText',
  additionalProperties: false,
});

const MsgDataDecryptedText = Type.Partial(
  Type.Object({
    '@type': typeName('msg.dataDecryptedText'),
    text: bytesField('The comment. Not answered: nobody here has the key.'),
  }),
  { $id: 'MsgDataDecryptedText', additionalProperties: false },
);

const MsgDataEncryptedText = Type.Partial(
  Type.Object({ '@type': typeName('msg.dataEncryptedText'), text: bytesField('The comment as it was encrypted.') }),
  { $id: 'MsgDataEncryptedText', additionalProperties: false },
);

export const MsgData = Type.Union([MsgDataRaw, MsgDataText, MsgDataDecryptedText, MsgDataEncryptedText], {
  $id: 'MsgData',
  discriminator: { propertyName: '@type' },
});
export type MsgData = Static<typeof MsgData>;

const messageFields = {
  value: decimalField('Nanotons that it carries.'),
  extra_currencies: Type.Array(ExtraCurrencyBalance, { description: 'Other currencies that it carries.' }),
  fwd_fee: decimalField('Fee for forwarding, nanotons.'),
  ihr_fee: decimalField('Always 0: what stood there is no fee any more.'),
  created_lt: Type.String({ description: 'Logical time of the message; 0 when it comes from outside.' }),
  body_hash: hashField('Hash of the body as a cell.'),
  msg_data: MsgData,
};

const messageHash = hashField('Hash of the message cell.');

export const Message = namedObject(
  'Message',
  {
    '@type': typeName('ext.message'),
    hash: messageHash,
    source: Type.String({ description: 'Sender in user-friendly form; empty when it comes from outside.' }),
    destination: Type.String({ description: 'Receiver in user-friendly form; empty when it goes to the outside.' }),
    ...messageFields,
    message: Type.Optional(
      Type.String({
        description:
          'A comment as text; of other bodies the data of the first cell in base64, followed by a line break. ' +
          'Not there for encrypted comments.',
      }),
    ),
    message_decode_error: Type.Optional(Type.String({ description: 'Why the body could not be read.' })),
  },
  { description: 'A message, with addresses as texts.' },
);
export type Message = Static<typeof Message>;

export const MessageStd = namedObject('MessageStd', {
  '@type': typeName('raw.message'),
  hash: messageHash,
  source: AccountAddress,
  destination: AccountAddress,
  ...messageFields,
});
export type MessageStd = Static<typeof MessageStd>;

const account = Type.String({ description: 'The account in raw form.' });

const transactionFields = {
  utime: Type.Integer({ description: 'When it was made: unix time in seconds.' }),
  data: bytesField('Bag of cells with the transaction.'),
  transaction_id: InternalTransactionId,
  fee: decimalField('All fees, forward fees of the sent messages included; nanotons.'),
  storage_fee: decimalField('Part of it that was taken for storage.'),
  other_fee: decimalField('The other part.'),
};

const outMessages = 'Messages that it sent, in this order.';

export const Transaction = namedObject(
  'Transaction',
  {
    '@type': typeName('ext.transaction'),
    address: AccountAddress,
    account,
    ...transactionFields,
    in_msg: Type.Optional(Message),
    out_msgs: Type.Array(Message, { description: outMessages }),
  },
  { description: 'A transaction. `in_msg` is not there when no message caused it.' },
);
export type Transaction = Static<typeof Transaction>;

const stdFields = {
  ...transactionFields,
  in_msg: Type.Optional(MessageStd),
  out_msgs: Type.Array(MessageStd, { description: outMessages }),
};

export const TransactionStd = namedObject(
  'TransactionStd',
  { '@type': typeName('raw.transaction'), address: AccountAddress, ...stdFields },
  { description: 'A transaction as tonlib shows it. `in_msg` is not there when no message caused it.' },
);
export type TransactionStd = Static<typeof TransactionStd>;

export const TransactionExt = namedObject(
  'TransactionExt',
  { '@type': typeName('raw.transactionExt'), address: AccountAddress, account, ...stdFields },
  { description: 'A transaction of a block, with its account.' },
);
export type TransactionExt = Static<typeof TransactionExt>;

export const Transactions = Type.Array(Transaction, { $id: 'Transactions', description: 'From newer to older.' });

export const TransactionsStd = namedObject('TransactionsStd', {
  '@type': typeName('raw.transactions'),
  transactions: Type.Array(TransactionStd, { description: 'From newer to older.' }),
  previous_transaction_id: InternalTransactionId,
});
export type TransactionsStd = Static<typeof TransactionsStd>;

const ShortTxId = namedObject(
  'ShortTxId',
  {
    '@type': typeName('blocks.shortTxId'),
    mode: Type.Integer({ description: 'Which fields are there, as bits: always 135, all of them.' }),
    account,
    lt: Type.String({ description: 'Logical time of the transaction.' }),
    hash: hashField('Hash of the transaction.'),
  },
  { description: 'A transaction of a block by its name.' },
);

const blockFields = {
  id: TonBlockIdExt,
  req_count: Type.Integer({ description: 'How many were asked for.' }),
  incomplete: Type.Boolean({
    description: 'There are more: ask again with `after_lt` and `after_hash` of the last one.',
  }),
};

const inOrder = 'In the order of the accounts, and for each of them of the logical times.';

export const BlockTransactions = namedObject(
  'BlockTransactions',
  {
    '@type': typeName('blocks.transactions'),
    ...blockFields,
    transactions: Type.Array(ShortTxId, { description: inOrder }),
  },
  { description: 'Names of the transactions of a block.' },
);
export type BlockTransactions = Static<typeof BlockTransactions>;

export const BlockTransactionsExt = namedObject(
  'BlockTransactionsExt',
  {
    '@type': typeName('blocks.transactionsExt'),
    ...blockFields,
    transactions: Type.Array(TransactionExt, { description: inOrder }),
  },
  { description: 'Transactions of a block.' },
);
export type BlockTransactionsExt = Static<typeof BlockTransactionsExt>;

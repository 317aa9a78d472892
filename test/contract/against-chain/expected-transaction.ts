import {
  BitBuilder,
  beginCell,
  type CommonMessageInfo,
  type Cell as CoreCell,
  Dictionary,
  loadMessage,
  loadTransaction,
  storeStateInit,
} from '@ton/core';
import { friendly, shown } from '#test/contract/against-chain/core.js';

/** Which of the three forms of a transaction. */
export type TransactionForm = 'ext' | 'std' | 'block';

const TYPES: Readonly<Record<TransactionForm, string>> = {
  ext: 'ext.transaction',
  std: 'raw.transaction',
  block: 'raw.transactionExt',
};

/** A transaction as it must be answered, with hashes in place of bags; read by @ton/core from its cell. */
export function expectedTransaction(cell: CoreCell, workchain: number, form: TransactionForm): Record<string, unknown> {
  const transaction = loadTransaction(cell.beginParse());
  const account = `${workchain}:${transaction.address.toString(16).padStart(64, '0')}`;
  const messages = cell.refs[0]!.beginParse();
  const inMessage = messages.loadMaybeRef();
  const out = messages.loadDict(Dictionary.Keys.Uint(15), Dictionary.Values.Cell());
  const sent = out
    .keys()
    .sort((a, b) => a - b)
    .map((key) => out.get(key)!);
  let fee = transaction.totalFees.coins;
  for (const { info } of transaction.outMessages.values()) if (info.type === 'internal') fee += info.forwardFee;
  const { description } = transaction;
  const storage = 'storagePhase' in description ? (description.storagePhase?.storageFeesCollected ?? 0n) : 0n;
  const message = form === 'ext' ? expectedExtMessage : expectedRawMessage;
  return {
    '@type': TYPES[form],
    address: { '@type': 'accountAddress', account_address: friendly(account) },
    ...(form === 'std' ? {} : { account: account.toUpperCase() }),
    utime: transaction.now,
    data: shown(cell),
    transaction_id: {
      '@type': 'internal.transactionId',
      lt: transaction.lt.toString(),
      hash: cell.hash().toString('base64'),
    },
    fee: fee.toString(),
    storage_fee: storage.toString(),
    other_fee: (fee - storage).toString(),
    ...(inMessage === null ? {} : { in_msg: message(inMessage) }),
    out_msgs: sent.map(message),
  };
}

interface MessageParts {
  readonly source: string;
  readonly destination: string;
  readonly body: CoreCell;
  readonly fields: Record<string, unknown>;
}

function messageParts(cell: CoreCell): MessageParts {
  const { info, init, body } = loadMessage(cell.beginParse());
  const isInternal = info.type === 'internal';
  const currencies = isInternal ? currenciesOf(info.value.other) : [];
  const text = commentOf(body);
  return {
    source: info.type === 'external-in' ? '' : info.src.toString(),
    destination: info.type === 'external-out' ? '' : info.dest.toString(),
    body,
    fields: {
      hash: cell.hash().toString('base64'),
      value: isInternal ? info.value.coins.toString() : '0',
      extra_currencies: currencies,
      fwd_fee: isInternal ? info.forwardFee.toString() : '0',
      ihr_fee: '0',
      created_lt: createdLt(info),
      body_hash: body.hash().toString('base64'),
      msg_data:
        text !== null
          ? { '@type': text.encrypted ? 'msg.dataEncryptedText' : 'msg.dataText', text: text.bytes.toString('base64') }
          : {
              '@type': 'msg.dataRaw',
              body: shown(body),
              init_state: init == null ? '' : shown(beginCell().store(storeStateInit(init)).endCell()),
            },
    },
  };
}

function createdLt(info: CommonMessageInfo): string {
  return info.type === 'external-in' ? '0' : info.createdLt.toString();
}

export function currenciesOf(other: Dictionary<number, bigint> | null | undefined): unknown[] {
  if (other == null) return [];
  return other
    .keys()
    .sort((a, b) => a - b)
    .map((id) => ({ '@type': 'extraCurrency', id: id | 0, amount: other.get(id)!.toString() }));
}

function expectedExtMessage(cell: CoreCell): Record<string, unknown> {
  const { source, destination, body, fields } = messageParts(cell);
  const message = legacyText(body);
  return { '@type': 'ext.message', source, destination, ...fields, ...(message === null ? {} : { message }) };
}

function expectedRawMessage(cell: CoreCell): Record<string, unknown> {
  const { source, destination, fields } = messageParts(cell);
  return {
    '@type': 'raw.message',
    source: { '@type': 'accountAddress', account_address: source },
    destination: { '@type': 'accountAddress', account_address: destination },
    ...fields,
  };
}

/** `message`: the comment, or the data of the body's root; null when there is none. */
function legacyText(body: CoreCell): string | null {
  if (body.bits.length === 0) return '';
  const text = commentOf(body);
  if (text?.encrypted) return null;
  if (text !== null) {
    const { bytes } = text;
    const utf8 = bytes.toString('utf8');
    return Buffer.from(utf8).equals(bytes) ? utf8 : '';
  }
  const padded = new BitBuilder();
  padded.writeBits(body.bits);
  padded.writeUint(0, (8 - (body.bits.length % 8)) % 8);
  return `${padded.buffer().toString('base64')}\n`;
}

/** What follows the opcode of a comment, through all first references. */
function commentOf(body: CoreCell): { readonly bytes: Buffer; readonly encrypted: boolean } | null {
  if (body.isExotic || body.bits.length < 32) return null;
  const slice = body.beginParse();
  const op = slice.loadUint(32);
  if (op !== 0 && op !== 0x2167da4b) return null;
  let bits = '';
  const add = (from: typeof slice) => {
    while (from.remainingBits > 0) bits += from.loadBit() ? '1' : '0';
  };
  add(slice);
  for (let cell = body; cell.refs.length > 0; ) {
    cell = cell.refs[0]!;
    if (cell.isExotic) return null;
    add(cell.beginParse());
  }
  if (bits.length % 8 !== 0) return null;
  const bytes = Buffer.from((bits.match(/.{8}/g) ?? []).map((each) => Number.parseInt(each, 2)));
  return { bytes, encrypted: op !== 0 };
}

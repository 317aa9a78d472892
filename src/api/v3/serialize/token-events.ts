import type { AddressCollector } from '#api/v3/serialize/address-collector.js';
import type { Dialect } from '#api/v3/serialize/dialect.js';
import { bocText, decimal, hashText } from '#api/v3/serialize/texts.js';
import { decodeBody } from '#domain/bodies/decode-body.js';
import type { IndexedTokenEvent, ListedTokenKind } from '#drivers/store/read/token-events.js';
import { accountOf, type MsgAddress } from '#formats/address/msg-address.js';
import type { Cell } from '#formats/cells/cell.js';

/** Writes an event of a kind as JSON; the accounts that it names are collected. */
export type TokenEventText<Kind extends ListedTokenKind> = (
  event: IndexedTokenEvent<Kind>,
  dialect: Dialect,
  addresses: AddressCollector,
) => string;

/** `JettonTransfer` */
export const jettonTransferText: TokenEventText<'jetton_transfer'> = (event, dialect, addresses) => {
  const { body, source, account, token } = event;
  return (
    `{"query_id":${decimal(body.query_id)},"source":${addresses.add(source)}` +
    `,"destination":${messageAddress(body.destination, addresses)},"amount":${decimal(body.amount)}` +
    `,"source_wallet":${addresses.add(account)},"jetton_master":${addresses.add(token!)}` +
    transactionText(event) +
    dialect.nullable('response_destination', messageAddress(body.response_destination, addresses)) +
    payloadText('custom_payload', body.custom_payload, dialect) +
    dialect.nullable('forward_ton_amount', decimal(body.forward_ton_amount)) +
    payloadText('forward_payload', body.forward_payload, dialect) +
    traceText(event, dialect)
  );
};

/** `JettonBurn` */
export const jettonBurnText: TokenEventText<'jetton_burn'> = (event, dialect, addresses) => {
  const { body, source, account, token } = event;
  return (
    `{"query_id":${decimal(body.query_id)},"owner":${addresses.add(source)},"jetton_wallet":${addresses.add(account)}` +
    `,"jetton_master":${addresses.add(token!)}${transactionText(event)},"amount":${decimal(body.amount)}` +
    dialect.nullable('response_destination', messageAddress(body.response_destination, addresses)) +
    payloadText('custom_payload', body.custom_payload, dialect) +
    traceText(event, dialect)
  );
};

/** `NFTTransfer` */
export const nftTransferText: TokenEventText<'nft_transfer'> = (event, dialect, addresses) => {
  const { body, source, account, token } = event;
  return (
    `{"query_id":${decimal(body.query_id)},"nft_address":${addresses.add(account)}` +
    dialect.nullable('nft_collection', token === null ? null : addresses.add(token)) +
    `${transactionText(event)},"old_owner":${addresses.add(source)}` +
    `,"new_owner":${messageAddress(body.new_owner, addresses)}` +
    dialect.nullable('response_destination', messageAddress(body.response_destination, addresses)) +
    payloadText('custom_payload', body.custom_payload, dialect) +
    dialect.nullable('forward_amount', decimal(body.forward_amount)) +
    payloadText('forward_payload', body.forward_payload, dialect) +
    traceText(event, dialect)
  );
};

function transactionText({ hash, lt, now, aborted }: IndexedTokenEvent): string {
  return (
    `,"transaction_hash":${hashText(hash)},"transaction_lt":${decimal(lt)}` +
    `,"transaction_now":${now},"transaction_aborted":${aborted}`
  );
}

/** The last member, and the end of the object. */
function traceText({ trace_id }: IndexedTokenEvent, dialect: Dialect): string {
  return `${dialect.nullable('trace_id', trace_id === null ? null : hashText(trace_id))}}`;
}

/** An address in a body: one that is no account is called by the name of its constructor. */
function messageAddress(address: MsgAddress, addresses: AddressCollector): string {
  const account = accountOf(address);
  if (account !== null) return addresses.add(account);
  return address === null ? '"addr_none"' : `"${(address as { readonly kind: string }).kind}"`;
}

function payloadText(name: string, cell: Cell | null, dialect: Dialect): string {
  const decoded = cell === null ? null : decodeBody(cell).decoded;
  return (
    dialect.nullable(name, cell === null ? null : bocText(cell)) +
    dialect.nullable(`decoded_${name}`, decoded === null ? null : JSON.stringify(decoded))
  );
}

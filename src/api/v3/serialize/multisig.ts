import type { AddressCollector } from '#api/v3/serialize/address-collector.js';
import type { Dialect } from '#api/v3/serialize/dialect.js';
import { orderActionText } from '#api/v3/serialize/order-action.js';
import { base64, decimal, hashText, listText } from '#api/v3/serialize/texts.js';
import { orderActions } from '#domain/contracts/order-actions.js';
import type { IndexedMultisig, IndexedMultisigOrder } from '#drivers/store/read/multisig-reads.js';
import type { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** What an answer about multisigs is written with. The answer names all addresses of multisigs and orders. */
export interface MultisigPage {
  readonly dialect: Dialect;
  readonly addresses: AddressCollector;
  /** With the actions of orders. */
  readonly actions: boolean;
}

/** A multisig as `/multisig/wallets` shows it. @param orders null: they were not asked for */
export function multisigText(
  multisig: IndexedMultisig,
  orders: readonly IndexedMultisigOrder[] | null,
  page: MultisigPage,
): string {
  const { dialect, addresses } = page;
  const listed = orders?.map((order) => multisigOrderText(order, page)) ?? [];
  const ordersText = orders !== null && listed.length === 0 ? dialect.noItems : listText(listed);
  return (
    `{"address":${addresses.add(multisig.address)},"next_order_seqno":${decimal(multisig.next_order_seqno)}` +
    `,"threshold":${multisig.threshold},"signers":${listOf(multisig.signers, addresses)}` +
    `,"proposers":${listOf(multisig.proposers, addresses)}${stateText(multisig, dialect)},"orders":${ordersText}}`
  );
}

/** An order as `/multisig/orders` shows it. */
export function multisigOrderText(order: IndexedMultisigOrder, { dialect, addresses, actions }: MultisigPage): string {
  const { nullable } = dialect;
  const { signers, order_boc: boc, approvals_mask: mask } = order;
  return (
    `{"address":${addresses.add(order.address)},"multisig_address":${addresses.add(order.multisig)}` +
    `,"order_seqno":${decimal(order.order_seqno)}` +
    nullable('threshold', maybeInteger(order.threshold)) +
    nullable('sent_for_execution', order.sent_for_execution === null ? null : String(order.sent_for_execution)) +
    nullable('approvals_mask', mask === null ? null : decimal(mask)) +
    nullable('approvals_num', maybeInteger(order.approvals_num)) +
    nullable('expiration_date', maybeInteger(order.expiration_date)) +
    nullable('order_boc', boc === null ? null : base64(boc)) +
    nullable('signers', signers === null ? null : listOf(signers, addresses)) +
    stateText(order, dialect) +
    `${nullable('actions', actions && boc !== null ? actionsText(boc, dialect, addresses) : null)}}`
  );
}

/** Null: they cannot be read. */
function actionsText(boc: Uint8Array, dialect: Dialect, addresses: AddressCollector): string | null {
  const actions = actionsOf(boc);
  return actions === null ? null : listText(actions.map((action) => orderActionText(action, dialect, addresses)));
}

function actionsOf(boc: Uint8Array) {
  try {
    return orderActions(parseBocRoot(boc));
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

function stateText(
  { last_trans_lt, code_hash, data_hash }: IndexedMultisig | IndexedMultisigOrder,
  { nullable }: Dialect,
): string {
  return (
    `,"last_transaction_lt":${decimal(last_trans_lt)}` +
    nullable('code_hash', code_hash === null ? null : hashText(code_hash)) +
    nullable('data_hash', data_hash === null ? null : hashText(data_hash))
  );
}

function listOf(list: readonly Address[], addresses: AddressCollector): string {
  return listText(list.map((address) => addresses.add(address)));
}

function maybeInteger(value: bigint | null): string | null {
  return value === null ? null : String(value);
}

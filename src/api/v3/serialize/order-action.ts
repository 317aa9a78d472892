import type { AddressCollector } from '#api/v3/serialize/address-collector.js';
import type { Dialect } from '#api/v3/serialize/dialect.js';
import { base64, decimal, listText, quoted } from '#api/v3/serialize/texts.js';
import type { OrderAction } from '#domain/contracts/order-actions.js';
import type { OrderBody, OrderBodyType, StonfiSwapBody } from '#domain/contracts/order-bodies.js';
import { Address } from '#formats/address/address.js';

const NAMES: Readonly<Record<OrderBodyType, true>> = {
  nft_transfer: true,
  ton_transfer: true,
  jetton_top_up: true,
  jetton_change_admin: true,
  jetton_claim_admin: true,
  jetton_change_content: true,
  jetton_call_to: true,
  jetton_set_status: true,
  jetton_transfer: true,
  jetton_burn: true,
  jetton_mint: true,
  single_nominator_withdraw: true,
  single_nominator_change_validator: true,
  vesting_internal_transfer: true,
  multisig_update_params: true,
  unknown: true,
};

/** What the body of an action can be. */
export const PARSED_BODY_TYPES: readonly string[] = Object.keys(NAMES);

/** An action of an order as `/multisig/orders` shows it. The answer names all addresses in it. */
export function orderActionText(action: OrderAction, dialect: Dialect, addresses: AddressCollector): string {
  const { destination, value, body_raw, error, parsed_body: body } = action;
  const members =
    dialect.nullable('destination', destination === null ? null : addresses.add(destination)) +
    dialect.nullable('value', value === null ? null : decimal(value)) +
    dialect.nullable('body_raw', body_raw === null ? null : base64(body_raw)) +
    `,"parsed":${action.parsed}` +
    dialect.nullable('error', error === null ? null : JSON.stringify(error)) +
    dialect.nullable('parsed_body', body === null ? null : bodyText(body, dialect, addresses)) +
    `,"parsed_body_type":${quoted(action.parsed_body_type)},"send_mode":${action.send_mode}`;
  return `{${members.slice(1)}}`;
}

type FieldValue = OrderBody['parsed_body'][keyof OrderBody['parsed_body']] | SomeValue;
type SomeValue = Address | readonly Address[] | Uint8Array | StonfiSwapBody | bigint | number | string | boolean | null;

/** Integers of 64 bits that are written as numbers; all others are texts. */
const NUMBERS: ReadonlySet<string> = new Set(['query_id', 'master_msg_query_id']);

/** Amounts that are written in coins of 10^9 units. */
const COINS: ReadonlySet<string> = new Set(['min_amount']);

function bodyText(body: object, dialect: Dialect, addresses: AddressCollector): string {
  let text = '';
  for (const [name, value] of Object.entries(body) as [string, FieldValue][]) {
    text += dialect.nullable(name, valueText(name, value, dialect, addresses));
  }
  return `{${text.slice(1)}}`;
}

function valueText(name: string, value: FieldValue, dialect: Dialect, addresses: AddressCollector): string | null {
  if (value === null) return null;
  if (typeof value === 'bigint') {
    if (NUMBERS.has(name)) return String(value);
    return COINS.has(name) ? quoted(coins(value)) : decimal(value);
  }
  if (typeof value !== 'object') return JSON.stringify(value);
  if (value instanceof Address) return addresses.add(value);
  if (value instanceof Uint8Array) return base64(value);
  if (isList(value)) return listText(value.map((address) => addresses.add(address)));
  return bodyText(value, dialect, addresses);
}

function isList(value: readonly Address[] | StonfiSwapBody): value is readonly Address[] {
  return Array.isArray(value);
}

/** As many digits behind the point as are needed, nine at most. */
function coins(units: bigint): string {
  const [whole, part] = [units / 1_000_000_000n, units % 1_000_000_000n];
  return part === 0n ? String(whole) : `${whole}.${String(part).padStart(9, '0').replace(/0+$/, '')}`;
}

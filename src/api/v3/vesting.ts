import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { AddressBookJson } from '#api/v3/address-book.js';
import {
  addressField,
  answerObject,
  decimalField,
  decimalText,
  integerField,
  listText,
  nullableField,
  type ProfileFormat,
} from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { type AddressCollector, answerList, checkPage, pageOf } from '#api/v3/page.js';
import { accountListParameter, pageFields } from '#api/v3/parameters.js';
import type { IndexedVesting } from '#drivers/store/read/multisig-vesting.js';

export const VestingInfo = answerObject(
  'VestingInfo',
  {
    address: addressField('The contract.'),
    start_time: integerField('When it begins, in unix seconds.'),
    total_duration: integerField('Seconds until all is free.'),
    unlock_period: integerField('Seconds from one part that becomes free to the next.'),
    cliff_duration: integerField('Seconds at the beginning in which nothing becomes free.'),
    sender_address: nullableField(addressField('Who gave the coins.')),
    owner_address: nullableField(addressField('Who gets them.')),
    total_amount: decimalField('Nanotons that are not free at the beginning.'),
    whitelist: Type.Array(Type.String(), {
      description: 'To whom coins may be sent that are not free yet; raw addresses, sorted as texts.',
    }),
  },
  'A wallet whose coins become free little by little.',
);

export const VestingContractsResponse = answerObject('VestingContractsResponse', {
  vesting_contracts: Type.Array(VestingInfo),
  address_book: AddressBookJson,
});

/** A contract as `/vesting` shows it. The answer names all of its addresses. */
export function vestingText(vesting: IndexedVesting, { nullable }: ProfileFormat, addresses: AddressCollector): string {
  const { sender, owner } = vesting;
  return (
    `{"address":${addresses.add(vesting.address)},"start_time":${vesting.start_time}` +
    `,"total_duration":${vesting.total_duration},"unlock_period":${vesting.unlock_period}` +
    `,"cliff_duration":${vesting.cliff_duration}` +
    nullable('sender_address', sender === null ? null : addresses.add(sender)) +
    nullable('owner_address', owner === null ? null : addresses.add(owner)) +
    `,"total_amount":${decimalText(vesting.total_amount)}` +
    `,"whitelist":${listText(vesting.whitelist.map((address) => addresses.add(address)).sort())}}`
  );
}

const vesting = v3Endpoint({
  name: 'vesting',
  verbs: ['GET'],
  tag: 'Vesting',
  summary: 'Wallets with vesting',
  description:
    'Wallets whose coins become free little by little, in the order in which the index found them. One of `contract_address` ' +
    'and `wallet_address` must be given, and not both.',
  params: Type.Object(
    {
      contract_address: Type.Optional(accountListParameter('Only these contracts')),
      wallet_address: Type.Optional(accountListParameter('Only contracts whose owner or sender is one of these')),
      check_whitelist: Type.Optional(
        Type.Boolean({
          description: 'With `wallet_address`: also contracts with one of them on the whitelist.',
          default: false,
        }),
      ),
      ...pageFields,
    },
    { additionalProperties: false },
  ),
  check: (given) => {
    checkPage(given);
    const { contract_address, wallet_address } = given;
    if (contract_address === undefined && wallet_address === undefined) {
      throw v3Errors.parameters({ problem: 'at least one of contract_address or wallet_address is required' });
    }
    if (contract_address !== undefined && wallet_address !== undefined) {
      throw v3Errors.parameters({ problem: 'only one of contract_address or wallet_address should be specified' });
    }
  },
  result: VestingContractsResponse,
  statuses: [422, 504],
  freshness: 'head',
  handle: async ({ contract_address, wallet_address, check_whitelist, ...rest }, context) => {
    const filter = { contract_address, wallet_address, check_whitelist };
    const listed = await context.network.index.vestingContracts(filter, pageOf(rest, context), context.query);
    return answerList('vesting_contracts', listed, vestingText, context, { metadata: false });
  },
});

/** Methods about vesting. */
export const vestingEndpoints: readonly AnyEndpoint<V3Context>[] = [vesting];

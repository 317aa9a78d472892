import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { address, answerType, answerValue, decimal, integer, nullable } from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { namedBy } from '#api/v3/coverage.js';
import { v3Errors } from '#api/v3/errors.js';
import { checkPage, listAnswer, pageOf } from '#api/v3/page.js';
import { pageFields, v3AccountListParameter } from '#api/v3/parameters.js';
import { pagePrice, ROW_PRICE } from '#api/v3/price.js';
import type { Address } from '#formats/address/address.js';

const sortedAddresses = answerValue<readonly Address[]>(
  Type.Array(Type.String(), {
    description: 'Accounts that locked coins may be sent to; raw addresses, sorted as strings.',
  }),
  (list, { addresses }) =>
    `[${list
      .map((each) => addresses.add(each))
      .sort()
      .join(',')}]`,
);

const VestingInfo = answerType(
  'VestingInfo',
  {
    address: address('The contract.'),
    start_time: integer('Start of the vesting: unix time in seconds.'),
    total_duration: integer('Seconds until all coins are unlocked.'),
    unlock_period: integer('Seconds from one unlock to the next.'),
    cliff_duration: integer('Seconds from the start in which nothing is unlocked.'),
    sender_address: nullable(address('Sender of the coins.'), 'sender'),
    owner_address: nullable(address('Owner of the wallet.'), 'owner'),
    total_amount: decimal('Nanotons that are locked at the start.'),
    whitelist: sortedAddresses,
  },
  'A vesting wallet: its coins are unlocked over time.',
);

const VestingContracts = listAnswer('VestingContractsResponse', 'vesting_contracts', VestingInfo, { metadata: false });

const vesting = v3Endpoint({
  name: 'vesting',
  verbs: ['GET'],
  tag: 'Vesting',
  summary: 'Vesting wallets',
  description:
    'Vesting wallets, in the order of their first transactions. Exactly one of `contract_address` and `wallet_address` is ' +
    'required.',
  params: Type.Object(
    {
      contract_address: Type.Optional(v3AccountListParameter('Only these contracts')),
      wallet_address: Type.Optional(v3AccountListParameter('Only contracts whose owner or sender is one of these')),
      check_whitelist: Type.Optional(
        Type.Boolean({
          description: 'With `wallet_address`: also contracts that have one of them on their whitelist.',
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
  result: VestingContracts.schema,
  statuses: [422, 504],
  price: pagePrice(ROW_PRICE.contract),
  coverage: namedBy('contract_address'),
  freshness: 'head',
  handle: async ({ contract_address, wallet_address, check_whitelist, ...rest }, context) => {
    const filter = { contract_address, wallet_address, check_whitelist };
    const listed = await context.network.index.vestingContracts(filter, pageOf(rest, context), context.query);
    return VestingContracts.write(listed, context);
  },
});

/** Methods about vesting. */
export const vestingEndpoints: readonly AnyEndpoint<V3Context>[] = [vesting];

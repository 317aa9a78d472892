import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { checkPage, pageOf } from '#api/v3/page.js';
import { addressListParameter, pageFields } from '#api/v3/parameters.js';
import { answerList } from '#api/v3/routes/answer-list.js';
import { VestingContractsResponse } from '#api/v3/schemas/vesting.js';
import { vestingText } from '#api/v3/serialize/vesting.js';

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
      contract_address: Type.Optional(addressListParameter('Only these contracts')),
      wallet_address: Type.Optional(addressListParameter('Only contracts whose owner or sender is one of these')),
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

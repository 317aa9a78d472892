import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { checkPage, pageOf } from '#api/v3/page.js';
import { addressListParameter, pageFields, sortParameter } from '#api/v3/parameters.js';
import { answerList } from '#api/v3/routes/answer-list.js';
import { JettonMastersResponse, JettonWalletsResponse } from '#api/v3/schemas/jettons.js';
import { jettonMasterText, jettonWalletText } from '#api/v3/serialize/jettons.js';

const GET = ['GET'] as const;
const TAG = 'Jettons';
const STATUSES = [422, 504];

const masters = v3Endpoint({
  name: 'jetton/masters',
  verbs: GET,
  tag: TAG,
  summary: 'Jettons',
  description: 'Masters of jettons that meet all conditions given, in the order in which the index found them.',
  params: Type.Object(
    {
      address: Type.Optional(addressListParameter('Only these masters')),
      admin_address: Type.Optional(addressListParameter('Only masters of which one of these is the admin')),
      ...pageFields,
    },
    { additionalProperties: false },
  ),
  check: checkPage,
  result: JettonMastersResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ address, admin_address: admin, ...rest }, context) => {
    const filter = { address, admin };
    const listed = await context.network.index.jettonMasters(filter, pageOf(rest, context), context.query);
    return answerList('jetton_masters', listed, jettonMasterText, context);
  },
});

const wallets = v3Endpoint({
  name: 'jetton/wallets',
  verbs: GET,
  tag: TAG,
  summary: 'Jetton wallets',
  description:
    'Jetton wallets that their masters confirm and that meet all conditions given. They stand in the order in which the index ' +
    'found them, or by balance with `sort`; those of several owners one owner after the other; and asked for by nothing but ' +
    '`address`, by that. Several `jetton_address` go with just one `owner_address`.',
  params: Type.Object(
    {
      address: Type.Optional(addressListParameter('Only these wallets')),
      owner_address: Type.Optional(addressListParameter('Only wallets of these owners')),
      jetton_address: Type.Optional(addressListParameter('Only wallets of these jettons, by their masters')),
      exclude_zero_balance: Type.Optional(
        Type.Boolean({
          description: 'Without empty wallets. What could still be claimed of a mintless jetton does not count.',
        }),
      ),
      ...pageFields,
      sort: sortParameter('By balance.', null),
    },
    { additionalProperties: false },
  ),
  check: (given) => {
    checkPage(given);
    const { jetton_address = [], owner_address = [] } = given;
    if (jetton_address.length <= 1 || owner_address.length === 1) return;
    throw v3Errors.parameters({ problem: 'exact one owner_address required for multiple jetton_address' });
  },
  result: JettonWalletsResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ address, owner_address: owner, jetton_address: jetton, exclude_zero_balance, ...rest }, context) => {
    const filter = { address, owner, jetton, exclude_zero_balance, by_balance: rest.sort !== undefined };
    const listed = await context.network.index.jettonWallets(filter, pageOf(rest, context), context.query);
    return answerList('jetton_wallets', listed, jettonWalletText, context);
  },
});

/** Methods about jettons. */
export const jettonEndpoints: readonly AnyEndpoint<V3Context>[] = [masters, wallets];

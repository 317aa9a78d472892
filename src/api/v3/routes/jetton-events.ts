import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { addressListParameter, addressParameter } from '#api/v3/parameters.js';
import {
  answerEvents,
  boundsOf,
  checkEventParameters,
  directionParameter,
  listParameters,
  ownerParameters,
} from '#api/v3/routes/token-event-parameters.js';
import { JettonBurnsResponse, JettonTransfersResponse } from '#api/v3/schemas/token-events.js';
import { jettonBurnText, jettonTransferText } from '#api/v3/serialize/token-events.js';

const jettonParameters = {
  jetton_wallet: Type.Optional(addressListParameter('Jetton wallet that received the message: that of the owner')),
  jetton_master: Type.Optional(addressParameter('Jetton master')),
};

const jettonTransfers = v3Endpoint({
  name: 'jetton/transfers',
  verbs: ['GET'],
  tag: 'Jettons',
  summary: 'Transfers of jettons',
  description:
    'Messages by which owners sent jettons from wallets that their masters confirm, where all conditions given hold. ' +
    'Those that failed are left out.',
  params: Type.Object(
    { ...ownerParameters('jettons'), ...jettonParameters, direction: directionParameter, ...listParameters },
    { additionalProperties: false },
  ),
  check: checkEventParameters,
  result: JettonTransfersResponse,
  statuses: [422, 504],
  freshness: 'head',
  handle: (params, context) => {
    const { address, owner_address: owner = address, direction, jetton_wallet: account, jetton_master: token } = params;
    const filter = { ...boundsOf(params), owner, direction, account, token };
    const write = { member: 'jetton_transfers', text: jettonTransferText };
    return answerEvents('jetton_transfer', filter, params, context, write);
  },
});

const jettonBurns = v3Endpoint({
  name: 'jetton/burns',
  verbs: ['GET'],
  tag: 'Jettons',
  summary: 'Burns of jettons',
  description:
    'Messages by which owners gave up jettons of wallets that their masters confirm, where all conditions given hold. ' +
    'Those that failed say so.',
  params: Type.Object(
    { ...ownerParameters('jettons'), ...jettonParameters, ...listParameters },
    { additionalProperties: false },
  ),
  check: checkEventParameters,
  result: JettonBurnsResponse,
  statuses: [422, 504],
  freshness: 'head',
  handle: (params, context) => {
    const { address, owner_address: owner = address, jetton_wallet: account, jetton_master: token } = params;
    const write = { member: 'jetton_burns', text: jettonBurnText };
    return answerEvents('jetton_burn', { ...boundsOf(params), owner, account, token }, params, context, write);
  },
});

/** The methods about what happened to jettons. */
export const jettonEventEndpoints: readonly AnyEndpoint<V3Context>[] = [jettonTransfers, jettonBurns];

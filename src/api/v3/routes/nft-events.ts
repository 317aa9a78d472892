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
import { NFTTransfersResponse } from '#api/v3/schemas/token-events.js';
import { nftTransferText } from '#api/v3/serialize/token-events.js';

const nftTransfers = v3Endpoint({
  name: 'nft/transfers',
  verbs: ['GET'],
  tag: 'NFTs',
  summary: 'Transfers of NFTs',
  description:
    'Messages by which owners gave items to somebody, where all conditions given hold; of items that their collections ' +
    'confirm, and of those without a collection. Those that failed say so.',
  params: Type.Object(
    {
      ...ownerParameters('item'),
      item_address: Type.Optional(addressListParameter('The item')),
      collection_address: Type.Optional(addressParameter('Collection of the item')),
      direction: directionParameter,
      ...listParameters,
    },
    { additionalProperties: false },
  ),
  check: checkEventParameters,
  result: NFTTransfersResponse,
  statuses: [422, 504],
  freshness: 'head',
  handle: (params, context) => {
    const { address, owner_address: owner = address, direction } = params;
    const { item_address: account, collection_address: token } = params;
    const filter = { ...boundsOf(params), owner, direction, account, token };
    return answerEvents('nft_transfer', filter, params, context, { member: 'nft_transfers', text: nftTransferText });
  },
});

/** The method about what happened to NFTs. */
export const nftEventEndpoints: readonly AnyEndpoint<V3Context>[] = [nftTransfers];

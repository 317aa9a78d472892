import { Type } from '@sinclair/typebox';
import { commaList } from '#api/http/comma-list.js';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { checkPage, pageOf } from '#api/v3/page.js';
import { decodeIndex } from '#api/v3/parameter-forms.js';
import { addressListParameter, MAX_ITEMS, pageFields } from '#api/v3/parameters.js';
import { answerList } from '#api/v3/routes/answer-list.js';
import { NFTCollectionsResponse, NFTItemsResponse, NFTSalesResponse } from '#api/v3/schemas/nfts.js';
import { nftSaleText } from '#api/v3/serialize/nft-sales.js';
import { nftCollectionText, nftItemText } from '#api/v3/serialize/nfts.js';

const GET = ['GET'] as const;
const TAG = 'NFTs';
const STATUSES = [422, 504];

const collections = v3Endpoint({
  name: 'nft/collections',
  verbs: GET,
  tag: TAG,
  summary: 'Collections of NFTs',
  description: 'Collections that meet all conditions given, in the order in which the index found them.',
  params: Type.Object(
    {
      collection_address: Type.Optional(addressListParameter('Only these collections')),
      owner_address: Type.Optional(addressListParameter('Only collections of these owners')),
      ...pageFields,
    },
    { additionalProperties: false },
  ),
  check: checkPage,
  result: NFTCollectionsResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ collection_address: address, owner_address: owner, ...rest }, context) => {
    const filter = { address, owner };
    const listed = await context.network.index.nftCollections(filter, pageOf(rest, context), context.query);
    return answerList('nft_collections', listed, nftCollectionText, context);
  },
});

const index = commaList(Type.Transform(Type.String()).Decode(decodeIndex).Encode(String), {
  description:
    'Only items with these indexes, decimal numbers, in the collections that are asked for; several may be given by ' +
    'repeating the parameter or with commas between them.',
  maxItems: MAX_ITEMS,
  examples: [['0']],
});

const items = v3Endpoint({
  name: 'nft/items',
  verbs: GET,
  tag: TAG,
  summary: 'NFTs',
  description:
    'Items that their collections confirm, or that have none, and that meet all conditions given. They stand by owner, ' +
    'collection and index as far as owners and collections are asked for, those without a collection last; else, and asked ' +
    'for by `address`, in the order in which the index found them; or by their last transactions. Several ' +
    '`collection_address` go with just one `owner_address`.',
  params: Type.Object(
    {
      address: Type.Optional(addressListParameter('Only these items')),
      owner_address: Type.Optional(addressListParameter('Only items of these owners')),
      collection_address: Type.Optional(addressListParameter('Only items of these collections')),
      index: Type.Optional(index),
      include_on_sale: Type.Optional(
        Type.Boolean({
          description:
            'Of items that a sale or auction owns, whom that gives as owner is looked for by `owner_address`, and not the ' +
            'sale itself.',
          default: false,
        }),
      ),
      sort_by_last_transaction_lt: Type.Optional(
        Type.Boolean({ description: 'By logical time of the last transaction, the newest first.' }),
      ),
      ...pageFields,
    },
    { additionalProperties: false },
  ),
  check: (given) => {
    checkPage(given);
    const { collection_address = [], owner_address = [] } = given;
    if (collection_address.length > 1 && owner_address.length !== 1) {
      throw v3Errors.parameters({ problem: 'exact one owner_address required for multiple collection_address' });
    }
    if (given.index !== undefined && collection_address.length === 0) {
      throw v3Errors.parameters({ problem: 'index parameter is not allowed without the collection_address' });
    }
  },
  result: NFTItemsResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async (given, context) => {
    const { address, owner_address: owner, collection_address: collection, include_on_sale } = given;
    const filter = {
      ...{ address, owner, collection, index: given.index, include_on_sale },
      by_lt: given.sort_by_last_transaction_lt,
    };
    const listed = await context.network.index.nftItems(filter, pageOf(given, context), context.query);
    return answerList('nft_items', listed, nftItemText, context);
  },
});

const sales = v3Endpoint({
  name: 'nft/sales',
  verbs: GET,
  tag: TAG,
  summary: 'Contracts that sell NFTs',
  description:
    'Sales at a fixed price, auctions, and items of Telegram, which sell themselves, in the order asked for. Accounts that ' +
    'are none of these are left out.',
  params: Type.Object({ address: addressListParameter('Contracts') }, { additionalProperties: false }),
  result: NFTSalesResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ address }, context) => {
    const rows = await context.network.index.nftSales(address, context.query);
    return answerList('nft_sales', { rows, next: null }, nftSaleText, context);
  },
});

/** Methods about NFTs. */
export const nftEndpoints: readonly AnyEndpoint<V3Context>[] = [collections, items, sales];

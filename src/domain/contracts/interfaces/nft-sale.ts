import { contractInterface } from '#domain/contracts/contract-interface.js';
import { type ContractView, nullOnMethodFailure, type ViewedContract } from '#domain/contracts/contract-view.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import {
  type FixPriceSale,
  getAuctionDataV4,
  getFixPriceDataV4,
  getSaleData,
  type JettonPrice,
  jettonPrices,
} from '#domain/contracts/interfaces/sale-data.js';
import {
  loadAccount,
  loadPlainAddress,
  type NativeAccount,
  type NativeCode,
  nativeGetMethod,
} from '#domain/contracts/native-code.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { grams } from '#formats/tlb/codec/primitives.js';

/** `marketplace_fee_address:MsgAddress marketplace_fee:Coins royalty_address:MsgAddress royalty_amount:Coins` */
function loadFees(cell: Cell) {
  const data = openCell(cell);
  const fees = {
    marketplace_fee_address: loadPlainAddress(data),
    marketplace_fee: grams.load(data),
    royalty_address: loadPlainAddress(data),
    royalty_amount: grams.load(data),
  };
  data.end();
  return fees;
}

/**
 * `is_complete:uint1 created_at:uint32 marketplace_address:MsgAddress nft_address:MsgAddress nft_owner_address:MsgAddress
 * full_price:Coins fees:^[…]`, and bits that `get_sale_data` does not return.
 */
function saleWithTail(tailBits: number) {
  return ({ data }: NativeAccount): FixPriceSale => {
    const slice = openCell(data);
    const head = {
      is_complete: slice.loadBit(),
      created_at: BigInt(slice.loadUint(32)),
      marketplace_address: loadPlainAddress(slice),
      nft_address: loadAccount(slice),
      nft_owner_address: loadPlainAddress(slice),
      full_price: grams.load(slice),
    };
    const fees = loadFees(slice.loadRef());
    slice.skip(tailBits).end();
    return { type: 'fix_price', ...head, ...fees, sold_at: null, sold_query_id: null, jetton_prices: null };
  };
}

const sale = saleWithTail(0);
/** `can_deploy_by_external:uint1` */
const saleOf3 = saleWithTail(1);
/** `sold_at:uint32 query_id:uint64` */
const withQuery = saleWithTail(32 + 64);

/** The get-method of this revision throws if the owner would receive nothing, or an address of the marketplace is missing. */
function saleOf3R3(account: NativeAccount): FixPriceSale {
  const data = withQuery(account);
  const profit = data.full_price - data.marketplace_fee - data.royalty_amount;
  if (profit < 1n || data.marketplace_address === null || data.marketplace_fee_address === null) {
    throw contractDataErrors['other-form']({
      problem: 'the fees leave nothing for the owner, or an address is missing',
    });
  }
  return data;
}

/**
 * `is_complete:uint1 marketplace_address:MsgAddress nft_owner_address:MsgAddress full_price:Coins sold_at:uint32
 * query_id:uint64 static_data:^[marketplace_fee_address:MsgAddress royalty_address:MsgAddress fee_percent:uint17
 * royalty_percent:uint17 nft_address:MsgAddress created_at:uint32] jetton_price_dict:(HashmapE 256 Coins)`, and a public
 * key that is not returned
 */
function saleOf4({ data }: NativeAccount): FixPriceSale {
  const slice = openCell(data);
  const is_complete = slice.loadBit();
  const marketplace_address = loadPlainAddress(slice);
  const nft_owner_address = loadPlainAddress(slice);
  const full_price = grams.load(slice);
  const sold_at = BigInt(slice.loadUint(32));
  const sold_query_id = slice.loadUintBig(64);
  const constants = openCell(slice.loadRef());
  const prices = slice.loadBit() ? slice.loadRef() : null;
  const marketplace_fee_address = loadPlainAddress(constants);
  const royalty_address = loadPlainAddress(constants);
  const marketplace_fee = BigInt(constants.loadUint(17));
  const royalty_amount = BigInt(constants.loadUint(17));
  const nft_address = loadAccount(constants);
  const created_at = BigInt(constants.loadUint(32));
  constants.end();
  return {
    type: 'fix_price',
    is_complete,
    created_at,
    marketplace_address,
    nft_address,
    nft_owner_address,
    full_price,
    marketplace_fee_address,
    marketplace_fee,
    royalty_address,
    royalty_amount,
    sold_at,
    sold_query_id,
    jetton_prices: jettonPrices(prices),
  };
}

function untilVersion3(hash: string, read: (account: NativeAccount) => FixPriceSale): NativeCode {
  const lacks = [getFixPriceDataV4.name, getAuctionDataV4.name];
  return { hashes: [hash], getMethods: [nativeGetMethod(getSaleData, read)], missingMethods: lacks };
}

const codes: readonly NativeCode[] = [
  untilVersion3('8278f4c5233de6fbedc969af519344a7a9bffc544856dba986a95c0bcf8571c9', sale),
  untilVersion3('32050dfac44f64866bcc86f2cd9e1305fe9dcadb3959c002237cfb0902d44323', saleOf3),
  untilVersion3('deb53b6c5765c1e6cd238bf47bc5e83ba596bdcc04b0b84cd50ab1e474a08f31', saleOf3),
  untilVersion3('24221fa571e542e055c77bedfdbf527c7af460cfdc7f344c450787b4cfa1eb4d', saleOf3R3),
  {
    hashes: ['6b95a6418b9c9d2359045d1e7559b8d549ae0e506f24caab58fa30c8fb1feb86'],
    getMethods: [nativeGetMethod(getFixPriceDataV4, saleOf4)],
    missingMethods: [getSaleData.name, getAuctionDataV4.name],
  },
];

async function read(view: ContractView, contract: ViewedContract): Promise<FixPriceSale> {
  const newer = await nullOnMethodFailure(() => view.runGetMethod(contract, getFixPriceDataV4));
  if (newer !== null) return newer;
  const data = await view.runGetMethod(contract, getSaleData);
  if (data.type === 'fix_price') return data;
  throw contractDataErrors['method-result']({ method: getSaleData.name, problem: 'is of an auction' });
}

/** A GetGems sale of an NFT at a fixed price, since version 2. No other contract confirms its data. */
export const nftSale = contractInterface({
  name: 'nft_sale',
  methods: [[getFixPriceDataV4.name], [getSaleData.name]],
  codes,
  read,
  table: {
    name: 'nft_sales',
    columns: {
      is_complete: 'boolean',
      created_at: 'int8',
      marketplace: 'address?',
      nft: 'address?',
      nft_owner: 'address?',
      full_price: 'numeric',
      marketplace_fee_address: 'address?',
      marketplace_fee: 'numeric',
      royalty_address: 'address?',
      royalty_amount: 'numeric',
      sold_at: 'int8?',
      sold_query_id: 'numeric?',
      jetton_prices: 'jsonb?',
    },
  },
  row: ({ type: _, marketplace_address, nft_address, nft_owner_address, jetton_prices, ...same }) => ({
    ...same,
    marketplace: marketplace_address,
    nft: nft_address,
    nft_owner: nft_owner_address,
    jetton_prices: jetton_prices === null ? null : pricesText(jetton_prices),
  }),
});

function pricesText(prices: readonly JettonPrice[]): string {
  return JSON.stringify(Object.fromEntries(prices.map((one) => [one.jetton_wallet.toRaw(), `${one.price}`])));
}

import { unlessFailed } from '#domain/contracts/answered.js';
import type { AskedContract, ContractView } from '#domain/contracts/contract-view.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import { auctionCodes } from '#domain/contracts/kinds/auction-codes.js';
import { contractKind } from '#domain/contracts/kinds/contract-kind.js';
import { type Auction, getAuctionDataV4, getSaleData } from '#domain/contracts/kinds/sale-data.js';

async function read(view: ContractView, contract: AskedContract): Promise<Auction> {
  const newer = await unlessFailed(() => view.ask(contract, getAuctionDataV4));
  if (newer !== null) return newer;
  const data = await view.ask(contract, getSaleData);
  if (data.type === 'auction') return data;
  throw contractDataErrors['method-result']({
    method: getSaleData.name,
    problem: 'is that of a sale at a fixed price',
  });
}

/** An auction of an NFT, as GetGems has them. Nobody else confirms what it says. */
export const nftAuction = contractKind({
  kind: 'nft_auction',
  methods: [[getAuctionDataV4.name], [getSaleData.name]],
  codes: auctionCodes,
  read,
  table: {
    name: 'nft_auctions',
    columns: {
      end_flag: 'boolean',
      end_time: 'int8',
      marketplace: 'address',
      nft: 'address',
      nft_owner: 'address',
      last_bid: 'numeric',
      last_member: 'address',
      min_step: 'numeric',
      mp_fee_address: 'address',
      mp_fee_factor: 'int8',
      mp_fee_base: 'int8',
      royalty_fee_address: 'address',
      royalty_fee_factor: 'int8',
      royalty_fee_base: 'int8',
      max_bid: 'numeric',
      min_bid: 'numeric',
      created_at: 'int8',
      last_bid_at: 'int8',
      is_canceled: 'boolean',
      activated: 'boolean',
      step_time: 'int8',
      last_query_id: 'numeric',
      jetton_wallet: 'address',
      jetton_master: 'address',
      is_broken_state: 'boolean',
      public_key: 'numeric',
    },
  },
  row: ({ type: _, mp_addr, nft_addr, mp_fee_addr, royalty_fee_addr, more, ...same }) => ({
    ...same,
    marketplace: mp_addr,
    nft: nft_addr,
    mp_fee_address: mp_fee_addr,
    royalty_fee_address: royalty_fee_addr,
    activated: more?.activated ?? null,
    step_time: more?.step_time ?? null,
    last_query_id: more?.last_query_id ?? null,
    jetton_wallet: more?.jetton_wallet ?? null,
    jetton_master: more?.jetton_master ?? null,
    is_broken_state: more?.is_broken_state ?? null,
    public_key: more?.public_key ?? null,
  }),
});

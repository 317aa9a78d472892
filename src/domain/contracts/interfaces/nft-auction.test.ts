import { describe, expect, it } from 'vitest';
import { nftAuction } from '#domain/contracts/interfaces/nft-auction.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { vmInt } from '#formats/tlb/vm-stack.js';
import type { FakeAnswer } from '#test/support/fake-contracts.js';
import { addressOf, addressSlice, FakeView } from '#test/support/fake-view.js';

const AUCTION = addressOf(0x5a);
const NFT = addressOf(0x11);
const OWNER = addressOf(0x22);
const MARKETPLACE = addressOf(0x33);
const BIDDER = addressOf(0x44);
const WALLET = addressOf(0x55);

/** All results of `get_sale_data` after the magic. */
const common: VmStack = [
  ...[vmInt(0), vmInt(1_800_000_000), addressSlice(MARKETPLACE), addressSlice(NFT), addressSlice(OWNER), vmInt(70)],
  ...[addressSlice(BIDDER), vmInt(5), addressSlice(MARKETPLACE), vmInt(1), vmInt(100), addressSlice(OWNER), vmInt(2)],
  ...[vmInt(101), vmInt(900), vmInt(10), vmInt(1_700_000_000), vmInt(1_700_000_100), vmInt(-1)],
];

async function read(methods: Readonly<Record<string, FakeAnswer>>) {
  const view = new FakeView([{ address: AUCTION, methods }]);
  return nftAuction.row(await nftAuction.read(view, await view.contract(AUCTION)));
}

describe('auctions', () => {
  const row = {
    end_flag: false,
    end_time: 1_800_000_000n,
    marketplace: MARKETPLACE,
    nft: NFT,
    nft_owner: OWNER,
    last_bid: 70n,
    last_member: BIDDER,
    min_step: 5n,
    mp_fee_address: MARKETPLACE,
    mp_fee_factor: 1n,
    mp_fee_base: 100n,
    royalty_fee_address: OWNER,
    royalty_fee_factor: 2n,
    royalty_fee_base: 101n,
    max_bid: 900n,
    min_bid: 10n,
    created_at: 1_700_000_000n,
    last_bid_at: 1_700_000_100n,
    is_canceled: true,
    activated: null,
    step_time: null,
    last_query_id: null,
    jetton_wallet: null,
    jetton_master: null,
    is_broken_state: null,
    public_key: null,
  };

  it('are those with the magic of one', async () => {
    expect(await read({ get_sale_data: [vmInt(0x415543), ...common] })).toEqual(row);
  });

  it('can take bids in jettons since version 4', async () => {
    const more = [vmInt(30), vmInt(2n ** 64n - 1n), addressSlice(WALLET), addressSlice(MARKETPLACE), vmInt(0)];
    const data = [vmInt(-1), ...common, ...more, vmInt(2n ** 256n - 1n)];
    expect(await read({ get_auction_data_v4: data, get_sale_data: 11 })).toEqual({
      ...row,
      activated: true,
      step_time: 30n,
      last_query_id: 2n ** 64n - 1n,
      jetton_wallet: WALLET,
      jetton_master: MARKETPLACE,
      is_broken_state: false,
      public_key: 2n ** 256n - 1n,
    });
  });

  it.each<[string, VmStack, string]>([
    ['with another magic', [vmInt(0x415544), ...common], 'starts with 0x415544'],
    ['of a sale at a fixed price', [vmInt(0x46495850), ...common.slice(0, 6), ...saleEnd()], 'is of a sale'],
    ['with too little', [vmInt(0x415543), ...common.slice(0, -1)], 'has only 19 values'],
    ['whose fees are no numbers', [vmInt(0x415543), ...common.slice(0, 9), addressSlice(OWNER)], 'has 11 values'],
  ])('are not those %s', async (_, get_sale_data, problem) => {
    if (problem === 'has 11 values') await expect(read({ get_sale_data })).rejects.toThrow('it should be an integer');
    else await expect(read({ get_sale_data })).rejects.toThrow(problem);
  });

  function saleEnd(): VmStack {
    return [addressSlice(MARKETPLACE), vmInt(1), addressSlice(null), vmInt(0)];
  }
});

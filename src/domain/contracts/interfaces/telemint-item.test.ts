import { describe, expect, it } from 'vitest';
import { telemintItem } from '#domain/contracts/interfaces/telemint-item.js';
import { Builder } from '#formats/cells/builder.js';
import { VM_NULL, vmInt, vmSlice } from '#formats/tlb/vm-stack.js';
import type { FakeAnswer } from '#test/support/fake-contracts.js';
import { addressOf, addressSlice, FakeView } from '#test/support/fake-view.js';

const ITEM = addressOf(0x5a);
const BIDDER = addressOf(0x11);
const BENEFICIARY = addressOf(0x22);

const bytes = (...all: number[]) => [vmSlice(new Builder().storeBytes(Uint8Array.from(all)).endCell())];
const NAME = bytes(0x61, 0x6c);
const STATE = [addressSlice(BIDDER), vmInt(3), vmInt(1_700_000_000), vmInt(4), vmInt(1_700_000_500)];
const CONFIG = [addressSlice(BENEFICIARY), vmInt(1), vmInt(9), vmInt(5), vmInt(60), vmInt(600)];
const ROYALTY = [vmInt(5), vmInt(100), addressSlice(null)];

async function read(methods: Readonly<Record<string, FakeAnswer>>) {
  const view = new FakeView([{ address: ITEM, methods }]);
  return telemintItem.row(await telemintItem.read(view, await view.contract(ITEM)));
}

describe('items of Telegram', () => {
  const nothing = Object.fromEntries(
    Object.keys(telemintItem.table.columns)
      .filter((name) => name !== 'token_name')
      .map((name) => [name, null]),
  );
  const royalty = { royalty_numerator: 5n, royalty_denominator: 100n, royalty_destination: null };

  it('have an auction', async () => {
    const row = await read({
      get_telemint_token_name: NAME,
      get_telemint_auction_state: STATE,
      get_telemint_auction_config: CONFIG,
      royalty_params: ROYALTY,
    });
    expect(row).toEqual({
      token_name: 'al',
      bidder_address: BIDDER,
      bid: 3n,
      bid_ts: 1_700_000_000n,
      min_bid: 4n,
      end_time: 1_700_000_500n,
      beneficiary_address: BENEFICIARY,
      initial_min_bid: 1n,
      max_bid: 9n,
      min_bid_step: 5n,
      min_extend_time: 60n,
      duration: 600n,
      ...royalty,
    });
  });

  it('have none, and stay items', async () => {
    const config = [VM_NULL, ...Array.from({ length: 5 }, () => vmInt(0))];
    const methods = { get_telemint_token_name: NAME, get_telemint_auction_config: config, royalty_params: ROYALTY };
    expect(await read({ ...methods, get_telemint_auction_state: 219 })).toEqual({
      ...nothing,
      token_name: 'al',
      ...royalty,
    });
  });

  it('need to return nothing but their name', async () => {
    expect(await read({ get_telemint_token_name: NAME })).toEqual({ ...nothing, token_name: 'al' });
  });

  it.each<[string, FakeAnswer]>([
    ['is no UTF-8', bytes(0xff, 0x61)],
    ['has a zero, which no database takes', bytes(0x61, 0)],
    ['is a number', [vmInt(5)]],
    ['has half a byte', [vmSlice(new Builder().storeUint(1, 4).endCell())]],
  ])('are not those whose name %s', async (_, get_telemint_token_name) => {
    await expect(read({ get_telemint_token_name })).rejects.toMatchObject({
      code: expect.stringMatching(/^contract-data\/(method-result|half-byte)$/),
    });
  });
});

import { describe, expect, it } from 'vitest';
import { nftSale } from '#domain/contracts/interfaces/nft-sale.js';
import { Builder } from '#formats/cells/builder.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { grams } from '#formats/tlb/codec/primitives.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { VM_NULL, vmCell, vmInt } from '#formats/tlb/vm-stack.js';
import type { FakeAnswer } from '#test/support/fake-contracts.js';
import { addressOf, addressSlice, FakeView } from '#test/support/fake-view.js';

const SALE = addressOf(0x5a);
const NFT = addressOf(0x11);
const OWNER = addressOf(0x22);
const MARKETPLACE = addressOf(0x33);

const common = [
  ...[vmInt(-1), vmInt(1_700_000_000), addressSlice(MARKETPLACE), addressSlice(NFT), addressSlice(OWNER), vmInt(50)],
  ...[addressSlice(MARKETPLACE), vmInt(5), addressSlice(null), vmInt(0)],
];
const FIXP = vmInt(0x46495850);

function prices(count: number) {
  const entries = Array.from({ length: count }, (_, i) => {
    const key = new Uint8Array(32);
    new DataView(key.buffer).setUint32(0, i);
    const price = new Builder();
    grams.store(BigInt(i + 1), price);
    return [key, price] as const;
  });
  return vmCell(buildDictionary(256, entries)!);
}

async function read(methods: Readonly<Record<string, FakeAnswer>>) {
  const view = new FakeView([{ address: SALE, methods }]);
  return nftSale.row(await nftSale.read(view, await view.contract(SALE)));
}

describe('sales at a fixed price', () => {
  const row = {
    is_complete: true,
    created_at: 1_700_000_000n,
    marketplace: MARKETPLACE,
    nft: NFT,
    nft_owner: OWNER,
    full_price: 50n,
    marketplace_fee_address: MARKETPLACE,
    marketplace_fee: 5n,
    royalty_address: null,
    royalty_amount: 0n,
    sold_at: null,
    sold_query_id: null,
    jetton_prices: null,
  };

  it('are those with the magic of one, which need not pay royalty', async () => {
    expect(await read({ get_sale_data: [FIXP, ...common] })).toEqual(row);
  });

  it('can have prices in jettons since version 4', async () => {
    const data = [...common, vmInt(1_700_000_009), vmInt(7), prices(2)];
    const reported = await read({ get_fix_price_data_v4: data, get_sale_data: 11 });
    const jetton_prices = JSON.stringify({ [`0:${'00'.repeat(32)}`]: '1', [`0:00000001${'00'.repeat(28)}`]: '2' });
    expect(reported).toEqual({ ...row, sold_at: 1_700_000_009n, sold_query_id: 7n, jetton_prices });
  });

  it('can have prices in TON only', async () => {
    const data = [...common, vmInt(0), vmInt(0), VM_NULL];
    expect(await read({ get_fix_price_data_v4: data })).toEqual({ ...row, sold_at: 0n, sold_query_id: 0n });
  });

  const auction: VmStack = [
    ...[vmInt(0x415543), ...common.slice(0, 5), vmInt(0), addressSlice(null), vmInt(5), addressSlice(MARKETPLACE)],
    ...[vmInt(5), vmInt(100), addressSlice(MARKETPLACE), ...Array.from({ length: 7 }, () => vmInt(1))],
  ];

  it.each<[string, VmStack, string]>([
    ['with another magic', [vmInt(0x46495851), ...common], 'starts with 0x46495851'],
    ['of an auction', auction, 'is of an auction'],
    ['with too little', [FIXP, ...common.slice(1)], 'has 10 values; it should have 11'],
    ['with a cell in place of a price', [FIXP, ...common.map((one, i) => (i === 5 ? prices(1) : one))], 'vm_stk_cell'],
    ['of no NFT', [FIXP, ...common.map((one, i) => (i === 3 ? addressSlice(null) : one))], 'has no address at place 4'],
    ['of a time that is none', [FIXP, common[0]!, vmInt(2n ** 63n), ...common.slice(2)], 'should fit int64'],
  ])('are not those %s', async (_, get_sale_data, problem) => {
    await expect(read({ get_sale_data })).rejects.toThrow(problem);
  });

  it('are not those with more prices than anybody can have', async () => {
    const data = [...common, vmInt(0), vmInt(0), prices(5_000)];
    await expect(read({ get_fix_price_data_v4: data })).rejects.toMatchObject({ code: 'cells/dict-too-large' });
  });
});

import { describe, expect, it } from 'vitest';
import { multisig } from '#domain/contracts/interfaces/multisig.js';
import { multisigOrder } from '#domain/contracts/interfaces/multisig-order.js';
import type { Address } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';
import { VM_NULL, vmCell, vmInt } from '#formats/tlb/vm-stack.js';
import { otherAccounts } from '#test/support/contract-accounts.js';
import type { FakeAnswer, FakeContract } from '#test/support/fake-contracts.js';
import { addressOf, addressSlice, FakeView } from '#test/support/fake-view.js';

const MULTISIG = addressOf(0x51);
const ORDER = addressOf(0x52);

function members(...addresses: readonly (Address | null)[]): Cell {
  const entries = addresses.map((address, i) => {
    const value = new Builder();
    MsgAddress.store(address, value);
    return [Uint8Array.of(i), value] as const;
  });
  return buildDictionary(8, entries)!;
}

describe('multisigs', () => {
  async function read(get_multisig_data: FakeAnswer) {
    const view = new FakeView([{ address: MULTISIG, methods: { get_multisig_data } }]);
    return multisig.row(await multisig.read(view, await view.contract(MULTISIG)));
  }

  it('have signers, and proposers or none', async () => {
    const signers = [addressOf(2), addressOf(1)];
    expect(await read([vmInt(-1), vmInt(2), vmCell(members(...signers)), VM_NULL])).toEqual({
      next_order_seqno: -1n,
      threshold: 2n,
      signers,
      proposers: [],
    });
  });

  it.each<[string, FakeAnswer, string]>([
    [
      'without an address for each member',
      [vmInt(0), vmInt(1), vmCell(members(addressOf(1), null)), VM_NULL],
      'method-result',
    ],
    ['whose signers are no dictionary', [vmInt(0), vmInt(1), vmCell(EMPTY_CELL), VM_NULL], 'cells/'],
    [
      'with numbers that nobody has',
      [vmInt(0), vmInt(2n ** 100n), vmCell(members(addressOf(1))), VM_NULL],
      'method-result',
    ],
    ['that do not answer', 109, 'method-failed'],
  ])('are not those %s', async (_, answer, code) => {
    await expect(read(answer)).rejects.toMatchObject({ code: expect.stringContaining(code) });
  });
});

describe('orders of multisigs', () => {
  const signers = [addressOf(1), addressOf(2), addressOf(3)];
  const data = [
    ...[addressSlice(MULTISIG), vmInt(4), vmInt(2), vmInt(0), vmCell(members(...signers)), vmInt(5), vmInt(2)],
    ...[vmInt(1_800_000_000), vmCell(EMPTY_CELL)],
  ];

  async function read(order: Readonly<Record<string, FakeAnswer>>, others: readonly FakeContract[] = []) {
    const view = new FakeView([{ address: ORDER, methods: order }, ...others]);
    return multisigOrder.row(await multisigOrder.read(view, await view.contract(ORDER)));
  }

  const saying = (address: Address): FakeContract => ({
    address: MULTISIG,
    methods: {
      get_order_address: ([seqno]) =>
        seqno?.kind === 'vm_stk_tinyint' && seqno.value === 4n ? [addressSlice(address)] : 9,
    },
  });

  const row = {
    multisig: MULTISIG,
    order_seqno: 4n,
    threshold: 2n,
    sent_for_execution: false,
    approvals_mask: 5n,
    approvals_num: 2n,
    expiration_date: 1_800_000_000n,
    order_boc: EMPTY_CELL,
    signers,
  };

  it('are those that the multisig knows', async () => {
    expect(await read({ get_order_data: data }, [saying(ORDER)])).toEqual(row);
  });

  it('know nothing but their multisig before it has told them', async () => {
    const nothing = Array.from({ length: 7 }, () => VM_NULL);
    expect(await read({ get_order_data: [...data.slice(0, 2), ...nothing] }, [saying(ORDER)])).toEqual({
      ...row,
      threshold: null,
      sent_for_execution: null,
      approvals_mask: null,
      approvals_num: null,
      expiration_date: null,
      order_boc: null,
      signers: null,
    });
  });

  it.each<[string, readonly FakeContract[]]>([
    ['of another multisig', [saying(addressOf(0x53))]],
    ['of a multisig that is not there', []],
    ['of what is no multisig', [{ address: MULTISIG, methods: { get_order_address: [vmInt(1)] } }]],
    ['of a multisig that uses up its gas', [{ address: MULTISIG, methods: { get_order_address: -14 } }]],
  ])('are not those %s', async (_, others) => {
    await expect(read({ get_order_data: data }, others)).rejects.toMatchObject({ code: 'contract-data/not-verified' });
  });

  it('are not those of known code and data at another address', async () => {
    const recorded = (kind: string) => otherAccounts.filter((account) => account.kind === kind);
    const order = recorded('multisig_order_v2')[0]!;
    const wallets = recorded('multisig_v2').map(({ address, code, data }) => ({ address, code, data }));
    const view = new FakeView([
      { ...order, methods: {} },
      { address: ORDER, code: order.code, data: order.data },
      ...wallets,
    ]);
    const own = await multisigOrder.read(view, await view.contract(order.address));
    expect(own.multisig_address.toRaw().toUpperCase()).toBe(order.row!.multisig_address);
    await expect(multisigOrder.read(view, await view.contract(ORDER))).rejects.toMatchObject({
      code: 'contract-data/not-verified',
    });
    expect(view.runs).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { nativeCodeOf } from '#domain/contracts/interface-registry.js';
import { getWalletAddress } from '#domain/contracts/interfaces/jetton-master.js';
import { jettonWallet } from '#domain/contracts/interfaces/jetton-wallet.js';
import { runNatively } from '#domain/contracts/native-code.js';
import { Builder } from '#formats/cells/builder.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { vmCell, vmInt } from '#formats/tlb/vm-stack.js';
import { recordedAccounts } from '#test/support/contract-accounts.js';
import type { FakeAnswer, FakeContract } from '#test/support/fake-contracts.js';
import { addressOf, addressSlice, FakeView } from '#test/support/fake-view.js';

const [wallet, master, owner, other] = [addressOf(1), addressOf(2), addressOf(3), addressOf(4)] as const;
const code = new Builder().storeUint(7, 8).endCell();
const walletData: VmStack = [vmInt(9), addressSlice(owner), addressSlice(master), vmCell(code)];

async function rowOf(contracts: readonly FakeContract[], address = wallet) {
  const view = new FakeView(contracts);
  return jettonWallet.row(await jettonWallet.read(view, await view.contract(address)));
}

const says = (get_wallet_address: FakeAnswer): FakeContract => ({ address: master, methods: { get_wallet_address } });

describe('a jetton wallet', () => {
  it('makes a row of what it says when its master agrees', async () => {
    const subject = { address: wallet, methods: { get_wallet_data: walletData } };
    const row = { balance: 9n, owner, jetton: master, mintless_is_claimed: null };
    expect(await rowOf([subject, says([addressSlice(wallet)])])).toEqual(row);
    const asked = says((stack) => {
      expect(stack).toEqual(getWalletAddress.stack(owner));
      return [addressSlice(wallet)];
    });
    const claimed = (is_claimed: VmStack) => ({ ...subject, methods: { ...subject.methods, is_claimed } });
    expect(await rowOf([claimed([vmInt(-1)]), asked])).toEqual({ ...row, mintless_is_claimed: true });
    expect(await rowOf([claimed([vmInt(0)]), asked])).toEqual({ ...row, mintless_is_claimed: false });
    expect(await rowOf([claimed([vmInt(0), vmInt(0)]), asked])).toEqual(row);
  });

  it('is none of a master that does not agree, or does not answer', async () => {
    const subject = { address: wallet, methods: { get_wallet_data: walletData } };
    const refused = { code: 'contract-data/not-verified' };
    await expect(rowOf([subject, says([addressSlice(other)])])).rejects.toMatchObject(refused);
    await expect(rowOf([subject, says([addressSlice(null)])])).rejects.toMatchObject(refused);
    await expect(rowOf([subject, says([vmInt(0)])])).rejects.toMatchObject(refused);
    await expect(rowOf([subject, says(-14)])).rejects.toMatchObject(refused);
    await expect(rowOf([subject])).rejects.toMatchObject(refused);
  });

  it('is none without owner or master', async () => {
    const missing = (at: number) => walletData.map((value, i) => (i === at ? addressSlice(null) : value));
    for (const get_wallet_data of [missing(1), missing(2), walletData.slice(0, 3)]) {
      await expect(rowOf([{ address: wallet, methods: { get_wallet_data } }])).rejects.toMatchObject({
        code: 'contract-data/method-result',
      });
    }
  });

  it('of known code cannot take the place of one of a real master', async () => {
    const real = recordedAccounts.find(({ kind }) => kind === 'jetton_wallet_v100')!;
    const realMaster = recordedAccounts.find(({ kind }) => kind === 'jetton_master_v100')!;
    const native = runNatively(nativeCodeOf(realMaster.code), realMaster, getWalletAddress, [owner])!.result;
    expect(native.equals(real.address)).toBe(false);
    expect(await rowOf([real, realMaster], real.address)).toMatchObject({ jetton: realMaster.address });
    // The same code and data, put somewhere else.
    await expect(rowOf([{ ...real, address: other }, realMaster], other)).rejects.toMatchObject({
      code: 'contract-data/not-verified',
    });
  });
});

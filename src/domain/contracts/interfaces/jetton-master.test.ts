import { describe, expect, it } from 'vitest';
import { jettonMaster } from '#domain/contracts/interfaces/jetton-master.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { VM_NULL, type VmStackValue, vmCell, vmInt } from '#formats/tlb/vm-stack.js';
import { addressOf, addressSlice, FakeView, linkContent } from '#test/support/fake-view.js';

const [master, admin] = [addressOf(1), addressOf(2)] as const;
const walletCode = new Builder().storeUint(7, 8).endCell();

function jettonData(content: VmStackValue, supply = 5n, by = addressSlice(admin)): VmStack {
  return [vmInt(supply), vmInt(-1), by, content, vmCell(walletCode)];
}

async function rowOf(get_jetton_data: VmStack | number) {
  const view = new FakeView([{ address: master, methods: { get_jetton_data } }]);
  return jettonMaster.row(await jettonMaster.read(view, await view.contract(master)));
}

describe('a jetton master', () => {
  it('makes a row of what it says', async () => {
    expect(await rowOf(jettonData(vmCell(linkContent('https://j'))))).toEqual({
      total_supply: 5n,
      mintable: true,
      admin,
      content: '{"uri":"https://j"}',
      jetton_wallet_code_hash: walletCode.hash(),
    });
    const more = [...jettonData(vmCell(linkContent('')), 2n ** 255n, addressSlice(null)), VM_NULL];
    expect(await rowOf(more)).toMatchObject({ total_supply: 2n ** 255n, admin: null, content: '{"uri":""}' });
  });

  it('is none without content of TEP-64', async () => {
    const refused = (content: Cell | null) => rowOf(jettonData(content === null ? VM_NULL : vmCell(content)));
    await expect(refused(null)).rejects.toMatchObject({ code: 'contract-data/method-result' });
    await expect(refused(EMPTY_CELL)).rejects.toMatchObject({ code: 'contract-data/content-prefix' });
    await expect(refused(new Builder().storeUint(2, 8).endCell())).rejects.toMatchObject({
      code: 'contract-data/content-prefix',
    });
  });

  it('is none when it does not answer, or has too much to say', async () => {
    await expect(rowOf(11)).rejects.toMatchObject({ code: 'contract-data/method-failed' });
    await expect(rowOf([])).rejects.toMatchObject({ code: 'contract-data/method-result' });
    const long = linkContent(`https://${'j'.repeat(100_000)}`);
    await expect(rowOf(jettonData(vmCell(long)))).rejects.toMatchObject({ code: 'contract-data/too-large' });
  });

  it('has no zero characters in its row, which the database does not keep', async () => {
    expect(await rowOf(jettonData(vmCell(linkContent('a\0b'))))).toMatchObject({ content: '{"uri":"a\ufffdb"}' });
  });
});

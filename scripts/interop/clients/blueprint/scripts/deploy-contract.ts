import type { NetworkProvider } from '@ton/blueprint';
import { beginCell, Cell, contractAddress, toNano } from '@ton/core';

/** Deploys a contract that takes any message, waits for it, and sends it one more; prints one JSON object a line. */
export async function run(provider: NetworkProvider): Promise<void> {
  const check = async (name: string, body: () => Promise<string>) => {
    try {
      console.log(JSON.stringify({ name, ok: true, detail: await body() }));
    } catch (error) {
      console.log(JSON.stringify({ name, ok: false, detail: String(error) }));
    }
  };
  const init = { code: Cell.fromHex(process.env.CODE!), data: Cell.fromHex(process.env.DATA!) };
  const address = contractAddress(0, init);
  const sender = provider.sender();
  await check('a contract deployed', async () => {
    await sender.send({ to: address, value: toNano('0.4'), init, bounce: false });
    await provider.waitForDeploy(address, 30, 500);
    return address.toString();
  });
  await check('a message to it', async () => {
    const before = (await provider.getContractState(address)).last?.lt;
    await sender.send({ to: address, value: toNano('0.1'), body: beginCell().storeUint(0xb1e, 32).endCell() });
    for (let attempt = 0; attempt < 60; attempt++) {
      const { last } = await provider.getContractState(address);
      if (last?.lt !== before) return `taken at lt ${last?.lt}`;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    throw new Error('it did not arrive');
  });
}

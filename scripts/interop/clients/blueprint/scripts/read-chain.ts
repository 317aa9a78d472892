import { readFileSync } from 'node:fs';
import type { NetworkProvider } from '@ton/blueprint';
import { Address } from '@ton/core';

/** Reads accounts of TRUTH (a file) through the provider that blueprint makes; prints one JSON object a line. */
export async function run(provider: NetworkProvider): Promise<void> {
  const truth = JSON.parse(readFileSync(process.env.TRUTH!, 'utf8'));
  const check = async (name: string, body: () => Promise<string>) => {
    try {
      console.log(JSON.stringify({ name, ok: true, detail: await body() }));
    } catch (error) {
      console.log(JSON.stringify({ name, ok: false, detail: String(error) }));
    }
  };
  await check('account states', async () => {
    for (const { address, balance, state } of truth.accounts) {
      const account = Address.parse(address);
      const found = await provider.getContractState(account);
      if (String(found.balance) !== balance) throw new Error(`balance of ${address}: ${found.balance}, not ${balance}`);
      const isDeployed = await provider.isContractDeployed(account);
      if (isDeployed !== (state === 'active')) throw new Error(`${address} is deployed: ${isDeployed}, but ${state}`);
    }
    return `${truth.accounts.length} accounts`;
  });
  await check('get-method of the elector', async () => {
    const elector = provider.provider(Address.parse(`-1:${'3'.repeat(64)}`));
    const { stack } = await elector.get('compute_returned_stake', [{ type: 'int', value: 5n }]);
    const stake = stack.readBigNumber();
    if (stake !== 0n) throw new Error(`the stake of nobody is ${stake}`);
    return 'the stake of nobody is 0';
  });
  await check('configuration', async () => {
    const config = await provider.getConfig();
    const { flatGasPrice } = config.gasPrices.workchain;
    if (flatGasPrice <= 0n) throw new Error(`the least price of a run is ${flatGasPrice}`);
    return `a run costs ${flatGasPrice} at least`;
  });
}

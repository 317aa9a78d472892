import { type Address, beginCell, Cell, contractAddress } from '@ton/core';
import type { CheckReport } from '../../check-report.js';
import { runBlueprint } from '../../clients/blueprint-project.js';
import type { JsonObject } from '../../tonlib-session.js';
import { expectOutcomes } from './outcome.js';
import type { Stage } from './stage.js';

/** SETCP0: takes any message */
const TAKES_ALL = 'ff00';
const WALLET = 1;

/** A script of a project of @ton/blueprint that deploys a contract from a wallet with coins, by its words. */
export async function blueprintScenarios(stage: Stage, packages: string, report: CheckReport): Promise<null> {
  const { network } = stage;
  const wallet = await stage.funded('v4r2', WALLET);
  const words = (await network.wallets()).filter(({ version }) => version === 'v4r2')[WALLET]!.mnemonic!;
  const code = beginCell().storeBuffer(Buffer.from(TAKES_ALL, 'hex')).endCell();
  const data = beginCell().storeUint(0xb1e, 32).endCell();
  const contract = contractAddress(0, { code, data });
  const cells = { CODE: code.toBoc().toString('hex'), DATA: data.toBoc().toString('hex') };
  const environment = { ...cells, WALLET_MNEMONIC: words.join(' '), WALLET_VERSION: 'v4' };
  await runBlueprint(packages, network.url, 'deploy-contract', environment, report);
  for (const body of await bodiesThatReach(stage, wallet.address, contract)) {
    await stage.await('@ton/blueprint: what its wallet sent', wallet.address, body, (root) =>
      expectOutcomes(root, [
        [wallet.address, 'ok'],
        [contract, 'ok'],
      ]),
    );
  }
  return null;
}

/** Bodies of the external messages to a wallet from which messages to a contract follow: blueprint does not tell them. */
async function bodiesThatReach(stage: Stage, wallet: Address, contract: Address): Promise<readonly Cell[]> {
  let traces: readonly JsonObject[] = [];
  await stage.until('two traces of the contract', async () => {
    traces = await stage.v3.rows('traces', 'traces', { account: contract.toString() });
    return traces.length === 2;
  });
  return traces.map(({ transactions, trace_id }) => {
    const { account, in_msg } = (transactions as JsonObject)[trace_id as string] as JsonObject;
    if (account !== wallet.toRawString().toUpperCase()) throw new Error(`a trace begins at ${account}`);
    return Cell.fromBase64(((in_msg as JsonObject).message_content as JsonObject).body as string);
  });
}

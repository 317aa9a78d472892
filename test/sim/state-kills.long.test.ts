import { afterAll, beforeAll, expect, it } from 'vitest';
import { builtProgram } from '#test/support/built-program.js';
import { FULL } from '#test/support/full-depth.js';
import { vectorPath } from '#test/support/vector-files.js';
import { type RecordedNetwork, recordedNetwork } from './recorded-network.js';
import { killStateImports } from './state-kills.js';

const KILLS = FULL ? 5 : 3;

let network: RecordedNetwork;
beforeAll(async () => {
  network = await recordedNetwork(vectorPath('collection/recorded-net/chain'), 300);
});
afterAll(() => network.close());

it('an import of states by processes which are killed gives the same rows in the end', async () => {
  const program = await builtProgram();
  const report = await killStateImports({ network, kills: KILLS, seed: 'test', program, say: () => {} });
  expect(report).toMatchObject({ kills: KILLS, differences: [] });
});

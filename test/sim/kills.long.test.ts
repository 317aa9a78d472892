import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { builtProgram } from '#test/support/built-program.js';
import { FULL } from '#test/support/full-depth.js';
import { killAgainAndAgain } from './kills.js';
import { type RecordedNetwork, recordedNetwork } from './recorded-network.js';

const CHAIN = join(import.meta.dirname, '../../vectors/dev-chain');

const KILLS = FULL ? 5 : 3;

let network: RecordedNetwork;
beforeAll(async () => {
  network = await recordedNetwork(CHAIN, FULL ? 120 : 60);
});
afterAll(() => network.close());

it.each(['fill', 'follow'] as const)(
  'an index that is written by processes which are killed is the same in the end (%s)',
  async (work) => {
    const say = (): void => {};
    const report = await killAgainAndAgain({
      network,
      work,
      kills: KILLS,
      seed: 'test',
      program: await builtProgram(),
      say,
    });
    expect(report).toMatchObject({ kills: KILLS, differences: [] });
  },
);

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { printPosition } from '#formats/proofs/block-id.js';
import type { ChainBlock } from '#localnet/replay/recorded-chain.js';
import { judgeGenesis, judgeRecorded, knownDifferences } from '#test/support/expected-repetitions.js';
import { type Repetition, TransactionRepeater } from '#test/support/repeated-transactions.js';
import { startTvm } from '#test/support/tvm-pool.js';
import { vectorPath } from '#test/support/vector-files.js';

/** Of how many blocks one is taken. All of them: `npm run -s sim -- transactions`. */
const ONE_OF = 10;

let pool: TvmPool;
beforeAll(async () => {
  pool = await startTvm({ maxWaiting: 10_000, queueTimeoutMs: 60_000 });
});
afterAll(() => pool.close());

async function repeat(repeater: TransactionRepeater, take: (block: ChainBlock, i: number) => boolean) {
  const { masterchain, shards } = repeater.chain;
  const all: Repetition[] = [];
  for (const block of [...masterchain.filter(take), ...shards.filter(take)]) {
    all.push(...(await repeater.repeatBlock(block)));
  }
  return all;
}

describe('transactions of the first blocks of the recorded network, emulated again', () => {
  it('have the recorded hashes and leave the recorded accounts', async () => {
    const all = await repeat(new TransactionRepeater(vectorPath('recorded-chain'), pool), () => true);
    expect(all.filter(({ differences }) => differences.length > 0)).toEqual([]);
    expect(all.length).toBeGreaterThan(20);
    expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(['internal', 'tick', 'tock']));
  });

  it('differ when anything is another than it was', async () => {
    const other: typeof pool.emulateTickTock = (request) => pool.emulateTickTock({ ...request, lt: request.lt + 1n });
    const emulation = { emulateTransaction: pool.emulateTransaction.bind(pool), emulateTickTock: other };
    const repeater = new TransactionRepeater(vectorPath('recorded-chain'), emulation);
    const all = await repeater.repeatBlock(repeater.chain.masterchain[0]!);
    const ticks = all.filter(({ kind }) => kind === 'tick');
    expect(ticks.length).toBeGreaterThan(0);
    for (const { differences } of ticks) {
      expect(differences.map(({ field }) => field)).toContain('transaction.lt');
    }
  });
});

const recorded = vectorPath('collection/recorded-net/chain');

describe('transactions of the recorded network, emulated again', () => {
  it('have the recorded hashes and leave the recorded accounts, but for those listed', async () => {
    const listed = new Set(knownDifferences['recorded-net'].map(({ block }) => block));
    const repeater = new TransactionRepeater(recorded, pool);
    const all = await repeat(repeater, ({ id }, i) => i % ONE_OF === 0 || listed.has(printPosition(id)));
    const { same, problems } = judgeRecorded(all);
    expect(problems).toEqual([]);
    expect(same).toBeGreaterThan(500);
  });
});

const genesis = vectorPath('collection/mainnet-genesis');

describe('transactions of the first blocks of mainnet, emulated again', () => {
  it('are the same without code, and with code but for gas as it was then', async () => {
    const repeater = new TransactionRepeater(genesis, pool, 'full');
    const { same, different, problems } = judgeGenesis(await repeat(repeater, (_, i) => i % ONE_OF === 0));
    expect(problems).toEqual([]);
    expect(same).toBeGreaterThan(50);
    expect(Object.values(different)[0]).toBeGreaterThan(100);
  });
});

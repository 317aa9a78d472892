import { describe, expect, it } from 'vitest';
import { LiteServerLookupBlock } from '#formats/tl/lite-api.js';
import { Random } from '#test/fuzz/random.js';
import { errorAnswer, type FakeLiteserver, headerOf } from '#test/support/fake-liteserver.js';
import { PoolInMemory, seqnoRequest } from '#test/support/lite-pool.js';

const CLIENTS = 12;
const REQUESTS = 4_000;

/** Answer times as networks have them: mostly about 10 ms, a few several times as long. */
function usualDelays(label: string): () => number {
  const random = new Random(label);
  return () => {
    const share = random.below(10_000) / 10_000;
    return share > 0.97 ? 40 + random.below(20) : 6 + random.below(8);
  };
}

function makeWorld(): Promise<PoolInMemory> {
  return new PoolInMemory(3, {}, (servers) => {
    for (const each of servers) each.delayMs = usualDelays(each.name);
  }).start();
}

/** Several clients ask one thing after the other; how long each request took, sorted, and how many failed. */
async function load(world: PoolInMemory): Promise<{ times: number[]; failures: number; sick: number }> {
  const times: number[] = [];
  let failures = 0;
  let next = 0;
  const sick = world.servers[0] as FakeLiteserver;
  const before = sick.count(LiteServerLookupBlock);
  const client = async () => {
    while (next < REQUESTS) {
      const startedAt = world.clock.now();
      const seqno = 1 + (next++ % 97);
      // A name of its own keeps requests from sharing answers.
      const request = seqnoRequest(seqno, { verifiedAs: String(next) });
      await world.pool.query(request).catch(() => failures++);
      times.push(world.clock.now() - startedAt);
    }
  };
  const all = Promise.all(Array.from({ length: CLIENTS }, client));
  let isDone = false;
  void all.then(() => {
    isDone = true;
  });
  while (!isDone) await world.pass(1_000);
  return { times: times.sort((a, b) => a - b), failures, sick: sick.count(LiteServerLookupBlock) - before };
}

const p99 = (times: readonly number[]) => times[Math.floor(times.length * 0.99)] ?? 0;

/** Ways in which the first of three servers can be sick. */
const illnesses: [string, (sick: FakeLiteserver, world: PoolInMemory) => void][] = [
  ['answers nothing', (sick) => void Object.assign(sick, { isSilent: true })],
  ['is twenty times as slow', (sick) => void Object.assign(sick, { delayMs: 250 })],
  ['is three times as slow', (sick) => void Object.assign(sick, { delayMs: 30 })],
  ['answers errors', (sick) => void sick.on(LiteServerLookupBlock, () => errorAnswer(-503, 'timeout'))],
  ['answers what is not true', (sick) => void sick.on(LiteServerLookupBlock, () => headerOf(5_000))],
  [
    'is cut off again and again',
    (sick, world) => {
      const cut = () => {
        world.network.cut(sick);
        world.clock.schedule(400, cut);
      };
      cut();
    },
  ],
  [
    'cannot be reached',
    (sick, world) => {
      world.network.unreachable.add(sick.name);
      world.network.cut(sick);
    },
  ],
];

describe('while one of three servers is sick', () => {
  it('the others are hardly slower, and the sick one is hardly asked', async () => {
    const healthy = await load(await makeWorld());
    expect(healthy.failures).toBe(0);
    expect(healthy.sick).toBeGreaterThan(REQUESTS * 0.2);
    for (const [name, fall] of illnesses) {
      const world = await makeWorld();
      // It falls ill when everybody knows it as a good one.
      await load(world);
      fall(world.servers[0] as FakeLiteserver, world);
      const { times, failures, sick } = await load(world);
      const change = p99(times) / p99(healthy.times) - 1;
      expect(failures, name).toBe(0);
      expect(change, `${name}: p99 ${p99(times)} ms instead of ${p99(healthy.times)} ms`).toBeLessThan(0.2);
      if (!name.startsWith('is cut off')) expect(sick, name).toBeLessThan(REQUESTS * 0.1);
      await world.pool.close();
    }
  });
});

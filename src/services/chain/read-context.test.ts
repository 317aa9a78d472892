import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { LitePool } from '#drivers/lite/pool.js';
import { type LiteServerBlockHeader, LiteServerLookupBlock } from '#formats/tl/lite-api.js';
import { type LiteQuery, ReadContext } from '#services/chain/read-context.js';
import type { FakeClock } from '#test/support/fake-clock.js';
import { PoolInMemory, seqnoRequest } from '#test/support/lite-pool.js';

type Lookup = Parameters<(typeof LiteServerLookupBlock)['store']>[1];

function ask(pool: LitePool, clock: FakeClock, liteQuery: Partial<LiteQuery<Lookup, LiteServerBlockHeader, number>>) {
  const context = new ReadContext({}, 10_000, { source: pool, clock });
  return context.query({ ...seqnoRequest(50), immutable: true, ...liteQuery } as LiteQuery<
    Lookup,
    LiteServerBlockHeader,
    number
  >);
}

it('a value with a name is verified once, and kept with room for what it takes', async () => {
  const { pool, clock, after, servers } = await inMemory();
  let checks = 0;
  const named = (name: string, value: number) => {
    const verify = () => {
      checks++;
      return value;
    };
    return ask(pool, clock, { verifiedAs: name, verify });
  };
  const first = await after(named('one', 1));
  expect(await after(named('one', 2))).toEqual(first);
  expect([first.value, first.answer.id.seqno, checks]).toEqual([1, 50, 1]);
  expect((await after(named('other', 3))).value).toBe(3);
  expect(checks).toBe(2);
  expect(servers[0]!.count(LiteServerLookupBlock)).toBe(2);
  const { cache_bytes, cache_entries } = pool.metrics();
  expect(cache_entries).toBe(2);
  const kept = cache_bytes;
  await after(ask(pool, clock, { verify: () => 4 }));
  // The answer alone takes a quarter.
  expect((pool.metrics().cache_bytes - kept) * 2).toBeLessThan(kept);
});

it('a value without a name is verified for each read', async () => {
  const { pool, clock, after, servers } = await inMemory();
  expect((await after(ask(pool, clock, { verify: () => 1 }))).value).toBe(1);
  expect((await after(ask(pool, clock, { verify: () => 2 }))).value).toBe(2);
  expect(servers[0]!.count(LiteServerLookupBlock)).toBe(1);
});

it('no two questions of the service have one name', () => {
  const folder = new URL('./', import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  const names = files.flatMap((file) =>
    [...readFileSync(new URL(file, folder), 'utf8').matchAll(/verifiedAs: ('[^']*')/g)].map(([, name]) => name),
  );
  expect(names.length).toBeGreaterThan(15);
  expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
});

async function inMemory() {
  const world = await new PoolInMemory(1).start();
  const { pool, clock, servers } = world;
  const after = async <T>(promise: Promise<T>): Promise<T> => (await world.after(50, promise)) as T;
  return { pool, clock, servers, after };
}

it('what shall not be kept is neither kept nor taken from what is kept', async () => {
  const { pool, clock, after, servers } = await inMemory();
  const read = async (cache: boolean) => {
    const context = new ReadContext({ cache }, 10_000, { source: pool, clock });
    expect(context.remaining().cache ?? true).toBe(cache);
    const liteQuery = { ...seqnoRequest(50), immutable: true, verifiedAs: 'block' };
    await after(context.query(liteQuery));
    return [pool.metrics().cache_entries, servers[0]!.count(LiteServerLookupBlock)];
  };
  expect(await read(false)).toEqual([0, 1]);
  expect(await read(true)).toEqual([1, 2]);
  expect(await read(true)).toEqual([1, 2]);
  expect(await read(false)).toEqual([1, 3]);
});

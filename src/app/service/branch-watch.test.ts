import { expect, it } from 'vitest';
import { BranchWatch } from '#app/service/branch-watch.js';
import type { Database } from '#drivers/store/database.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { FakeClock } from '#test/support/fake-clock.js';

const block = (byte: number): BlockId => ({
  ...{ workchain: -1, shard: 1n << 63n, seqno: 7 },
  ...{ root_hash: new Uint8Array(32).fill(byte), file_hash: new Uint8Array(32) },
});

it('an index of another branch is reported while it is one, and logged once', async () => {
  const clock = new FakeClock();
  const lines: unknown[] = [];
  let indexed = block(1);
  let head = 6;
  let reads = 0;
  const database = { query: async () => [{ ...indexed, shard: -(1n << 63n) }] } as unknown as Database;
  const watch = new BranchWatch({
    database: () => database,
    chain: {
      blockId: async () => {
        reads++;
        return block(2);
      },
    },
    headSeqno: () => head,
    clock,
    logger: { info() {}, warn: (message) => void lines.push(message) },
  });
  const look = async (): Promise<void> => {
    for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(10_000);
    for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  watch.start();
  await look();
  // The chain does not reach it yet.
  expect([reads, watch.contradiction]).toEqual([0, null]);
  head = 7;
  await look();
  await look();
  expect(watch.contradiction).toContain('tern index --recreate');
  expect(lines).toEqual(['the index contains another branch of the chain']);
  indexed = block(2);
  await look();
  expect(watch.contradiction).toBeNull();
  const closed = watch.close();
  clock.advance(10_000);
  await closed;
});

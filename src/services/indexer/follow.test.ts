import { describe, expect, it } from 'vitest';
import { BundleQueue, type SeenBundle } from '#services/indexer/follow.js';

const ID = { workchain: -1, shard: 1n << 63n, seqno: 1, root_hash: new Uint8Array(32), file_hash: new Uint8Array(32) };

function round(mc_seqno: number, bytes: number): SeenBundle {
  return { bundle: { mc_seqno, blocks: [{ id: ID, data: new Uint8Array(bytes) }] }, seen: 0 };
}

const seqnos = (taken: readonly SeenBundle[]) => taken.map((each) => each.bundle.mc_seqno);

describe('a queue of masterchain blocks', () => {
  it('gives as many as one batch takes, at least one', async () => {
    const queue = new BundleQueue(10_000);
    for (const [seqno, bytes] of [
      [1, 500],
      [2, 300],
      [3, 300],
      [4, 1],
      [5, 1],
    ] as const)
      await queue.put(round(seqno, bytes));
    expect(seqnos(await queue.take(10, 100))).toEqual([1]);
    expect(seqnos(await queue.take(10, 600))).toEqual([2, 3]);
    expect(seqnos(await queue.take(1, 600))).toEqual([4]);
    expect(seqnos(await queue.take(9, 600))).toEqual([5]);
  });

  it('makes wait who puts too much, and who takes too early', async () => {
    const queue = new BundleQueue(100);
    const order: string[] = [];
    const taken = queue.take(1, 1).then((each) => order.push(`taken ${seqnos(each)}`));
    await queue.put(round(1, 100));
    await taken;
    await queue.put(round(2, 90));
    const put = queue.put(round(3, 90)).then(() => order.push('put'));
    await new Promise(setImmediate);
    order.push('full');
    await queue.take(1, 1);
    await put;
    expect(order).toEqual(['taken 1', 'full', 'put']);
  });

  it('sends all away when it is closed', async () => {
    const queue = new BundleQueue(10);
    const taking = expect(queue.take(1, 1)).rejects.toMatchObject({ code: 'indexer/stopped' });
    queue.close();
    await taking;
    await expect(queue.put(round(1, 100))).rejects.toMatchObject({ code: 'indexer/stopped' });
  });
});

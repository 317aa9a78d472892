import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { TrackedCell, UsageTracker, untracked } from '#formats/cells/merkle-proof.js';
import { openCell } from '#formats/cells/slice.js';
import { toHex } from '#kernel/bytes.js';

const leaf = (n: number) => new Builder().storeUint(n, 8).endCell();
const left = new Builder().storeUint(1, 8).storeRef(leaf(10)).storeRef(leaf(11)).endCell();
const right = new Builder().storeUint(2, 8).storeRef(leaf(12)).endCell();
const root = parseBocRoot(serializeBoc(new Builder().storeRef(left).storeRef(right).endCell()));

describe('a tracked tree', () => {
  it('records what is opened, and nothing else', () => {
    const tracker = new UsageTracker();
    const slice = openCell(tracker.track(root));
    expect(tracker.size).toBe(1);
    const inner = openCell(slice.loadRef());
    inner.loadRef(); // taken, but not opened
    expect(openCell(inner.loadRef()).loadUint(8)).toBe(11);
    expect(tracker.has(root.hash())).toBe(true);
    expect(tracker.has(left.hash())).toBe(true);
    expect(tracker.has(leaf(10).hash())).toBe(false);
    expect(tracker.has(leaf(11).hash())).toBe(true);
    expect(tracker.has(right.hash())).toBe(false);
    expect(tracker.size).toBe(3);
  });

  it('looks like the tree itself', () => {
    const tracked = new UsageTracker().track(root);
    expect(tracked).toBeInstanceOf(TrackedCell);
    expect(toHex(tracked.hash())).toBe(toHex(root.hash()));
    expect([tracked.type, tracked.bits, tracked.refCount, tracked.levelMask, tracked.depth()]).toEqual([0, 0, 2, 0, 2]);
    expect(toHex(serializeBoc(tracked))).toBe(toHex(serializeBoc(root)));
  });

  it('is not wrapped twice', () => {
    const first = new UsageTracker();
    const second = new UsageTracker();
    const tracked = second.track(first.track(root));
    openCell(tracked);
    expect([first.size, second.size]).toEqual([0, 1]);
    expect(untracked(tracked)).toBe(root);
    expect(untracked(root)).toBe(root);
  });

  it('may be opened again and again', () => {
    const tracker = new UsageTracker();
    const tracked = tracker.track(root);
    openCell(tracked);
    openCell(tracked);
    openCell(tracker.track(root));
    expect(tracker.size).toBe(1);
  });
});

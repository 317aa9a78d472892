import { describe, expect, it } from 'vitest';
import { ArchiveDepth, type HistoryKind } from '#drivers/lite/server-health.js';

/** Looks at a server that has blocks and states from these seqnos on, and counts. */
function lookAt(oldest: Record<HistoryKind, number>) {
  const looked: string[] = [];
  return {
    looked,
    look: async (kept: HistoryKind, seqno: number) => {
      looked.push(`${kept} ${seqno}`);
      return seqno >= oldest[kept];
    },
  };
}

describe('how far back a server goes', () => {
  it('is not known at first', () => {
    const depth = new ArchiveDepth();
    expect([depth.has('blocks', 1), depth.oldest('blocks'), depth.isArchive]).toEqual(['perhaps', null, false]);
  });

  it('takes two looks when it is an archive', async () => {
    const depth = new ArchiveDepth();
    const { look, looked } = lookAt({ blocks: 0, states: 0 });
    expect(await depth.probe(50_000_000, look)).toBe(true);
    expect(looked).toEqual(['blocks 1', 'states 1']);
    expect([depth.isArchive, depth.has('states', 1)]).toEqual([true, 'yes']);
  });

  it('is found with few looks, exactly enough, and never claimed too far', async () => {
    for (const head of [3, 10, 700, 90_000, 50_000_000]) {
      for (const share of [0.1, 0.5, 0.9, 0.999, 1]) {
        const depth = new ArchiveDepth();
        const oldest = {
          blocks: Math.max(2, Math.floor(head * share)),
          states: Math.max(2, Math.floor(head * share * share)),
        };
        const { look, looked } = lookAt(oldest);
        expect(await depth.probe(head, look)).toBe(true);
        for (const kept of ['blocks', 'states'] as const) {
          const found = depth.oldest(kept) ?? Number.NaN;
          const name = `${kept} of ${head} from ${oldest[kept]}`;
          expect(found, name).toBeGreaterThanOrEqual(Math.min(oldest[kept], head));
          expect(found - oldest[kept], name).toBeLessThanOrEqual(Math.max(1, (head - found) / 64));
          expect(depth.has(kept, 1), name).toBe('no');
        }
        expect(looked.length).toBeLessThan(60);
      }
    }
  });

  it('is found again when old states have been deleted, or old blocks fetched', async () => {
    const depth = new ArchiveDepth();
    await depth.probe(10_000, lookAt({ blocks: 1, states: 5_000 }).look);
    await depth.probe(20_000, lookAt({ blocks: 1, states: 15_000 }).look);
    expect(depth.oldest('states')).toBeGreaterThanOrEqual(15_000);
    expect(depth.has('states', 6_000)).toBe('no');
    await depth.probe(20_000, lookAt({ blocks: 1, states: 1 }).look);
    expect(depth.isArchive).toBe(true);
    expect(depth.has('states', 6_000)).toBe('yes');
  });

  it('needs no search as long as nothing has changed', async () => {
    const depth = new ArchiveDepth();
    await depth.probe(10_000, lookAt({ blocks: 4_000, states: 5_000 }).look);
    const again = lookAt({ blocks: 4_000, states: 5_000 });
    await depth.probe(10_100, again.look);
    expect(again.looked).toHaveLength(4);
  });

  it('follows what answers show', () => {
    const depth = new ArchiveDepth();
    depth.noteAvailable('states', 500);
    depth.noteMissing('states', 100);
    expect([99, 100, 101, 499, 500, 501].map((seqno) => depth.has('states', seqno))).toEqual([
      'no',
      'no',
      'perhaps',
      'perhaps',
      'yes',
      'yes',
    ]);
    depth.noteMissing('states', 600);
    expect([depth.has('states', 550), depth.has('states', 601), depth.oldest('states')]).toEqual([
      'no',
      'perhaps',
      null,
    ]);
    depth.noteAvailable('states', 50);
    expect([depth.has('states', 49), depth.has('states', 50)]).toEqual(['no', 'yes']);
    expect(depth.has('blocks', 50)).toBe('perhaps');
  });

  it('stays as it is known when a look fails', async () => {
    const depth = new ArchiveDepth();
    let looks = 0;
    const failing = async (_kept: HistoryKind, seqno: number) => (++looks > 5 ? null : seqno > 900);
    expect(await depth.probe(1_000, failing)).toBe(false);
    expect(looks).toBe(6);
    expect(depth.has('blocks', 1)).toBe('no');
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { LanePositions } from '#api/stream/lane-positions.js';
import type { SeqnoRange } from '#drivers/store/index-state.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { liveAccount } from '#test/support/live-cells.js';

const FIRST = 10;

let clock: FakeClock;
let head: number;
let places: LanePositions;
/** Whether contracts of a block are still to be detected. */
let isMissing: (seqno: number) => boolean;
let asked: SeqnoRange[];

beforeEach(() => {
  clock = new FakeClock();
  head = FIRST;
  isMissing = () => true;
  asked = [];
  const missingOf = ({ from, to }: SeqnoRange) =>
    Array.from({ length: to - from + 1 }, (_, i) => from + i).filter((seqno) => isMissing(seqno));
  places = new LanePositions(
    { chain: 'abc', actionsKey: 'actions', signal: new AbortController().signal },
    {
      coverage: () => ({ history: [{ from: 1, to: head }], selected: false, state_seqno: null }),
      clock,
      index: {
        touchedAccounts: async (range) => {
          asked.push(range);
          return [liveAccount(1)];
        },
        settledRows: async (range) => {
          const missing = missingOf(range);
          return { unclassified: null, uncertain: missing[0] ?? null, undetected: missing.length };
        },
      },
    },
  );
  places.begin();
});

/** Has the lane go as far as it can. */
async function advance(lane: 'jettons' | 'actions'): Promise<void> {
  places.moveTo('blocks', { seqno: head, order: null });
  for (;;) {
    const next = places.indexed(lane);
    const to = next === null ? 0 : await places.settledTo(lane, next);
    if (next === null || to < next.from) return;
    places.moveTo(lane, { seqno: to, order: null });
  }
}

describe.each(['jettons', 'actions'] as const)('the lane %s', (lane) => {
  it('is no further behind than it waits for a block, though something is missing in each', async () => {
    const behind: number[] = [];
    for (let second = 0; second < 120; second++) {
      head++;
      await advance(lane);
      behind.push(head - places.now![lane].seqno);
      clock.advance(1_000);
    }
    expect(Math.max(...behind)).toBe(60);
  });

  it('waits for a block in which something is missing, until nothing is', async () => {
    head = FIRST + 30;
    isMissing = (seqno) => seqno === FIRST + 12;
    await advance(lane);
    expect(places.now![lane].seqno).toBe(FIRST + 11);
    isMissing = () => false;
    await advance(lane);
    expect(places.now![lane].seqno).toBe(head);
    expect(asked.every(({ from, to }) => to - from < 8)).toBe(true);
  });

  it('waits the same time whoever else asks', async () => {
    places.pass(lane, { from: FIRST + 1, to: FIRST + 5 });
    head = FIRST + 10;
    await advance(lane);
    for (let ms = 0; ms < 59_900; ms += 100) {
      expect(await places.replayableTo(lane)).toBe(FIRST);
      await advance(lane);
      expect(places.now![lane].seqno).toBe(FIRST + 5);
      clock.advance(100);
    }
    clock.advance(100);
    expect(places.incomplete).toBe(0);
    await advance(lane);
    expect(places.now![lane].seqno).toBe(head);
    expect(await places.replayableTo(lane)).toBe(head);
    expect(places.incomplete).toBeGreaterThan(0);
  });
});

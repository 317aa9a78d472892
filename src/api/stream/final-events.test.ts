import { expect, it } from 'vitest';
import { behindBlock, type LanePosition } from '#api/stream/cursor.js';
import { FinalEventReader } from '#api/stream/final-events.js';
import type { SeqnoRange } from '#drivers/store/index-state.js';
import { accountKey, addressBytes } from '#drivers/store/keys.js';
import type { EndedTrace, TraceMembers } from '#drivers/store/read/final-events.js';
import { Address } from '#formats/address/address.js';
import { FakeIndex } from '#test/support/fake-index.js';

const ACCOUNT = Address.ofParts(0, new Uint8Array(32).fill(7));
const KEY = accountKey(addressBytes(ACCOUNT));

/** Each masterchain block ends some traces; their roots are 1,000 times its seqno and on. */
class BusyIndex extends FakeIndex {
  readonly #perBlock: (seqno: number) => number;
  reads: { readonly range: SeqnoRange; readonly rows: number }[] = [];

  constructor(perBlock: (seqno: number) => number) {
    super();
    this.#perBlock = perBlock;
  }

  override async endedTraces(range: SeqnoRange, _members: TraceMembers, _accounts: unknown, most = 0) {
    const found: EndedTrace[] = [];
    for (let seqno = range.from; seqno <= range.to && found.length < most; seqno++) {
      for (let i = 0; i < this.#perBlock(seqno) && found.length < most; i++) {
        const root = BigInt(seqno * 1_000 + i);
        found.push({
          ...{ root, trace_id: new Uint8Array(32), mc_seqno_end: seqno, nodes: 1, start_lt: 1n, end_lt: 2n },
          ...{ accounts: [KEY], classification_state: 'ok', external_hash: null, external_hash_norm: null },
        });
      }
    }
    this.reads.push({ range, rows: found.length });
    return found;
  }
}

async function rootsOf(index: BusyIndex, place: LanePosition, to: number): Promise<readonly (readonly number[])[]> {
  const reader = new FinalEventReader(index, { signal: new AbortController().signal, timeoutMs: 1_000 });
  const none = new Map<bigint, Address>();
  const wanted = { states: none, jettons: none, traces: new Map([[KEY, ACCOUNT]]), hashes: new Set<string>() };
  const pages: number[][] = [];
  for await (const page of reader.read('actions', place, to, wanted)) {
    pages.push(page.map((event) => ('root' in event ? Number(event.root) : -1)));
  }
  return pages;
}

const rootsOfBlocks = (from: number, to: number, perBlock: (seqno: number) => number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i).flatMap((seqno) =>
    Array.from({ length: perBlock(seqno) }, (_, i) => seqno * 1_000 + i),
  );

it.each([
  ['few traces', () => 1],
  ['as many traces as are read at a time in all', (seqno: number) => (seqno === 2 ? 250 : 0)],
  ['blocks of different sizes', (seqno: number) => [3, 100, 0, 700, 40][seqno % 5]!],
  ['more traces in each block than are read at a time', () => 300],
])(
  'reads %s in parts, each event once and in order, and no row of a block that does not end a part twice',
  async (_, perBlock) => {
    const index = new BusyIndex(perBlock);
    const pages = await rootsOf(index, behindBlock(0), 40);
    const expected = rootsOfBlocks(1, 40, perBlock);
    expect(pages.flat()).toEqual(expected);
    expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(64);
    const read = index.reads.reduce((sum, { rows }) => sum + rows, 0);
    // Of each part at most the rows of the block that did not fit are read again.
    expect(read).toBeLessThanOrEqual(2 * expected.length + 250);
  },
);

it('goes on within a block behind a place', async () => {
  const index = new BusyIndex(() => 300);
  const pages = await rootsOf(index, { seqno: 2, order: 2_150n << 1n }, 3);
  expect(pages.flat()).toEqual(rootsOfBlocks(2, 3, () => 300).filter((root) => root > 2_150));
});

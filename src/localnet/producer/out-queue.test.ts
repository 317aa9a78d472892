import { describe, expect, it } from 'vitest';
import type { MasterchainView } from '#localnet/producer/block-context.js';
import { ProcessedMessages, type WaitingMessage } from '#localnet/producer/out-queue.js';

const WHOLE = 1n << 63n;
const hash = (byte: number) => new Uint8Array(32).fill(byte);
const entry = (mc_seqno: number, lt: bigint, shard = WHOLE, byte = 5) => ({ shard, mc_seqno, lt, hash: hash(byte) });

/** Shards of workchain 0 end at 1,000 with masterchain block 1, at 2,000 with block 2. */
const view = { endLt: (seqno: number) => BigInt(seqno) * 1_000n } as unknown as MasterchainView;

function message(lt: bigint, change: Partial<WaitingMessage> = {}): WaitingMessage {
  const current = { workchain: -1, prefix: 0n };
  return { lt, hash: hash(5), enqueued_lt: lt, current, next: { workchain: 0, prefix: 1n }, ...change };
}

describe('what was received', () => {
  const received = new ProcessedMessages([entry(1, 1_500n)]);

  it.each([
    ['up to the place, as far as the masterchain showed it', message(900n), true],
    ['not what the masterchain did not show', message(1_400n), false],
    ['not what came into its queue later, however old', message(900n, { enqueued_lt: 1_200n }), false],
    ['not what comes later', message(1_501n, { enqueued_lt: 1n }), false],
    ['not a greater hash of the same lt', message(1_500n, { hash: hash(6), enqueued_lt: 1n }), false],
    ['a smaller hash of the same lt', message(1_500n, { hash: hash(4), enqueued_lt: 1n }), true],
    ['its own, without the masterchain', message(1_400n, { current: { workchain: 0, prefix: 9n } }), true],
  ])('%s', (_, waiting, expected) => {
    expect(received.has(waiting, 0, view)).toBe(expected);
  });

  it('is only what was for the shard of the entry', () => {
    const left = new ProcessedMessages([entry(1, 1_500n, 1n << 62n)]);
    expect(left.has(message(900n), 0, view)).toBe(true);
    expect(left.has(message(900n, { next: { workchain: 0, prefix: WHOLE } }), 0, view)).toBe(false);
  });
});

describe('a new entry', () => {
  it('takes the place of those that it covers', () => {
    const halves = new ProcessedMessages([entry(1, 10n, 1n << 62n), entry(1, 20n, 3n << 62n)]);
    expect(halves.with(entry(2, 20n)).entries).toEqual([entry(2, 20n)]);
    expect(halves.with(entry(2, 15n)).entries).toEqual([entry(1, 20n, 3n << 62n), entry(2, 15n)]);
    expect(halves.last).toEqual(entry(1, 20n, 3n << 62n));
    expect(halves.minSeqno).toBe(1);
  });

  it('is left out when another one says it', () => {
    const list = new ProcessedMessages([entry(2, 20n)]);
    expect(list.with(entry(2, 20n)).entries).toEqual([entry(2, 20n)]);
    expect(list.with(entry(1, 20n)).entries).toEqual([entry(2, 20n)]);
  });

  it('is read as it was written', () => {
    const list = new ProcessedMessages([entry(1, 10n, 1n << 62n), entry(1, 20n, 3n << 62n)]);
    expect(ProcessedMessages.of(list.toInfo()).entries).toEqual(list.entries);
  });
});

import type { CancelSchedule, Clock } from '#kernel/clock/clock.js';
import type { ReplayLedger } from '#localnet/replay/replay-ledger.js';

/** How the head moves: so many times as fast as the chain was made, or so many masterchain blocks a second. */
export type Pace =
  | { readonly kind: 'times'; readonly factor: number }
  | { readonly kind: 'blocks'; readonly perSecond: number };

/**
 * Moves the head of a ledger on, block by block, until the last one. Blocks that are due at once come at once, so that
 * the pace holds on the whole.
 *
 * @returns stops it
 */
export function paceHead(ledger: ReplayLedger, pace: Pace, clock: Clock): () => void {
  const first = ledger.head?.id.seqno ?? 0;
  const begin = clock.now();
  let cancel: CancelSchedule = () => {};
  let stopped = false;
  const dueAfter = (seqno: number): number =>
    pace.kind === 'blocks'
      ? ((seqno - first) / pace.perSecond) * 1000
      : ((ledger.timeOf(seqno) - ledger.timeOf(Math.max(first, 1))) / pace.factor) * 1000;
  const step = (): void => {
    if (stopped) return;
    const passed = clock.now() - begin;
    let head = ledger.head?.id.seqno ?? 0;
    while (head < ledger.lastSeqno && dueAfter(head + 1) <= passed) head++;
    ledger.advanceTo(head);
    if (head < ledger.lastSeqno) cancel = clock.schedule(Math.max(dueAfter(head + 1) - passed, 1), step);
  };
  step();
  return () => {
    stopped = true;
    cancel();
  };
}

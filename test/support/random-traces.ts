import { createHash } from 'node:crypto';
import type { InboundKind, OutboundMessage, TraceTransaction } from '#domain/traces/trace-assembler.js';

/** What a made-up chain does next. */
export interface ChainStep {
  /** Ends the masterchain block when 0 (one time in so many). */
  readonly bundle: number;
  /** Which open message arrives, if it is not a root. */
  readonly message: number;
  /** What begins a transaction when it is a root. */
  readonly root: InboundKind | 'none' | null;
  readonly account: number;
  readonly wait: number;
  readonly sent: number;
  readonly external: number;
}

/** A transaction together with the one that sent its message: the truth that nothing has assembled. */
export interface MadeTransaction extends TraceTransaction {
  readonly workchain: number;
  readonly sender: MadeTransaction | null;
}

interface OnTheWay {
  readonly hash: Uint8Array;
  readonly lt: bigint;
  readonly sender: Omit<MadeTransaction, 'id'>;
}

const accounts = 23;

/** Rounds of transactions, in the order of ids, as a chain with a masterchain and two shards might make them. */
export function makeRounds(steps: readonly ChainStep[]): MadeTransaction[][] {
  const bundles: Omit<MadeTransaction, 'id'>[][] = [[]];
  const onTheWay: OnTheWay[] = [];
  /** The clocks of masterchain and shards go at different paces. */
  const clocks = [1000n, 1300n, 700n];
  let serial = 0;
  for (const step of steps) {
    if (step.bundle === 0) {
      bundles.push([]);
      for (const shard of clocks.keys()) clocks[shard]! += 1000n;
    }
    const account = step.account % accounts;
    const shard = account % 3;
    const message = step.root === null && onTheWay.length > 0 ? step.message % onTheWay.length : null;
    const inbound = message === null ? null : onTheWay.splice(message, 1)[0]!;
    const kind = step.root ?? 'external';
    let lt = clocks[shard]! + BigInt(step.wait);
    if (inbound !== null && lt <= inbound.lt) lt = inbound.lt + 1n;
    clocks[shard] = lt + 10n;
    const out_msgs: OutboundMessage[] = [];
    for (let i = 0; i < step.sent; i++) out_msgs.push({ hash: hashOf(`message ${serial++}`), external: false });
    for (let i = 0; i < step.external; i++) out_msgs.push({ hash: hashOf(`message ${serial++}`), external: true });
    const other = kind === 'none' ? null : { hash: hashOf(`message ${serial++}`), kind };
    const made = {
      hash: hashOf(`transaction ${serial++}`),
      lt,
      now: 1_700_000_000 + bundles.length * 2 + (shard & 1),
      mc_seqno: bundles.length,
      account_key: BigInt(account) - 11n,
      workchain: shard === 0 ? -1 : 0,
      in_msg: inbound === null ? other : { hash: inbound.hash, kind: 'internal' as const },
      out_msgs,
      sender: (inbound?.sender ?? null) as MadeTransaction | null,
    };
    bundles.at(-1)!.push(made);
    for (const { hash, external } of out_msgs) if (!external) onTheWay.push({ hash, lt: lt + 1n, sender: made });
  }
  return bundles.map((bundle, at) =>
    bundle
      .sort((a, b) => Number(a.lt - b.lt) || a.workchain - b.workchain || Number(a.account_key - b.account_key))
      .map((made, ordinal) => Object.assign(made, { id: (BigInt(at + 1) << 24n) | BigInt(ordinal) })),
  );
}

function hashOf(text: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(text).digest());
}

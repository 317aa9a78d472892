import { describe, expect, it } from 'vitest';
import { hashKey } from '#drivers/store/keys.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { type ExternalInMessage, normalizedExternalHash, readExternalInMessage } from '#formats/tlb/message.js';
import { silentLogger } from '#kernel/logger.js';
import type { EmulatedTrace, TraceRequest } from '#services/emulation/emulated-trace.js';
import { contractsErrors } from '#services/emulation/errors.js';
import type { LiveEvent, LiveTransaction } from '#services/pending/live-trace.js';
import { PendingTraces } from '#services/pending/pending-traces.js';
import { messagesOf } from '#services/pending/placed-trace.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { externalTo, liveAccount, liveTransaction, NO_STATE } from '#test/support/live-cells.js';
import { signingWallet } from '#test/support/signing-wallets.js';

type Emulate = (message: Cell) => readonly LiveTransaction[] | null;

/** Live traces over an emulation that a test declares. */
function startTraces(emulate: Emulate, options = {}, bytes = 0, classify = async (): Promise<readonly never[]> => []) {
  const clock = new FakeClock();
  const events: LiveEvent[] = [];
  const requests: TraceRequest[] = [];
  let seqno: { seqno: number; mc_seqno: number } | null = null;
  const reads = { count: 0 };
  const setSeqno = (next: typeof seqno) => {
    seqno = next;
  };
  const traces = new PendingTraces(options, {
    emulation: {
      emulateTrace: async (request): Promise<EmulatedTrace> => {
        requests.push(request);
        const transactions = emulate(request.message);
        if (transactions === null) throw contractsErrors['no-workchain']({ workchain: 7, block: 'none' });
        const emulated = transactions.map((each) => ({ ...each, before: NO_STATE, after: NO_STATE }));
        const facts = { mc_seqno: 1, global_version: 13, rand_seed: new Uint8Array(32), bytes, is_incomplete: false };
        return { message: request.message, transactions: emulated, ...facts };
      },
    },
    classification: { classify },
    wallets: {
      read: async () => {
        reads.count++;
        return seqno;
      },
    },
    newestSeqno: () => 1,
    clock,
    unixTimeMs: () => 1_000,
    logger: silentLogger,
  });
  traces.subscribe((event) => events.push(event));
  traces.start();
  return { traces, clock, events, requests, setSeqno, reads };
}

/** What came of each trace, in order. */
function story(events: readonly LiveEvent[]): string[] {
  return events.map((event) => {
    if (event.kind === 'invalidated') return `invalidated ${event.invalidation.reason}`;
    const { transactions, finality } = event.trace;
    return `${event.kind} ${finality}: ${transactions.map((each) => each.finality[0]).join('')}`;
  });
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const statusOf = (traces: PendingTraces, { cell }: ExternalInMessage) => {
  const status = traces.status(cell.hash());
  return status?.kind === 'live' ? status.stage : (status?.invalidation.reason ?? null);
};
const touchesNothing = { mc_seqno: 2, gen_utime: 0, touches: () => false };

/** A wallet sends to another account, which answers with an excess. */
function transfer(message: Cell, lt: bigint, mc_seqno = 1) {
  const root = liveTransaction(message, [{ to: 2, body: 5 }], { lt, mc_seqno });
  const [sent] = messagesOf(root.cell).sent;
  const second = liveTransaction(sent!, [{ to: 1, body: 9 }], { lt: lt + 10n, mc_seqno });
  const [excess] = messagesOf(second.cell).sent;
  return [root, second, liveTransaction(excess!, [], { lt: lt + 20n, mc_seqno })] as const;
}

const real = (each: LiveTransaction, finality: 'confirmed' | 'finalized' = 'finalized') => ({ ...each, finality });

describe('live traces', () => {
  it('are emulated at once, and final when all their transactions are in blocks', async () => {
    const message = externalTo(1, 77);
    const { traces, events } = startTraces((cell) => transfer(cell, 1_000n));
    expect(traces.submit(message, 'sent')).toBe(true);
    expect(statusOf(traces, message)).toBe('accepted');
    await settled();
    expect(statusOf(traces, message)).toBe('pending');
    expect(traces.find(message.cell.hash())?.trace_id).toBeNull();
    const block = transfer(message.cell, 5_000n, 7).map((each) => real(each));
    expect(traces.awaitedAmong([hashKey(message.cell.hash())])).toEqual([message.cell.hash()]);
    traces.apply(block);
    await settled();
    expect(statusOf(traces, message)).toBe('finalized');
    expect(traces.find(message.cell.hash())?.trace_id).toEqual(block[0]!.cell.hash());
    expect(traces.find(block[0]!.cell.hash())).toBe(traces.find(message.cell.hash()));
    expect(story(events)).toEqual([
      'transactions pending: ppp',
      'actions pending: ppp',
      'transactions finalized: fff',
      'actions finalized: fff',
    ]);
    expect(traces.isIdle).toBe(true);
    await traces.close();
  });

  it('keep what was emulated below a transaction in a block, for the message that it really sent', async () => {
    const message = externalTo(1, 77);
    const { traces, requests } = startTraces((cell) => transfer(cell, 1_000n));
    traces.submit(message, 'sent');
    await settled();
    const block = transfer(message.cell, 5_000n, 7);
    traces.apply([real(block[0])]);
    await settled();
    const { transactions, finality } = traces.find(message.cell.hash())!;
    expect(transactions.map((each) => each.finality)).toEqual(['finalized', 'pending', 'pending']);
    expect(finality).toBe('pending');
    const [sent] = messagesOf(transactions[0]!.cell).sent;
    expect(messagesOf(transactions[1]!.cell).in_msg?.hash()).toEqual(sent!.hash());
    expect(requests).toHaveLength(1);
    traces.apply([real(block[1]), real(block[2])]);
    expect(traces.find(message.cell.hash())!.transactions.map(({ cell }) => cell.hash())).toEqual(
      block.map(({ cell }) => cell.hash()),
    );
    await traces.close();
  });

  it('emulate what follows from a message that nobody expected', async () => {
    const message = externalTo(1, 77);
    const { traces, requests, events } = startTraces((cell) =>
      requests.length === 1
        ? [liveTransaction(cell, [{ to: 3, body: 1 }], { lt: 1_000n })]
        : [liveTransaction(cell, [], { lt: 9_000n })],
    );
    traces.submit(message, 'sent');
    await settled();
    const [root] = transfer(message.cell, 5_000n, 7);
    traces.apply([real(root)]);
    expect(traces.find(message.cell.hash())!.finality).toBe('pending');
    await settled();
    await settled();
    expect(requests[1]!.message.hash()).toEqual(messagesOf(root.cell).sent[0]!.hash());
    expect(story(events).at(-1)).toBe('actions pending: fp');
    await traces.close();
  });

  it('say that what was emulated below a transaction will not come, before what comes instead', async () => {
    const message = externalTo(1, 77);
    const { traces, events } = startTraces((cell) => transfer(cell, 1_000n));
    traces.submit(message, 'sent');
    await settled();
    traces.apply([real(liveTransaction(message.cell, [], { lt: 5_000n, mc_seqno: 7 }))]);
    await settled();
    expect(story(events).slice(2)).toEqual([
      'invalidated mispredicted',
      'transactions finalized: f',
      'actions finalized: f',
    ]);
    expect(statusOf(traces, message)).toBe('finalized');
    expect(traces.metrics().invalidated.mispredicted).toBe(1);
    await traces.close();
  });

  it('go from confirmed to final, and never back', async () => {
    const message = externalTo(1, 77);
    const { traces, events } = startTraces((cell) => transfer(cell, 1_000n));
    traces.submit(message, 'sent');
    await settled();
    const block = transfer(message.cell, 5_000n, 7);
    traces.apply(block.map((each) => real(each, 'confirmed')));
    traces.apply(block.map((each) => real(each)));
    traces.apply(block.map((each) => real(each, 'confirmed')));
    traces.apply(block.map((each) => real(each)));
    await settled();
    expect(story(events).filter((each) => each.startsWith('transactions'))).toEqual([
      'transactions pending: ppp',
      'transactions confirmed: ccc',
      'transactions finalized: fff',
    ]);
    await traces.close();
  });

  it('give a confirmed transaction up for the one of the block that took its place', async () => {
    const message = externalTo(1, 77);
    const { traces } = startTraces((cell) => transfer(cell, 1_000n));
    traces.submit(message, 'sent');
    await settled();
    traces.apply(transfer(message.cell, 5_000n, 7).map((each) => real(each, 'confirmed')));
    const other = transfer(message.cell, 6_000n, 8);
    traces.apply(other.map((each) => real(each)));
    const { transactions, finality } = traces.find(message.cell.hash())!;
    expect(finality).toBe('finalized');
    expect(transactions.map(({ cell }) => cell.hash())).toEqual(other.map(({ cell }) => cell.hash()));
    await traces.close();
  });

  it('find a block before the emulation ends', async () => {
    const message = externalTo(1, 77);
    const { traces, events } = startTraces((cell) => transfer(cell, 1_000n));
    traces.submit(message, 'sent');
    traces.apply(transfer(message.cell, 5_000n, 7).map((each) => real(each)));
    await settled();
    expect(story(events)).toEqual(['transactions finalized: fff', 'actions finalized: fff']);
    await traces.close();
  });

  it('take a message once, in whatever form it is stored', async () => {
    const message = externalTo(1, 77);
    const { traces, requests } = startTraces((cell) => transfer(cell, 1_000n));
    for (const origin of ['sent', 'pooled', 'shared', 'channel'] as const) {
      expect(traces.submit(message, origin)).toBe(true);
    }
    await settled();
    expect(requests).toHaveLength(1);
    expect(traces.find(normalizedExternalHash(message.message))).toBe(traces.find(message.cell.hash()));
    await traces.close();
  });

  it('are replaced when the wallet has a higher seqno, but not before its block was read', async () => {
    const { traces, events, setSeqno } = startTraces((cell) => transfer(cell, 1_000n));
    const message = externalTo(1, 77);
    traces.submit(message, 'sent');
    await settled();
    setSeqno({ seqno: 5, mc_seqno: 4 });
    // The destination is no wallet of a known version, so that its seqno says nothing.
    traces.applied({ mc_seqno: 9, gen_utime: 0, touches: () => true });
    await settled();
    traces.applied({ mc_seqno: 10, gen_utime: 0, touches: () => true });
    expect(story(events).some((each) => each.startsWith('invalidated'))).toBe(false);
    await traces.close();
  });

  it('to a wallet are replaced together, after one read of it', async () => {
    const wallet = signingWallet('wallet_v3r2', { seqno: 0, wallet_id: 9 });
    const { traces, setSeqno, reads } = startTraces((cell) => [liveTransaction(cell, [], { lt: 1_000n })]);
    const messages = [1, 2, 3].map((valid_until) => {
      const cell = wallet.message({ seqno: 0, wallet_id: 9, valid_until: 5_000 + valid_until }, { init: wallet.init });
      return readExternalInMessage(cell, serializeBoc(cell));
    });
    for (const message of messages) traces.submit(message, 'sent');
    await settled();
    setSeqno({ seqno: 1, mc_seqno: 4 });
    traces.applied({ mc_seqno: 3, gen_utime: 0, touches: () => true });
    await settled();
    expect([reads.count, ...messages.map((message) => statusOf(traces, message))]).toEqual([
      1,
      ...messages.map(() => 'pending'),
    ]);
    traces.applied({ mc_seqno: 4, gen_utime: 0, touches: () => true });
    expect(messages.map((message) => statusOf(traces, message))).toEqual(messages.map(() => 'replaced'));
    await traces.close();
  });

  it('are dropped when no block takes them for longer than nodes keep them', async () => {
    const message = externalTo(1, 77);
    const { traces, events, clock } = startTraces((cell) => transfer(cell, 1_000n), { lifetimeMs: 10_000 });
    traces.submit(message, 'sent');
    await settled();
    clock.advance(9_000);
    expect(statusOf(traces, message)).toBe('pending');
    clock.advance(2_000);
    expect(statusOf(traces, message)).toBe('dropped');
    expect(story(events).at(-1)).toBe('invalidated dropped');
    expect(traces.ofAccounts([liveAccount(1)], 10)).toEqual([]);
    await traces.close();
  });

  it('are not dropped before they were looked for in the blocks of their time', async () => {
    const message = externalTo(1, 77);
    const { traces, clock } = startTraces((cell) => transfer(cell, 1_000n), { lifetimeMs: 10_000 });
    traces.submit(message, 'sent');
    await settled();
    traces.applied({ ...touchesNothing, mc_seqno: 0 });
    clock.advance(20_000);
    expect(statusOf(traces, message)).toBe('pending');
    traces.applied({ ...touchesNothing, mc_seqno: 1 });
    clock.advance(1_000);
    expect(statusOf(traces, message)).toBe('dropped');
    await traces.close();
  });

  it('have no actions any more once it was said that they will not come', async () => {
    let classified = (): void => {};
    const classify = () => new Promise<readonly never[]>((resolve) => (classified = () => resolve([])));
    const { traces, events, clock } = startTraces(
      (cell) => transfer(cell, 1_000n),
      { lifetimeMs: 10_000 },
      0,
      classify,
    );
    traces.submit(externalTo(1, 77), 'sent');
    await settled();
    clock.advance(11_000);
    classified();
    await settled();
    expect(story(events)).toEqual(['transactions pending: ppp', 'invalidated dropped']);
    await traces.close();
  });

  it('stay until the index has their actions', async () => {
    const message = externalTo(1, 77);
    const { traces, clock } = startTraces((cell) => transfer(cell, 1_000n));
    traces.submit(message, 'sent');
    const block = transfer(message.cell, 5_000n, 7).map((each) => real(each));
    traces.apply(block);
    await settled();
    clock.advance(5_000);
    expect(traces.ofAccounts([liveAccount(2)], 10)).toHaveLength(1);
    traces.indexed(block[0]!.cell.hash());
    clock.advance(3_000);
    expect(traces.ofAccounts([liveAccount(2)], 10)).toEqual([]);
    expect(traces.metrics()).toMatchObject({ traces: 0, transactions: 0 });
    await traces.close();
  });

  it('of a message that no node has checked are not shown when the contract refuses it', async () => {
    const message = externalTo(1, 77);
    const { traces, events } = startTraces(() => null);
    traces.submit(message, 'sent');
    await settled();
    expect(statusOf(traces, message)).toBe('accepted');
    expect(events).toEqual([]);
    traces.applied({ ...touchesNothing });
    expect(statusOf(traces, message)).toBe('accepted');
    await traces.close();
  });

  it('are bounded: for each account, and in all', async () => {
    const { traces, events } = startTraces((cell) => transfer(cell, 1_000n), { mostTraces: 3, mostOfAccount: 2 });
    const all = [1, 2, 3, 4].map((body) => externalTo(body, body));
    for (const message of all) {
      traces.submit(message, 'sent');
      await settled();
    }
    expect(traces.metrics().traces).toBe(3);
    expect(story(events).filter((each) => each.startsWith('invalidated'))).toEqual(['invalidated dropped']);
    expect([5, 6, 7].map((body) => traces.submit(externalTo(9, body), 'sent'))).toEqual([true, true, false]);
    await traces.close();
  });

  it('are bounded when nothing can be emulated, too', async () => {
    const { traces } = startTraces(() => null, { mostTraces: 3 });
    for (let body = 1; body <= 10; body++) traces.submit(externalTo(body, body), 'sent');
    expect(traces.metrics().traces).toBe(3);
    await traces.close();
  });

  it('of other messages that reach an account do not keep its own out', async () => {
    const { traces } = startTraces((cell) => transfer(cell, 1_000n), { mostOfAccount: 2 });
    for (const from of [5, 6, 7]) traces.submit(externalTo(from, from), 'sent');
    await settled();
    expect(traces.ofAccounts([liveAccount(2)], 10)).toHaveLength(3);
    expect(traces.submit(externalTo(2, 1), 'sent')).toBe(true);
    await traces.close();
  });

  it('are bounded by the memory of the states that emulations keep', async () => {
    const { traces, events } = startTraces((cell) => transfer(cell, 1_000n), { mostBytes: 2 ** 20 }, 400_000);
    for (const account of [1, 2, 3]) {
      traces.submit(externalTo(account, account), 'sent');
      await settled();
    }
    expect(traces.metrics()).toMatchObject({ traces: 2, bytes: 800_000 });
    expect(story(events).filter((each) => each.startsWith('invalidated'))).toEqual(['invalidated dropped']);
    await traces.close();
  });

  it('wake those who watch a message, also one that only a block has', async () => {
    const message = externalTo(1, 77);
    const other = externalTo(1, 78);
    const { traces } = startTraces((cell) => transfer(cell, 1_000n));
    const woken: string[] = [];
    const unwatch = traces.watch(message.cell.hash(), () => woken.push('own'));
    traces.watch(other.cell.hash(), () => woken.push('other'));
    traces.submit(message, 'sent');
    traces.touched([hashKey(other.cell.hash())]);
    expect(woken).toEqual(['own', 'other']);
    unwatch();
    await settled();
    expect(woken).toEqual(['own', 'other']);
    await traces.close();
  });

  it('wake those who watch a message when nothing more is known here than in the index', async () => {
    const message = externalTo(1, 77);
    const { traces, clock } = startTraces((cell) => transfer(cell, 1_000n), { restMs: 10_000 });
    traces.submit(message, 'sent');
    await settled();
    const [root] = transfer(message.cell, 5_000n, 7);
    traces.apply([real(root)]);
    await settled();
    const seen: (string | null)[] = [];
    for (const hash of [message.cell.hash(), normalizedExternalHash(message.message), root.cell.hash()])
      traces.watch(hash, () => seen.push(statusOf(traces, message)));
    clock.advance(11_000);
    expect(seen).toEqual(seen.map(() => null));
    expect(seen.length).toBeGreaterThanOrEqual(2);
    await traces.close();
  });
});

describe('while no message is pending', () => {
  it('nothing is scheduled, and the first message is announced once', async () => {
    const { traces, clock } = startTraces(() => null);
    let awaited = 0;
    traces.onAwaited(() => awaited++);
    expect(clock.pending).toBe(0);
    traces.submit(externalTo(1, 7), 'sent');
    traces.submit(externalTo(2, 7), 'sent');
    expect(awaited).toBe(1);
    expect(clock.pending).toBe(1);
    await traces.close();
    expect(clock.pending).toBe(0);
  });
});

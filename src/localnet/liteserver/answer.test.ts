import { describe, expect, it } from 'vitest';
import { decodeBoxed, encodeBoxed } from '#formats/tl/constructor.js';
import {
  LiteServerError,
  LiteServerGetMasterchainInfo,
  LiteServerGetTime,
  LiteServerMasterchainInfo,
  LiteServerQuery,
  LiteServerWaitMasterchainSeqno,
} from '#formats/tl/lite-api.js';
import { encodeLiteQuery } from '#formats/tl/lite-query.js';
import { answerLiteQuery, type LiteModules } from '#localnet/liteserver/answer.js';
import type { ReplayLedger } from '#localnet/replay/replay-ledger.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { contextOf, genesisLedger } from '#test/support/genesis-ledger.js';

const time = encodeBoxed(LiteServerGetTime, {});

function query(data: Uint8Array): Uint8Array {
  return encodeBoxed(LiteServerQuery, { data });
}

function modulesOf(ledger: ReplayLedger, clock = new FakeClock()): LiteModules & { readonly clock: FakeClock } {
  return { ...contextOf(ledger), clock };
}

/** The error's code, or the seqno of the head that is answered. */
async function outcome(answer: Promise<Uint8Array | null>): Promise<string> {
  const bytes = await answer;
  if (bytes === null) return 'no answer';
  const { name, value } = decodeBoxed(bytes, LiteServerError, LiteServerMasterchainInfo);
  return name === 'liteServer.error' ? `error ${value.code}` : `head ${value.last.seqno}`;
}

describe('what is no proper query', () => {
  const modules = modulesOf(genesisLedger());

  it('gets no answer without liteServer.query around it', async () => {
    expect(await answerLiteQuery(time, modules)).toBeNull();
    expect(await answerLiteQuery(new Uint8Array(), modules)).toBeNull();
  });

  it.each([
    ['nothing', new Uint8Array(), 'error 0'],
    ['an unknown function', Uint8Array.of(0xef, 0xbe, 0xad, 0xde), 'error 0'],
    ['a function cut off', encodeBoxed(LiteServerGetMasterchainInfo, {}).subarray(0, 3), 'error 0'],
    ['a function and more', new Uint8Array([...time, 0, 0, 0, 0]), 'error 0'],
    ['a query in a query', query(time), 'error 621'],
  ])('gets an error: %s', async (_, data, expected) => {
    expect(await outcome(answerLiteQuery(query(data), modules))).toBe(expected);
  });
});

describe('a wait for a masterchain block', () => {
  function waitFor(seqno: number, timeout_ms: number, modules: LiteModules, signal?: AbortSignal): Promise<string> {
    const wait = encodeLiteQuery(LiteServerGetMasterchainInfo, {}, { seqno, timeout_ms });
    return outcome(answerLiteQuery(wait, modules, signal));
  }

  it('is over at once when the block is there', async () => {
    const modules = modulesOf(genesisLedger());
    expect(await waitFor(9, 0, modules)).toBe('head 9');
    expect(await waitFor(0, -5, modules)).toBe('head 9');
  });

  it('ends with the block, and not with one before it', async () => {
    const ledger = genesisLedger(3);
    const modules = modulesOf(ledger);
    const answer = waitFor(6, 5_000, modules);
    ledger.advanceTo(5);
    expect(modules.clock.pending).toBe(1);
    ledger.advanceTo(6);
    expect(await answer).toBe('head 6');
    expect(modules.clock.pending).toBe(0);
  });

  it('ends with its time, which is 10 s at most', async () => {
    const modules = modulesOf(genesisLedger());
    const answers = [waitFor(10, 400, modules), waitFor(10, 2 ** 31 - 1, modules)];
    modules.clock.advance(399);
    expect(modules.clock.pending).toBe(2);
    modules.clock.advance(1);
    expect(await answers[0]).toBe('error 652');
    modules.clock.advance(9_600);
    expect(await answers[1]).toBe('error 652');
  });

  it('ends before the call is decoded: alone it ends with the error of an empty call, as in a node', async () => {
    const ledger = genesisLedger(3);
    const modules = modulesOf(ledger);
    const alone = (seqno: number) =>
      encodeBoxed(LiteServerQuery, { data: encodeBoxed(LiteServerWaitMasterchainSeqno, { seqno, timeout_ms: 400 }) });
    let isOver = false;
    const answer = outcome(answerLiteQuery(alone(6), modules)).finally(() => {
      isOver = true;
    });
    ledger.advanceTo(5);
    await Promise.resolve();
    expect([isOver, modules.clock.pending]).toEqual([false, 1]);
    ledger.advanceTo(6);
    expect(await answer).toBe('error 0');
    const late = outcome(answerLiteQuery(alone(7), modules));
    modules.clock.advance(400);
    expect(await late).toBe('error 652');
  });

  it('is refused for a block too far away', async () => {
    const modules = modulesOf(genesisLedger());
    expect(await waitFor(110, 1_000, modules)).toBe('error 651');
    expect(await waitFor(-1, 1_000, modules)).toBe('error 651');
    expect(modules.clock.pending).toBe(0);
  });

  it('leaves nothing behind when the client goes', async () => {
    const modules = modulesOf(genesisLedger());
    const gone = new AbortController();
    const answer = waitFor(10, 5_000, modules, gone.signal);
    expect(modules.clock.pending).toBe(1);
    gone.abort();
    expect(modules.clock.pending).toBe(0);
    expect(await answer).toBe('error 652');
    expect(await waitFor(10, 5_000, modules, gone.signal)).toBe('error 652');
  });
});

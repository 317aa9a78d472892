import { beforeEach, describe, expect, it } from 'vitest';
import { RunHistory, type RunSubject } from '#drivers/tvm/run-history.js';
import { FakeClock } from '#test/support/fake-clock.js';

let clock: FakeClock;
let history: RunHistory<string>;

const SLOW = true;
const QUICK = false;

beforeEach(() => {
  clock = new FakeClock();
  history = new RunHistory({ rememberMs: 300_000, endedCpuMs: 3_000 }, clock);
});

/** `seqno:1`: method, and what makes the run another one. */
function subject(name: string, client = 'a'): RunSubject {
  return { method: name.split(':')[0]!, exact: () => name, client };
}

function ended(of: RunSubject, isSlow: boolean, limit: 'gas' | 'time' | null, result: string | null): void {
  history.ended(of, { cpuMs: 1, isSlow, isNoted: false, limit, result });
}

describe('the lane of a run', () => {
  it('is that of its method: fresh, then known', () => {
    expect(history.laneOf(subject('m:1'))).toBe('fresh');
    ended(subject('m:1'), QUICK, null, null);
    expect(history.laneOf(subject('m:2', 'b'))).toBe('known');
  });

  it('is the slow one for the same run as a slow one, and for the method after several', () => {
    for (let i = 0; i < 20; i++) ended(subject(`m:${i}`), QUICK, null, null);
    ended(subject('m:slow'), SLOW, null, null);
    expect(history.laneOf(subject('m:slow', 'b'))).toBe('slow');
    expect(history.laneOf(subject('m:1', 'b'))).toBe('known');
    for (const each of ['x', 'y']) ended(subject(`m:${each}`, each), SLOW, null, null);
    expect(history.laneOf(subject('m:1', 'b'))).toBe('slow');
    for (let i = 0; i < 20; i++) ended(subject(`m:${i}`), QUICK, null, null);
    expect(history.laneOf(subject('m:1', 'b'))).toBe('known');
  });

  it('of a client with slow runs is the slow one, unless runs of the method are always quick', () => {
    ended(subject('wallet:1', 'b'), QUICK, null, null);
    for (const each of ['x:1', 'y:1']) ended(subject(each), SLOW, 'gas', '-14');
    expect(history.laneOf(subject('new:1'))).toBe('slow');
    expect(history.laneOf(subject('new:1', 'b'))).toBe('fresh');
    expect(history.laneOf(subject('wallet:2'))).toBe('known');
    clock.advance(60_000);
    expect(history.laneOf(subject('new:1'))).toBe('fresh');
  });

  it('of a client is the slow one as soon as two of its runs turned out to be slow, before they end', () => {
    history.demoted('a');
    expect(history.laneOf(subject('new:1'))).toBe('fresh');
    history.demoted('a');
    expect(history.laneOf(subject('new:1'))).toBe('slow');
    // A run counts once.
    history.demoted('b');
    history.ended(subject('m:1', 'b'), { cpuMs: 1, isSlow: true, isNoted: true, limit: 'time', result: null });
    expect(history.laneOf(subject('new:1', 'b'))).toBe('fresh');
  });
});

describe('CPU time of runs that did not end by themselves', () => {
  const out = { cpuMs: 500, isSlow: true, isNoted: false, limit: 'time', result: null } as const;

  it('is limited for each client, and forgiven at a constant rate', () => {
    for (let i = 0; i < 6; i++) {
      expect(history.refusedForMs(subject(`n${i}:1`))).toBe(0);
      history.ended(subject(`n${i}:1`), out);
    }
    expect(history.refusedForMs(subject('n6:1'))).toBe(0);
    history.ended(subject('n6:1'), out);
    // 3 s in a minute are 50 ms in a second.
    expect(history.refusedForMs(subject('new:1'))).toBe(10_000);
    expect(history.refusedForMs(subject('new:1', 'b'))).toBe(0);
    clock.advance(4_000);
    expect(history.refusedForMs(subject('new:1'))).toBe(6_000);
    clock.advance(6_001);
    expect(history.refusedForMs(subject('new:1'))).toBe(0);
  });

  it('does not keep a client from methods that are known to be quick', () => {
    ended(subject('wallet:1', 'b'), QUICK, null, null);
    for (let i = 0; i < 8; i++) history.ended(subject(`n${i}:1`), out);
    expect(history.refusedForMs(subject('wallet:2'))).toBe(0);
    expect(history.refusedForMs(subject('n1:2'))).toBeGreaterThan(0);
  });

  it('counts what a client did not wait for, but not what ended by itself, nor runs for nobody', () => {
    for (let i = 0; i < 8; i++) {
      history.left('leaver', { cpuMs: 500, isNoted: false });
      ended(subject(`m${i}:1`, 'patient'), SLOW, null, null);
      history.ended(subject(`k${i}:1`, ''), out);
    }
    expect(history.refusedForMs(subject('new:1', 'leaver'))).toBe(20_000);
    expect(history.refusedForMs(subject('new:1', 'patient'))).toBe(0);
    expect(history.refusedForMs(subject('new:1', ''))).toBe(0);
  });
});

describe('memory', () => {
  it('recalls the same run until it is forgotten, for every client', () => {
    ended(subject('m:1'), SLOW, 'gas', '-14');
    clock.advance(1_000);
    const recalled = history.recall(subject('m:1', 'b'));
    expect(recalled).toMatchObject({ isExact: true, forgottenInMs: 299_000, ranOut: { limit: 'gas', result: '-14' } });
    expect(history.recall(subject('m:2', 'b'))).toBeNull();
    clock.advance(299_000);
    expect(history.recall(subject('m:1'))).toBeNull();
  });

  it('does not recall what ended by itself, nor what a limit ended quickly', () => {
    ended(subject('m:1'), SLOW, null, null);
    ended(subject('n:1'), QUICK, 'gas', '-14');
    expect(history.recall(subject('m:1'))).toBeNull();
    expect(history.recall(subject('n:1'))).toBeNull();
  });

  it('recalls by code what several accounts did, but not to clients who did nothing slow', () => {
    for (const each of ['m:1', 'm:2', 'm:3']) ended(subject(each), SLOW, 'time', null);
    expect(history.recall(subject('m:4'))).toMatchObject({ isExact: false, ranOut: { limit: 'time' } });
    expect(history.recall(subject('m:4', 'b'))).toBeNull();
    ended(subject('m:5', 'b'), QUICK, null, null);
    expect(history.recall(subject('m:4'))).toBeNull();
  });

  it('is bounded', () => {
    for (let i = 0; i < 20_000; i++) ended(subject(`${i}:1`, `c${i}`), SLOW, 'gas', '-14');
    expect(history.recall(subject('0:1'))).toBeNull();
    expect(history.recall(subject('19999:1'))).not.toBeNull();
  });
});

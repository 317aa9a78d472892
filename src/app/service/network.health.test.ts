import { describe, expect, it } from 'vitest';
import { networkHealth } from '#app/service/network.js';
import type { PoolMetrics, ServerMetrics } from '#drivers/lite/metrics.js';

const server = (name: string, state: ServerMetrics['state'], reason = '') => ({ server: name, state, reason });
const healthy = server('1.1.1.1:1', 'healthy');

/** Health of a network with these servers, a head made at second 100 unless told, looked at in second 160. */
function health(servers: readonly object[], over: Partial<Parameters<typeof networkHealth>[0]> = {}) {
  return networkHealth({
    pool: { servers } as unknown as PoolMetrics,
    watch: { head: { seqno: 7, gen_utime: 100 }, problem: null },
    unixTimeMs: 160_000,
    maxHeadAgeMs: 0,
    details: { get_methods: 'auto' },
    ...over,
  });
}

describe('a network', () => {
  it('is ready with a healthy server and a proven head', () => {
    expect(health([healthy, server('2.2.2.2:2', 'failing', 'refused')])).toEqual({
      ready: true,
      problem: null,
      headSeqno: 7,
      headAgeMs: 60_000,
      details: { servers: 2, healthy_servers: 1, get_methods: 'auto' },
    });
  });

  it('is not without a server, and says how many are how, without their addresses', () => {
    const servers = [
      server('1.1.1.1:1', 'failing', 'connect ECONNREFUSED 1.1.1.1:1'),
      server('2.2.2.2:2', 'connecting'),
      server('3.3.3.3:3', 'failing', 'connect ECONNREFUSED 3.3.3.3:3'),
      server('[2001:db8::1]:4', 'failing', 'cannot connect to [2001:db8::1]:4: ETIMEDOUT'),
    ];
    expect(health(servers)).toMatchObject({
      ready: false,
      problem:
        'no liteserver of 4 is available: 2 failing (connect ECONNREFUSED); 1 connecting; 1 failing (cannot connect: ETIMEDOUT)',
    });
  });

  it('is not without a proof of the head, and says why there is none', () => {
    const watch = { head: null, problem: 'lite/unanswered: nobody' };
    expect(health([healthy], { watch })).toMatchObject({
      ready: false,
      problem: 'the newest block cannot be proven: lite/unanswered: nobody',
      headSeqno: 0,
    });
    expect(health([healthy], { watch: { head: null, problem: null } }).problem).toMatch(/not proven yet/);
    const stuck = { head: { seqno: 7, gen_utime: 100 }, problem: 'lite/unanswered: nobody' };
    expect(health([healthy], { watch: stuck })).toMatchObject({ ready: false, headSeqno: 7 });
  });

  it('is not with an old head, where the age of the head counts', () => {
    expect(health([healthy], { maxHeadAgeMs: 60_000 }).ready).toBe(true);
    expect(health([healthy], { maxHeadAgeMs: 59_000 })).toMatchObject({
      ready: false,
      problem: 'the newest block, 7, is 60 s old',
    });
    const watch = { head: { seqno: 0, gen_utime: null }, problem: null };
    expect(health([healthy], { maxHeadAgeMs: 1_000, watch }).ready).toBe(false);
    expect(health([healthy], { watch })).toMatchObject({ ready: true, headAgeMs: null });
  });

  it('does not count the future as an age', () => {
    expect(health([healthy], { unixTimeMs: 0, maxHeadAgeMs: 1 })).toMatchObject({ ready: true, headAgeMs: 0 });
  });

  it('does not report more servers than a page holds', () => {
    const many = Array.from({ length: 500 }, (_, i) => server(`10.0.0.1:${i}`, 'failing', 'connect ECONNREFUSED'));
    expect(health(many).problem!.length).toBeLessThan(2_100);
  });
});

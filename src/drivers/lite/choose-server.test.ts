import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type Candidate,
  chooseServer,
  type ServerRequirement,
  Tier,
  tierOf,
  waitFor,
} from '#drivers/lite/choose-server.js';
import type { ServerSlice } from '#drivers/lite/global-config.js';
import type { Need } from '#drivers/lite/lite-source.js';
import { checkPoolSettings } from '#drivers/lite/options.js';
import { LiteServer } from '#drivers/lite/server.js';
import { Random } from '#test/fuzz/random.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { fakeBlockId } from '#test/support/fake-liteserver.js';

const WHOLE = { workchain: 0, shard: 1n << 63n };

/** A server that is connected and has said that this is its newest block. */
function serverAt(seqno: number, slices: readonly ServerSlice[] | null = null): LiteServer {
  const clock = new FakeClock(1_000);
  const address = { host: 'h', port: 1, publicKey: new Uint8Array(32), slices };
  const options = { servers: [address] };
  const modules = { clock, unixTimeMs: () => 0, random: () => 0.5, randomBytes };
  const server = new LiteServer(address, options, checkPoolSettings(options), modules, {
    onChange() {},
    onConnected() {},
  });
  server.health.connected();
  server.recordHead({ last: fakeBlockId(seqno), last_utime: 0, version: 1, capabilities: 0n });
  return server;
}

function tier(
  server: LiteServer,
  need: Need,
  rest: Partial<ServerRequirement> = {},
  headSeqno = server.seqno,
): number | null {
  return tierOf(server, { need, fn: 'f', waitSeqno: 0, ...rest }, { headSeqno, maxLag: 8 });
}

const state = (seqno: number): Need => ({ kind: 'state', seqno });
const block = (seqno: number): Need => ({ kind: 'block', seqno });
const HEAD: Need = { kind: 'head' };

describe('how well a server fits', () => {
  it('follows from what it has', () => {
    const server = serverAt(10_000);
    server.depth.noteAvailable('blocks', 2_000);
    server.depth.noteMissing('blocks', 1_000);
    server.depth.noteMissing('states', 9_000);
    const rows: [Need, number][] = [
      [HEAD, Tier.fits],
      [block(10_000), Tier.fits],
      [state(9_990), Tier.fits],
      [block(2_000), Tier.fits],
      [block(1_500), Tier.perhaps],
      [block(1_000), Tier.lacks],
      [state(9_500), Tier.perhaps],
      [state(9_000), Tier.lacks],
      [block(10_005), Tier.perhaps],
      [block(10_050), Tier.lacks],
      [{ kind: 'archive' }, Tier.lacks],
    ];
    for (const [need, expected] of rows) expect(tier(server, need), JSON.stringify(need)).toBe(expected);
  });

  it('follows from how it is', () => {
    const server = serverAt(100);
    expect(tier(server, HEAD, {}, 120)).toBe(Tier.lagging);
    expect(tier(server, block(90), {}, 120)).toBe(Tier.fits);
    expect(tier(server, HEAD, { waitSeqno: 150 })).toBe(Tier.perhaps);
    expect(tier(server, HEAD, { waitSeqno: 201 })).toBeNull();
    server.unsupported.add('old');
    expect(tier(server, HEAD, { fn: 'old' })).toBeNull();
    for (let i = 0; i < 3; i++) server.health.failed('no answer');
    expect(tier(server, HEAD)).toBe(Tier.failing);
    server.health.answered();
    server.quarantine('a lie');
    expect(tier(server, HEAD)).toBeNull();
    const gone = serverAt(100);
    gone.health.disconnected('cut');
    expect(tier(gone, HEAD)).toBeNull();
  });

  it('follows from the slices that its description names', () => {
    const endless = Number.POSITIVE_INFINITY;
    const old = serverAt(10_000, [{ range: { from: 1_000, to: 2_000 }, shards: [WHOLE] }]);
    old.depth.noteAvailable('blocks', 1);
    expect([tier(old, HEAD), tier(old, block(1_500)), tier(old, block(2_500))]).toEqual([
      Tier.lacks,
      Tier.fits,
      Tier.lacks,
    ]);
    const half = serverAt(10_000, [{ range: { from: 0, to: endless }, shards: [{ workchain: 0, shard: 1n << 62n }] }]);
    expect(tier(half, HEAD)).toBe(Tier.perhaps);
    const whole = serverAt(10_000, [{ range: { from: 0, to: endless }, shards: [WHOLE] }]);
    expect(tier(whole, HEAD)).toBe(Tier.fits);
  });

  it('says for which block it must be made to wait', () => {
    const server = serverAt(100);
    const wait = (need: Need, waitSeqno = 0) => waitFor(server, { need, fn: 'f', waitSeqno });
    expect([wait(HEAD), wait(HEAD, 105), wait(HEAD, 99), wait(block(103)), wait(block(100)), wait(state(150))]).toEqual(
      [0, 105, 0, 103, 0, 0],
    );
  });
});

describe('the choice', () => {
  const random = new Random('choice');
  const draw = () => random.uint32() / 2 ** 32;

  /** How often each is chosen. */
  function choices(candidates: readonly Candidate[], times = 1_000): number[] {
    const counts = candidates.map(() => 0);
    for (let i = 0; i < times; i++) {
      const chosen = chooseServer(candidates, draw);
      const index = candidates.findIndex(({ server }) => server === chosen);
      counts[index] = (counts[index] ?? 0) + 1;
    }
    return counts;
  }

  function answering(ms: number): LiteServer {
    const server = serverAt(100);
    server.statistics.answered('f', ms);
    return server;
  }

  it('is shared by those that are about as fast', () => {
    const [a = 0, b = 0, slow = 0] = choices([10, 12, 40].map((ms) => ({ server: answering(ms), tier: Tier.fits })));
    expect(slow).toBe(0);
    expect(a).toBeGreaterThan(b);
    expect(b).toBeGreaterThan(350);
  });

  it('falls on a lower tier only when there is no better one', () => {
    const slow = { server: answering(500), tier: Tier.fits };
    const fast = { server: answering(1), tier: Tier.perhaps };
    expect(choices([fast, slow], 20)).toEqual([0, 20]);
    expect(chooseServer([fast], draw)).toBe(fast.server);
    expect(chooseServer([], draw)).toBeNull();
  });

  it('avoids those that fail', () => {
    const failing = answering(10);
    for (let i = 0; i < 10; i++) failing.statistics.failed('-503');
    expect(choices([failing, answering(10)].map((server) => ({ server, tier: Tier.fits })))).toEqual([0, 1_000]);
  });
});

import { describe, expect, it } from 'vitest';
import { statusPage } from '#app/cli/lite.js';
import { LiteServerLookupBlock } from '#formats/tl/lite-api.js';
import { type FakeLiteserver, headerOf } from '#test/support/fake-liteserver.js';
import { PoolInMemory, seqnoRequest } from '#test/support/lite-pool.js';

describe('the status page', () => {
  it('says how each server is, and why those are not well that are not', async () => {
    const world = await new PoolInMemory(3, { depthRefreshMs: 60_000 }, ([first, second]) => {
      Object.assign(first as FakeLiteserver, { oldestBlock: 40, oldestState: 90 });
      (second as FakeLiteserver).on(LiteServerLookupBlock, () => headerOf(7));
    }).start();
    world.network.unreachable.add('s2');
    world.network.cut(world.servers[2] as FakeLiteserver);
    await world.pass(100);
    for (let i = 0; i < 8; i++) await world.after(10, world.pool.query(seqnoRequest(95)));
    const lines = statusPage(world.pool.metrics()).split('\n');
    expect(lines[0]).toBe('1 of 3 servers healthy, 2 archive servers, head 100');
    expect(lines[2]).toMatch(
      /^server +state +seqno +lag +mean +p95 +clock +version +blocks from +states from +errors$/,
    );
    expect(lines[3]).toMatch(/^s0:1 +healthy +100 +0 +1\.0 ms +1\.\d ms +0 s +1\.1\/15 +40 +90 +-$/);
    expect(lines[4]).toMatch(/^s1:1 +quarantined /);
    expect(lines[5]).toMatch(/^s2:1 +failing .* adnl\/connect/);
    const reasons = lines.slice(7).join('\n');
    expect(reasons).toMatch(/s1:1: liteServer\.lookupBlock: lite\/bad-answer: .* \(for \d+ s more\)/);
    expect(reasons).toContain('s2:1: cannot connect to s2:1: ECONNREFUSED');
  });
});

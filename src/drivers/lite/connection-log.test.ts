import { expect, it } from 'vitest';
import { ConnectionLog } from '#drivers/lite/connection-log.js';
import { liteErrors } from '#drivers/lite/errors.js';
import type { LogFields } from '#kernel/logger.js';
import { FakeClock } from '#test/support/fake-clock.js';

it('writes one line for all servers and attempts of an interval, and none when nothing failed', () => {
  const clock = new FakeClock();
  const lines: LogFields[] = [];
  const log = new ConnectionLog(18, {
    clock,
    logger: { info: (_, fields = {}) => void lines.push(fields), warn() {} },
  });
  const fail = (server: string) => log.note(server, liteErrors['not-connected']({ server, problem: 'refused' }));
  for (let second = 0; second < 60; second++) {
    for (let n = 0; n < 18; n++) fail(`192.0.2.${n}:4924`);
    clock.advance(1_000);
  }
  expect(lines).toHaveLength(2);
  expect(lines[0]).toEqual({
    ...{ failed_servers: 18, servers: 18, attempts: 36 },
    problems: 'lite/not-connected: 192.0.2.0:4924, 192.0.2.1:4924, 192.0.2.2:4924 and 15 more',
  });
  clock.advance(120_000);
  expect([lines.length, clock.pending]).toEqual([3, 0]);
  fail('192.0.2.1:4924');
  clock.advance(2_000);
  expect(lines[3]).toMatchObject({ failed_servers: 1, attempts: 1 });
  log.close();
  expect(clock.pending).toBe(0);
});

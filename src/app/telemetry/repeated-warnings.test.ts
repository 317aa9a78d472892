import { expect, it } from 'vitest';
import { withoutRepeats } from '#app/telemetry/repeated-warnings.js';
import type { LogFields } from '#kernel/logger.js';
import { FakeClock } from '#test/support/fake-clock.js';

function logged(intervalMs = 30_000) {
  const lines: Record<string, unknown>[] = [];
  let isClosed = false;
  const write = (level: string) => (message: string, fields?: LogFields) =>
    void lines.push({ level, message, ...fields });
  const clock = new FakeClock();
  const inner = {
    info: write('info'),
    warn: write('warn'),
    close: async () => {
      isClosed = true;
    },
  };
  return { lines, clock, logger: withoutRepeats(inner, intervalMs, clock), isClosed: () => isClosed };
}

/** A failed request, as the HTTP server logs it. */
const failure = (n: number, code = 'lite/unanswered', endpoint = 'getHead') => ({
  ...{ request: `id-${n}`, client: `10.0.0.${n % 200}`, method: 'GET', network: 'dev', api: '/api/v2', endpoint },
  ...{ key: null, profile: n % 2 === 0 ? 'spec' : 'toncenter', ms: n, status: 503, code, problem: `no answer ${n}` },
});

it('an outage is the first failure of each kind, and one line per interval', () => {
  const { lines, clock, logger } = logged();
  for (let n = 0; n < 1_000; n++) {
    logger.warn('request failed', failure(n));
    logger.warn('request failed', failure(n, 'store/unreachable', 'transactions'));
    clock.advance(35);
  }
  clock.advance(30_000);
  expect(lines.map(({ request, code, repeated }) => request ?? code ?? repeated)).toEqual(['id-0', 'id-0', 1_714, 284]);
  expect(lines[0]).toEqual({ level: 'warn', message: 'request failed', ...failure(0) });
  const kinds = 'lite/unanswered dev /api/v2 getHead: 857; store/unreachable dev /api/v2 transactions: 857';
  expect(lines[2]).toEqual({ level: 'warn', message: 'request failed', repeated: 1_714, seconds: 30, kinds });
  expect(JSON.stringify(lines).length).toBeLessThan(2_000);
});

it('what comes back after an interval without it is written in full', () => {
  const { lines, clock, logger } = logged();
  logger.warn('request failed', failure(1));
  clock.advance(30_000);
  logger.warn('request failed', failure(2));
  logger.warn('request failed', failure(3));
  clock.advance(90_000);
  logger.warn('request failed', failure(4));
  expect(lines.map(({ request, repeated }) => request ?? repeated)).toEqual(['id-1', 'id-2', 1, 'id-4']);
});

it('warnings with other texts are others; numbers do not count', () => {
  const { lines, logger } = logged();
  for (const server of ['a', 'b', 'a', 'b'])
    logger.warn('quarantined', { server, for_ms: lines.length, reason: 'lied' });
  logger.warn('lost', { problem: 'reset' });
  logger.warn('lost', { problem: 'timeout' });
  logger.warn('plain');
  logger.warn('plain');
  logger.info('plain', { n: 1 });
  logger.info('plain', { n: 1 });
  expect(lines.map(({ message, server, problem }) => [message, server ?? problem])).toEqual([
    ['quarantined', 'a'],
    ['quarantined', 'b'],
    ['lost', 'reset'],
    ['lost', 'timeout'],
    ['plain', undefined],
    ['plain', undefined],
    ['plain', undefined],
  ]);
});

it('any number of kinds is a bounded number of lines', () => {
  const { lines, clock, logger } = logged();
  for (let n = 0; n < 5_000; n++) logger.warn('lost', { problem: `port ${n}` });
  expect(lines).toHaveLength(20);
  clock.advance(30_000);
  expect(lines.slice(20)).toEqual([
    { level: 'warn', message: 'lost', repeated: 4_980, seconds: 30, kinds: 'others: 4980' },
  ]);
  clock.advance(30_000);
  expect(clock.pending).toBe(0);
});

it('what was not summed up yet is when it is closed', async () => {
  const { lines, clock, logger, isClosed } = logged();
  for (let n = 0; n < 3; n++) logger.warn('request failed', failure(n));
  await logger.close();
  expect(lines.map(({ repeated }) => repeated)).toEqual([undefined, 2]);
  expect([clock.pending, isClosed()]).toEqual([0, true]);
});

it('an interval of 0 writes every warning', () => {
  const { lines, logger } = logged(0);
  for (let n = 0; n < 3; n++) logger.warn('request failed', failure(n));
  expect(lines).toHaveLength(3);
});

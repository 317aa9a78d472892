import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { pinoLogger, textLogger } from '#app/telemetry/pino-logger.js';

const folder = mkdtempSync(join(tmpdir(), 'tern-log-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What a logger of this level writes. */
async function written(level: 'info' | 'warn' | 'silent'): Promise<Record<string, unknown>[]> {
  const file = join(folder, level);
  const logger = pinoLogger({ level, to: openSync(file, 'w') });
  logger.info('begun', { seqno: 7, lt: 2n ** 63n, ok: true, reason: null });
  logger.warn('broken', { reason: 'line\nbreak' });
  await logger.close();
  const text = readFileSync(file, 'utf8');
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
}

it('writes a line of JSON for each message, large numbers as text', async () => {
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const [info, warn] = await written('info');
  expect(info).toEqual({
    level: 'info',
    time,
    message: 'begun',
    seqno: 7,
    lt: '9223372036854775808',
    ok: true,
    reason: null,
  });
  expect(warn).toEqual({ level: 'warn', time, message: 'broken', reason: 'line\nbreak' });
});

it('leaves out what is below its level', async () => {
  expect((await written('warn')).map(({ message }) => message)).toEqual(['broken']);
  expect(await written('silent')).toEqual([]);
});

it('writes a line of text for each message to people', async () => {
  const file = join(folder, 'text');
  const logger = textLogger({ level: 'warn', to: openSync(file, 'w') });
  logger.info('not shown');
  logger.warn('broken', { url: 'http://a:1/b', reason: 'line\nbreak', lt: 2n ** 63n, ok: null });
  await logger.close();
  expect(readFileSync(file, 'utf8')).toMatch(
    /^\d\d:\d\d:\d\d warn {2}broken {2}url=http:\/\/a:1\/b {2}reason="line\\nbreak" {2}lt=9223372036854775808 {2}ok=null\n$/,
  );
});

import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ServedTern } from '#test/support/served-tern.js';
import { KeepAliveClient } from '../../bench/v2/keep-alive-client.js';
import type { Ground } from './run.js';

const tern = fileURLToPath(new URL('../../bin/tern.js', import.meta.url));
const PLAN = { name: 'loaded', requests_per_second: 50, burst: 50 };
/** Asking at the same time, each without a pause: far more than the plan allows. */
const WORKERS = 16;
const TOLERANCE = 0.02;
/** How soon a revoked key must be refused. */
const REVOKED_MS = 1_000;

/** A key asks for far more than its plan allows, then it is revoked. */
export async function loadLimits({ config, data, seconds, write }: Ground): Promise<boolean> {
  mkdirSync(data, { recursive: true });
  writeFileSync(join(data, 'plans.json'), JSON.stringify({ plans: [PLAN] }));
  const { id, key } = JSON.parse(await keys('create', '--plan', PLAN.name, '--data', data, '--json'));
  const flags = ['--listen', '127.0.0.1:0', '--data', data, '--access', 'keys'];
  const service = await ServedTern.start(['serve', '--network', config, ...flags]);
  const client = new KeepAliveClient(service.url, WORKERS, { 'x-api-key': key });
  try {
    const call = { path: '/api/v2/getMasterchainInfo' };
    const statuses = new Map<number, number>();
    const end = performance.now() + seconds * 1000;
    let hasBoth = true;
    const worker = async (): Promise<void> => {
      while (performance.now() < end) {
        const { status, text, retryAfter } = await client.ask(call);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === 429) {
          const { error, result } = JSON.parse(text) as { error?: string; result?: string };
          hasBoth &&= error !== undefined && result !== undefined && Number(retryAfter) >= 1;
          await delay(5);
        }
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, worker));
    const passed = statuses.get(200) ?? 0;
    const wanted = PLAN.requests_per_second * seconds + PLAN.burst;
    const off = passed / wanted - 1;
    write(`plan of ${PLAN.requests_per_second}/s, burst ${PLAN.burst}, ${seconds} s of overload: ${printed(statuses)}`);
    write(
      `${passed} passed of ${wanted}: ${(off * 100).toFixed(2)} %; 429 with error, result and Retry-After: ${hasBoth}`,
    );
    await keys('revoke', id, '--data', data);
    const revoked = performance.now();
    let refused: number | null = null;
    while (refused === null && performance.now() - revoked < 10 * REVOKED_MS) {
      if ((await client.ask(call)).status === 401) refused = performance.now() - revoked;
      else await delay(20);
    }
    write(
      `a revoked key is refused after ${refused === null ? 'no time that was waited' : `${refused.toFixed(0)} ms`}`,
    );
    const only = [...statuses.keys()].every((status) => status === 200 || status === 429);
    return only && hasBoth && Math.abs(off) <= TOLERANCE && refused !== null && refused <= REVOKED_MS;
  } finally {
    client.close();
    await service.close();
  }
}

async function keys(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [tern, 'keys', ...args]);
  return stdout;
}

function printed(statuses: ReadonlyMap<number, number>): string {
  return [...statuses].map(([status, count]) => `${status}: ${count}`).join(', ');
}

import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judge, type NastyRequest, nastyRequests, sendAll } from '#test/http/nasty-requests.js';
import { NASTY_TEXTS } from '#test/http/nasty-texts.js';
import { FULL } from '#test/support/full-depth.js';
import { ServedTern } from '#test/support/served-tern.js';

/** Of this many requests one is sent; `npm run fuzz:http` sends all. Prime, so that each parameter gets other texts. */
const STRIDE = FULL ? 31 : 97;

const DEV_CHAIN = join(import.meta.dirname, '../../vectors/dev-chain');
const away = mkdtempSync(join(tmpdir(), 'tern-nasty-'));
let tern: ServedTern;
beforeAll(async () => {
  tern = await ServedTern.start([
    'dev',
    '--profile',
    'spec',
    '--replay',
    DEV_CHAIN,
    '--index',
    'off',
    '--port',
    '0',
    '--data',
    join(away, 'data'),
  ]);
});
afterAll(async () => {
  await tern?.close();
  rmSync(away, { recursive: true, force: true });
});

function* sample(): Generator<NastyRequest> {
  let index = 0;
  for (const each of nastyRequests()) if (index++ % STRIDE === 0) yield each;
}

describe('tern dev', () => {
  it('answers a sample of nasty requests properly, and before clients give up', async () => {
    expect(new Set(NASTY_TEXTS).size).toBe(NASTY_TEXTS.length);
    expect(NASTY_TEXTS.length).toBeGreaterThanOrEqual(200);
    const { requests, failures } = await sendAll(`${tern.url}/api/v2`, sample());
    expect(failures).toEqual([]);
    expect(requests).toBeGreaterThan(FULL ? 2_000 : 650);
    const alive = await fetch(`${tern.url}/readyz`);
    expect(alive.status).toBe(200);
  });

  it('refuses verbs that it does not know', async () => {
    for (const method of ['TRACE', 'PROPFIND', 'QUERY', 'PURGE', 'M-SEARCH']) {
      expect(await statusOf(`${tern.url}/api/v2/getMasterchainInfo`, method), method).toBe(405);
    }
  });
});

it('judges what is not proper', async () => {
  const api = `${tern.url}/api/v2`;
  expect(await judge(api, { method: 'GET', path: 'getMasterchainInfo' })).toBeNull();
  expect(await judge(api, { method: 'GET', path: '' })).toMatch(/not valid JSON/);
  expect(await judge('http://127.0.0.1:1', { method: 'GET', path: 'getMasterchainInfo' })).toMatch(/^0 after/);
});

/** `fetch` refuses some verbs itself. */
function statusOf(url: string, method: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
    });
    sent.on('error', reject);
    sent.end();
  });
}

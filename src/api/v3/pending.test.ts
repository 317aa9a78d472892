import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpServer, startHttpServer } from '#api/http/server.js';
import { v3Context } from '#api/v3/context.js';
import { followRoute } from '#api/v3/follow.js';
import { v3Description } from '#api/v3/v3-api.js';
import { normalizedExternalHash } from '#formats/tlb/message.js';
import { toBase64, toHex } from '#kernel/bytes.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import type { LiveTransaction } from '#services/pending/live-trace.js';
import { MessageFollow } from '#services/pending/message-follow.js';
import { PendingTraces } from '#services/pending/pending-traces.js';
import { messagesOf } from '#services/pending/placed-trace.js';
import { openAccess } from '#test/support/fake-http-api.js';
import { FakeIndex } from '#test/support/fake-index.js';
import { externalTo, liveAccount, liveTransaction, NO_STATE } from '#test/support/live-cells.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

/** Messages to the account 1 are emulated as a transfer to the account 2. */
function transfer(message: Parameters<typeof liveTransaction>[0], lt: bigint): readonly LiveTransaction[] {
  const root = liveTransaction(message, [{ to: 2, body: 5 }], { lt });
  return [root, liveTransaction(messagesOf(root.cell).sent[0]!, [], { lt: lt + 10n })];
}

const traces = new PendingTraces(
  {},
  {
    emulation: {
      emulateTrace: async ({ message }) => {
        const transactions = transfer(message, 1_000n).map((each) => ({
          ...each,
          before: NO_STATE,
          after: NO_STATE,
        }));
        return {
          message,
          transactions,
          mc_seqno: 1,
          global_version: 13,
          rand_seed: new Uint8Array(32),
          bytes: 0,
          is_incomplete: false,
        };
      },
    },
    classification: { classify: async () => [] },
    wallets: { read: async () => null },
    newestSeqno: () => 1,
    clock: systemClock,
    unixTimeMs: Date.now,
    logger: silentLogger,
  },
);
let server: HttpServer;

beforeAll(async () => {
  const index = new FakeIndex();
  const follow = new MessageFollow({ live: traces, index, clock: systemClock });
  server = await startHttpServer(
    { host: '127.0.0.1', port: 0, version: '2.2.0', requestLog: 'none' },
    {
      access: openAccess,
      clock: systemClock,
      unixTimeMs: Date.now,
      randomBytes: (size) => new Uint8Array(size),
      logger: silentLogger,
      metrics: new Registry(),
      rawRoutes: [followRoute({ followOf: () => follow, clock: systemClock })],
      networks: [
        {
          name: 'testing',
          hosts: [],
          apis: [
            {
              ...v3Description,
              context: (request) => v3Context({ index, isTestnet: false, pending: traces } as never, request) as never,
            },
          ],
          health: () => ({ ready: true, problem: null, headSeqno: 1, headAgeMs: 0 }),
          headSeqno: () => 1,
        },
      ],
    },
  );
});

afterAll(async () => {
  await server.close();
  await traces.close();
});

async function get(path: string, init: RequestInit = {}): Promise<{ status: number; body: any; headers: Headers }> {
  const response = await fetch(`${server.url}${path}`, init);
  const text = await response.text();
  return { status: response.status, body: text === '' ? '' : JSON.parse(text), headers: response.headers };
}

interface RecordedCase {
  readonly request: { readonly method: string; readonly path: string; readonly headers: Record<string, string> };
  readonly response: { readonly status: number; readonly body: { readonly error?: string } };
}

/** Where an answer differs from the recorded one, and why. The first rule that matches holds. */
const RULES: readonly { readonly of: RegExp; readonly status: number; readonly reason: string }[] = [
  { of: /^POST /, status: 405, reason: 'a wrong method is 405 with Allow, not a server error' },
  { of: /[?&](account|ext_msg_hash)=(&|$)/, status: 422, reason: 'an empty value is no address and no hash' },
  { of: /trace_id=bad/, status: 422, reason: 'a value that is not a hash is refused also where it has no effect' },
  { of: /include_transactions=x/, status: 422, reason: 'a value that is no boolean is refused' },
  {
    of: /account=.*&account=/,
    status: 422,
    reason: 'a single value given twice is refused: which one counts could not be seen',
  },
];

const cases: readonly RecordedCase[] = Buffer.from(
  readBytes(vectorPath('collection/recorded-live/pending-cases.jsonl.br')),
)
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

describe('methods about what is not final yet', () => {
  it('answer wrong, empty and unknown requests as the live service, but for what a rule says', async () => {
    const used = new Set<string>();
    const differences: string[] = [];
    for (const { request, response } of cases) {
      const { method, path, headers } = request;
      const name = `${method} ${path}`;
      const { status, body } = await get(`/toncenter${path}`, { method, headers });
      const isOther =
        status !== response.status || (status === 200 && JSON.stringify(body) !== JSON.stringify(response.body));
      if (!isOther) continue;
      const rule = RULES.find(({ of, status: expected }) => of.test(name) && expected === status);
      if (rule === undefined)
        differences.push(`${name}: ${status} ${JSON.stringify(body)}, not ${JSON.stringify(response)}`);
      else used.add(rule.reason);
    }
    expect(cases.length).toBeGreaterThan(100);
    expect(differences).toEqual([]);
  });

  it('show a message as soon as it is emulated, in both profiles', async () => {
    const message = externalTo(1, 1);
    traces.submit(message, 'sent');
    await expect.poll(() => traces.find(message.cell.hash())?.actions).toEqual([]);
    const hash = toHex(normalizedExternalHash(message.message));
    for (const prefix of ['', '/toncenter']) {
      const { status, body } = await get(`${prefix}/api/v3/pendingTraces?ext_msg_hash=${hash}`);
      expect(status).toBe(200);
      expect(body.traces).toHaveLength(1);
      const [trace] = body.traces;
      expect(Object.keys(trace)).toEqual(
        [
          ...['trace_id', 'external_hash', 'mc_seqno_start', 'mc_seqno_end', 'start_lt', 'start_utime', 'end_lt'],
          ...['end_utime', 'trace_info', 'is_incomplete', 'actions', 'trace', 'transactions_order', 'transactions'],
        ].filter((key) => key !== 'trace_id' || prefix !== ''),
      );
      expect(trace.external_hash).toBe(toBase64(message.cell.hash()));
      expect(trace.trace_info).toMatchObject({ trace_state: 'pending', transactions: 2, pending_messages: 2 });
      const [first] = trace.transactions_order;
      expect(trace.transactions[first]).toMatchObject({ emulated: true, finality: 'pending' });
    }
    const { body } = await get(`/api/v3/pendingTransactions?account=${liveAccount(2).toRaw()}`);
    expect(body.transactions).toHaveLength(1);
    expect(body.transactions[0].trace_external_hash).toBe(toBase64(message.cell.hash()));
  });

  it('list the actions of several traces, also of those that have none', async () => {
    const messages = [externalTo(1, 11), externalTo(1, 12)];
    for (const message of messages) traces.submit(message, 'sent');
    for (const { cell } of messages) await expect.poll(() => traces.find(cell.hash())?.actions).toEqual([]);
    const { status, body } = await get(`/api/v3/pendingActions?account=${liveAccount(1).toRaw()}`);
    expect([status, body.actions]).toEqual([200, []]);
    const { body: all } = await get(`/api/v3/pendingTraces?account=${liveAccount(1).toRaw()}`);
    expect(all.traces.length).toBeGreaterThanOrEqual(2);
  });

  it('list no transaction that is in a block', async () => {
    const message = externalTo(4, 1);
    traces.submit(message, 'sent');
    await expect.poll(() => traces.find(message.cell.hash())).not.toBeNull();
    const path = `/api/v3/pendingTransactions?account=${liveAccount(4).toRaw()}`;
    expect((await get(path)).status).toBe(200);
    traces.apply(transfer(message.cell, 9_000n).map((each) => ({ ...each, finality: 'finalized' })));
    expect((await get(path)).status).toBe(404);
    const found = await get(`/api/v3/pendingTraces?account=${liveAccount(4).toRaw()}`);
    expect(found.body.traces[0].trace_id).not.toBeNull();
    expect(Object.values(found.body.traces[0].transactions)).toMatchObject([{ emulated: false }, { emulated: false }]);
  });
});

describe('following a message', () => {
  it('waits from its emulation to its last block, by long poll', async () => {
    const message = externalTo(5, 1);
    const path = `/api/v3/follow/${toHex(message.cell.hash())}`;
    const first = get(`${path}?timeout=10&after=unknown`);
    traces.submit(message, 'sent');
    expect(['accepted', 'pending']).toContain((await first).body.status);
    expect((await get(`${path}?timeout=10&after=accepted`)).body).toMatchObject({
      status: 'pending',
      transactions: { pending: 2, confirmed: 0, finalized: 0 },
      success: true,
    });
    const last = get(`${path}?timeout=10`);
    traces.apply(transfer(message.cell, 9_000n).map((each) => ({ ...each, finality: 'finalized', mc_seqno: 12 })));
    expect((await last).body).toMatchObject({ status: 'finalized', settled: true, success: true, mc_block_seqno: 12 });
  });

  it('sends each change as an event, and ends', async () => {
    const message = externalTo(6, 1);
    const response = await fetch(`${server.url}/api/v3/follow/${toHex(message.cell.hash())}`, {
      headers: { Accept: 'text/event-stream' },
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    traces.submit(message, 'sent');
    await expect.poll(() => traces.find(message.cell.hash())).not.toBeNull();
    traces.apply(transfer(message.cell, 9_000n).map((each) => ({ ...each, finality: 'finalized' })));
    const text = await response.text();
    const statuses = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!).status);
    expect(statuses.at(0)).toBe('unknown');
    expect(statuses.at(-1)).toBe('finalized');
    const again = await fetch(`${server.url}/api/v3/follow/${toHex(message.cell.hash())}`, {
      headers: { Accept: 'text/event-stream', 'Last-Event-ID': 'settled' },
    });
    expect(again.status).toBe(204);
  });

  it('says why nodes refused a message', async () => {
    const message = externalTo(7, 1);
    traces.refused(message, { problem: 'The seqno is used.', exit_code: 33 });
    const { body } = await get(`/api/v3/follow/${toHex(message.cell.hash())}`);
    expect(body).toMatchObject({ status: 'refused', settled: true, exit_code: 33, problem: 'The seqno is used.' });
  });

  it('takes the hash in each form, with escapes or without', async () => {
    const message = externalTo(8, 1);
    traces.refused(message, { problem: 'The seqno is used.', exit_code: 33 });
    const hash = message.cell.hash();
    const base64 = toBase64(hash);
    const base64url = base64.replaceAll('+', '-').replaceAll('/', '_');
    const hex = toHex(hash);
    for (const form of [hex.toUpperCase(), `0x${hex}`, `${hex}/`, base64, encodeURIComponent(base64), base64url]) {
      for (const path of ['/api/v3/follow', '/API/v3/Follow']) {
        const { status, body } = await get(`${path}/${form}`);
        expect([status, body.message_hash]).toEqual([200, base64]);
      }
    }
  });

  it.each([
    ['nobody knows the hash', `${'ab'.repeat(32)}?timeout=0`, 404, 'no message'],
    ['it is no hash', 'zz', 422, 'parameter hash'],
    ['the timeout is no number', `${'ab'.repeat(32)}?timeout=x`, 422, 'parameter timeout'],
    ['the timeout is too long', `${'ab'.repeat(32)}?timeout=61`, 422, 'parameter timeout'],
    ['the stage does not exist', `${'ab'.repeat(32)}?after=sent`, 422, 'parameter after'],
    ['a parameter is unknown', `${'ab'.repeat(32)}?limit=1`, 422, 'limit'],
    ['a parameter is given twice', `${'ab'.repeat(32)}?timeout=1&timeout=2`, 422, 'parameter timeout'],
  ])('is refused when %s', async (_, path, status, text) => {
    const found = await get(`/api/v3/follow/${path}`);
    expect(found.status).toBe(status);
    expect(found.body.error).toContain(text);
  });
});

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { sendCommand } from '#app/cli/send.js';
import { toBase64 } from '#kernel/bytes.js';
import { externalTo } from '#test/support/live-cells.js';

const message = externalTo(1, 77);
const boc = toBase64(message.boc);

/** What a service answers, in turn; the last one again and again. */
type Answers = readonly { readonly status: number; readonly body: object }[];

let server: Server | null = null;
let asked: string[] = [];
afterEach(() => server?.close());

/** Sends the message to a service with these answers to the POST and to the requests that follow it. */
async function send(posted: Answers, followed: Answers = []): Promise<string> {
  const left = { POST: [...posted], GET: [...followed] };
  asked = [];
  server = createServer((request, response) => {
    const answers = left[request.method as 'GET'];
    const { status, body } = answers.length > 1 ? answers.shift()! : answers[0]!;
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  let written = '';
  const command = sendCommand({}).configureOutput({
    writeOut: (text) => {
      written += text;
    },
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await command.parseAsync([boc, '--follow', '--url', url], { from: 'user' });
  return written;
}

const accepted = [{ status: 200, body: { message_hash: 'raw', message_hash_norm: 'norm' } }];
const step = (status: string, more: object = {}) => ({
  status: 200,
  body: {
    ...{ status, settled: false, success: true, trace_id: null, mc_block_seqno: null, failures: [], problem: null },
    transactions: { pending: 2, confirmed: 0, finalized: 0 },
    ...more,
  },
});
const last = step('finalized', { settled: true, trace_id: 'root', mc_block_seqno: 7 });
const busy = { status: 503, body: { error: 'later' } };

it('a message is followed from step to step, also when the service is busy for a moment', async () => {
  expect(await send(accepted, [step('pending'), busy, last])).toBe(
    'sent raw\nnormalised hash norm\npending: 2 transactions\nfinalized: 2 transactions, masterchain block 7\ntrace root\n',
  );
  expect(asked.map((each) => each.replace(/follow\/\w+/, 'follow'))).toEqual([
    'POST /api/v3/message',
    'GET /api/v3/follow?timeout=30&after=unknown',
    'GET /api/v3/follow?timeout=30&after=pending',
    'GET /api/v3/follow?timeout=30&after=pending',
  ]);
});

it.each<[string, Answers, Answers, string]>([
  ['the service has no API v3', [{ status: 404, body: { error: 'Not Found' } }], [], 'cli/send-no-api'],
  ['the contract refuses it', [{ status: 500, body: { error: 'exitcode=33' } }], [], 'cli/send-refused'],
  ['the service is busy when it is sent', [busy], [], 'cli/send-busy'],
  ['a transaction fails', accepted, [step('finalized', { settled: true, success: false })], 'cli/message-failed'],
  [
    'it expires',
    accepted,
    [step('expired', { settled: true, success: null, problem: 'It is over.' })],
    'cli/message-failed',
  ],
])('the command fails when %s', async (_, posted, followed, code) => {
  await expect(send(posted, followed)).rejects.toMatchObject({ code });
});

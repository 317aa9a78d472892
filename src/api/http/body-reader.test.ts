import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BodyReader, type ReceivedBody } from '#api/http/body-reader.js';
import { ReceivedBytes } from '#api/http/received-bytes.js';
import type { TernError } from '#kernel/tern-error.js';
import { FakeClock } from '#test/support/fake-clock.js';

const LIMITS = {
  maxBodyBytes: 1_000,
  maxBodiesPerAddress: 16,
  turnBytes: 10_000,
  minBytesPerSecond: 1,
  stallMs: 1_000,
};

let received: ReceivedBytes;
let reader: BodyReader;
let server: Server;
const clients: Socket[] = [];

beforeEach(async () => {
  received = new ReceivedBytes(2_000);
  reader = new BodyReader(LIMITS, received, new FakeClock());
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.close();
});

/** The body of a client that sends `bytes` of them. */
async function body(bytes: number): Promise<{ client: Socket; body: ReceivedBody }> {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  clients.push(client);
  client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n${' '.repeat(bytes)}`);
  const [message] = (await once(server, 'request')) as [IncomingMessage];
  return { client, body: await reader.read(message, 'a client') };
}

const reasonOf = (signal: AbortSignal): string | null => (signal.aborted ? (signal.reason as TernError).code : null);

it('a body that is announced as large and comes byte by byte holds what came', async () => {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  clients.push(client);
  client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n ');
  const [message] = (await once(server, 'request')) as [IncomingMessage];
  const left = reader.read(message, 'a client').catch((error: TernError) => error.code);
  await expect.poll(() => received.held).toBe(1);
  client.write(' ');
  await expect.poll(() => received.held).toBe(4);
  client.destroy();
  expect(await left).toBe('http/client-left');
  expect(received.held).toBe(0);
});

describe('a whole body', () => {
  it('is held until it is released, once', async () => {
    const { body: first } = await body(700);
    const { body: second } = await body(900);
    expect([first.bytes.length, received.held]).toEqual([700, 1_600]);
    first.release();
    first.release();
    expect(received.held).toBe(900);
    second.release();
    expect(received.held).toBe(0);
  });

  it('that waits to be parsed is given up when its client has gone', async () => {
    const { client, body: whole } = await body(700);
    const signal = whole.waiting();
    expect(reasonOf(signal)).toBeNull();
    client.destroy();
    await expect.poll(() => reasonOf(signal)).toBe('http/client-left');
    whole.release();
    expect(received.held).toBe(0);
  });

  it('that waits longest is given up when there is no room for others', async () => {
    const [first, second, third] = [await body(900), await body(900), await body(200)];
    const signals = [first, second, third].map((each) => each.body.waiting());
    const last = await body(10);
    expect(signals.map(reasonOf)).toEqual(['http/overloaded', null, null]);
    expect(received.held).toBe(1_110);
    for (const each of [first, second, third, last]) each.body.release();
    expect(received.held).toBe(0);
  });

  it('that is released is not given up', async () => {
    const { client, body: whole } = await body(700);
    const signal = whole.waiting();
    whole.release();
    client.destroy();
    received.begin(() => {}).hold(3_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(signal.aborted).toBe(false);
  });
});

import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SseConnection } from '#api/stream/sse.js';
import { EventText } from '#api/stream/subscriber.js';
import { FakeClock } from '#test/support/fake-clock.js';

const OPTIONS = { keepAliveMs: 15_000, lingerMs: 10_000 };
const EVENT = new EventText(JSON.stringify({ type: 'transactions', text: 'x'.repeat(2 ** 20) }), true);

let server: Server;
let clock: FakeClock;
let connection: SseConnection;
let written: ServerResponse;
/** Of a client that reads nothing until it is told to. */
let response: IncomingMessage;

beforeEach(async () => {
  clock = new FakeClock();
  server = createServer((_, serverResponse: ServerResponse) => {
    serverResponse.writeHead(200, { 'content-type': 'text/event-stream' });
    written = serverResponse;
    connection = new SseConnection(serverResponse, OPTIONS, clock);
    connection.connected('{"status":"connected"}', 'c0');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sent = request({ port: (server.address() as AddressInfo).port, agent: false }).end();
  [response] = (await once(sent, 'response')) as [IncomingMessage];
});

afterEach(() => {
  response.destroy();
  server.close();
  server.closeAllConnections();
});

/** Sends events until neither the sockets nor the client take any more. @returns how many */
async function fill(): Promise<number> {
  for (let sent = 0; ; sent++) {
    if (connection.buffered > 4 * 2 ** 20) return sent;
    connection.send(EVENT, `c${sent + 1}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** What came until the connection was closed, in whichever way. */
function readAll(): Promise<string> {
  let text = '';
  response
    .on('error', () => {})
    .on('data', (part: Buffer) => {
      text += part.toString();
    });
  return new Promise((resolve) => response.once('close', () => resolve(text)));
}

it('gives a client that lags all that was sent, and then the cursor to go on from', async () => {
  const sent = await fill();
  connection.end('lagging', `c${sent}`);
  const frames = (await readAll()).trimEnd().split('\n\n');
  expect(frames.slice(1, -1).every((frame) => frame.startsWith('event: event\n'))).toBe(true);
  expect(frames).toHaveLength(2 + sent);
  expect(frames.at(-1)).toBe(`event: lagging\ndata: {"type":"lagging","cursor":"c${sent}"}\nid: c${sent}`);
});

it('does not wait for ever for a client to read the last event', async () => {
  connection.end('lagging', `c${await fill()}`);
  clock.advance(OPTIONS.lingerMs);
  expect(await readAll()).not.toContain('event: lagging');
});

it('sends comments while nothing happens, also to a client that is slow', async () => {
  const sent = await fill();
  clock.advance(OPTIONS.keepAliveMs);
  clock.advance(OPTIONS.keepAliveMs);
  clock.advance(OPTIONS.keepAliveMs);
  connection.end('lagging', `c${sent}`);
  const text = await readAll();
  expect(text.split(': keepalive\n\n')).toHaveLength(4);
  expect(text).toContain('event: lagging');
});

it('listens for nothing more once the client has taken what was sent', async () => {
  const listeners = () => ['drain', 'close'].map((event) => written.listenerCount(event));
  const before = listeners();
  await fill();
  const waiting = [connection.drained(), connection.drained()];
  response.resume();
  await Promise.all(waiting);
  expect(listeners()).toEqual(before);
});

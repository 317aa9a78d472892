import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { ReceivedBytes } from '#api/http/received-bytes.js';
import { defaultStreamSettings, type StreamSettings } from '#api/stream/options.js';
import { EventText } from '#api/stream/subscriber.js';
import { WebSocketConnection } from '#api/stream/web-socket.js';
import type { TernError } from '#kernel/tern-error.js';
import { FakeClock } from '#test/support/fake-clock.js';

const SETTINGS: StreamSettings = { ...defaultStreamSettings, maxMessagesPerSecond: 5 };
/** Five a second for four seconds. */
const BURST = 20;
const LONG = 100_000;
/** Bytes of messages that are held at once. */
const ROOM = 250_000;

let server: Server;
let sockets: WebSocketServer;
let clock: FakeClock;
/** Of the connection that was made last. */
let connection: WebSocketConnection;
let received: ReceivedBytes;
let handle: (text: string, signal: AbortSignal) => Promise<void>;
const clients: WebSocket[] = [];

beforeAll(async () => {
  server = createServer();
  sockets = new WebSocketServer({ server, autoPong: false });
  sockets.on('connection', (socket, message) => {
    connection = new WebSocketConnection({ socket, stream: message.socket }, SETTINGS, clock, {
      receives: (giveUp) => received.begin(giveUp),
      onMessage: (bytes, signal) => handle(bytes.toString(), signal),
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  sockets.close();
  server.close();
});
afterEach(async () => {
  for (const client of [...clients.splice(0), ...sockets.clients]) client.terminate();
  await expect.poll(() => sockets.clients.size).toBe(0);
});

beforeEach(() => {
  received = new ReceivedBytes(ROOM);
});

async function open(): Promise<{ socket: WebSocket; texts: string[]; closed: Promise<number> }> {
  clock = new FakeClock();
  handle = async (text) => connection.reply(`got ${text}`);
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, { autoPong: false });
  clients.push(socket);
  const texts: string[] = [];
  socket.on('message', (data) => texts.push(data.toString()));
  socket.on('error', () => {});
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await once(socket, 'open');
  return { socket, texts, closed };
}

it('answers one message after the other', async () => {
  const { socket, texts } = await open();
  let running = 0;
  let most = 0;
  handle = async (text) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    connection.reply(`got ${text}`);
  };
  for (let i = 0; i < BURST - 1; i++) socket.send(String(i));
  await expect.poll(() => texts).toEqual(Array.from({ length: BURST - 1 }, (_, i) => `got ${i}`));
  expect(most).toBe(1);
});

it('reads no more while a message is worked on', async () => {
  const { socket, texts } = await open();
  const waiting: (() => void)[] = [];
  handle = (text) =>
    new Promise((resolve) => {
      waiting.push(() => {
        connection.reply(`got ${text.length}`);
        resolve();
      });
    });
  // Each counts seven times: no more than two are within the burst.
  for (let i = 0; i < 2; i++) socket.send('x'.repeat(LONG));
  for (let i = 0; i < 2; i++) {
    await expect.poll(() => waiting.length).toBe(i + 1);
    expect([...sockets.clients].every(({ isPaused }) => isPaused)).toBe(true);
    waiting[i]!();
    await expect.poll(() => texts.length).toBe(i + 1);
  }
  expect(texts).toEqual([`got ${LONG}`, `got ${LONG}`]);
  await expect.poll(() => [...sockets.clients].some(({ isPaused }) => isPaused)).toBe(false);
});

it.each([
  ['messages', BURST + 1, (socket: WebSocket) => socket.send('x')],
  ['pings', BURST + 1, (socket: WebSocket) => socket.ping()],
  ['pongs that answer no ping', BURST + 1, (socket: WebSocket) => socket.pong()],
  ['binary messages', BURST + 1, (socket: WebSocket) => socket.send(Buffer.from('x'))],
  ['long messages', 3, (socket: WebSocket) => socket.send('x'.repeat(LONG))],
])('closes a client that sends too many %s', async (_, count, send) => {
  const { socket, texts, closed } = await open();
  for (let i = 0; i < count; i++) send(socket);
  expect(await closed).toBe(1008);
  expect(texts.at(-1)).toBe('{"error":"more than 5 messages per second"}');
});

it('holds no bytes of pings and pongs', async () => {
  const { socket, texts } = await open();
  for (let i = 0; i < 5; i++) {
    socket.ping('x'.repeat(125));
    socket.pong('x'.repeat(125));
  }
  socket.send('x');
  await expect.poll(() => texts).toEqual(['got x']);
  expect(received.held).toBe(0);
});

it('reads from each client once in a turn of the event loop', async () => {
  const { socket } = await open();
  const [served] = [...sockets.clients] as unknown as { readonly _socket: Socket }[];
  let pieces = 0;
  let turns = 0;
  let [mostInTurn, inTurn] = [0, 0];
  const count = (): void => {
    mostInTurn = Math.max(mostInTurn, inTurn);
    if (inTurn > 0) turns++;
    inTurn = 0;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  served!._socket.on('data', () => {
    pieces++;
    inTurn++;
  });
  // Within what is held of a message that is not whole.
  socket.send('x'.repeat(200_000), { fin: false });
  await expect.poll(() => received.held).toBeGreaterThan(200_000);
  clearImmediate(timer);
  expect(pieces).toBeGreaterThan(2);
  expect(mostInTurn).toBe(1);
  expect(turns).toBe(pieces);
});

it('answers pings with their data', async () => {
  const { socket } = await open();
  socket.ping('tern');
  const [data] = await once(socket, 'pong');
  expect(String(data)).toBe('tern');
});

it('cuts off a client that floods and does not close, though it sends on', async () => {
  const { socket, closed } = await open();
  // A client that answers no frame: its end does not read.
  (socket as unknown as { readonly _socket: Socket })._socket.pause();
  for (let i = 0; i <= BURST; i++) socket.send('x');
  await expect.poll(() => [...sockets.clients].every(({ readyState }) => readyState === WebSocket.CLOSING)).toBe(true);
  for (let i = 0; i < BURST; i++) socket.send('x');
  clock.advance(SETTINGS.lingerMs);
  await expect.poll(() => sockets.clients.size).toBe(0);
  (socket as unknown as { readonly _socket: Socket })._socket.resume();
  await closed;
});

it('cuts off a client that floods on while its connection is being closed, without waiting', async () => {
  const { socket, closed } = await open();
  (socket as unknown as { readonly _socket: Socket })._socket.pause();
  for (let i = 0; i <= BURST + 1_000; i++) socket.ping();
  await expect.poll(() => [...sockets.clients].every(({ readyState }) => readyState === WebSocket.CLOSING)).toBe(true);
  for (let i = 0; i < 10; i++) socket.ping();
  await expect.poll(() => sockets.clients.size).toBe(0);
  (socket as unknown as { readonly _socket: Socket })._socket.resume();
  await closed;
});

it('closes the client whose message is longest in coming when there is no room for those of others', async () => {
  const slow: Awaited<ReturnType<typeof open>>[] = [];
  for (let i = 0; i < 3; i++) {
    const client = await open();
    client.socket.send('x'.repeat(LONG), { fin: false });
    await expect.poll(() => received.held).toBeGreaterThan(Math.min(i + 1, 2) * LONG);
    slow.push(client);
  }
  expect(await slow[0]!.closed).toBe(1013);
  expect(slow[0]!.texts).toEqual(['{"error":"the server is overloaded: too many bodies are being received"}']);
  slow[2]!.socket.send('y');
  await expect.poll(() => slow[2]!.texts).toEqual([`got ${'x'.repeat(LONG)}y`]);
  slow[1]!.socket.terminate();
  await expect.poll(() => received.held).toBe(0);
});

it('drops a message that waits to be handled when there is no room for those of others', async () => {
  const { socket, closed } = await open();
  const dropped: unknown[] = [];
  handle = (_, signal) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        dropped.push((signal.reason as TernError).code);
        resolve();
      });
    });
  socket.send('x'.repeat(LONG));
  await expect.poll(() => received.held).toBe(LONG);
  received.begin(() => {}).hold(ROOM - LONG + 1);
  expect(await closed).toBe(1013);
  expect(dropped).toEqual(['http/overloaded']);
  expect(received.held).toBe(ROOM - LONG + 1);
});

it('holds nothing of a client that has gone', async () => {
  const { socket } = await open();
  const signals: AbortSignal[] = [];
  handle = (_, signal) => {
    signals.push(signal);
    return new Promise(() => {});
  };
  socket.send('x'.repeat(LONG));
  await expect.poll(() => signals.length).toBe(1);
  socket.terminate();
  await expect.poll(() => [signals[0]!.aborted, received.held]).toEqual([true, 0]);
});

it('cuts off a client that asks and does not read', async () => {
  const { socket, closed } = await open();
  (socket as unknown as { readonly _socket: Socket })._socket.pause();
  // More than buffers of the system take.
  handle = async () => connection.reply('x'.repeat(SETTINGS.maxBufferedBytes * 4));
  for (let i = 0; i < 3; i++) socket.send('x');
  await expect.poll(() => sockets.clients.size).toBe(0);
  (socket as unknown as { readonly _socket: Socket })._socket.resume();
  await closed;
});

it('says why it ends a client that does not read, with a cursor', async () => {
  const { socket, texts, closed } = await open();
  (socket as unknown as { readonly _socket: Socket })._socket.pause();
  const event = new EventText(JSON.stringify({ text: 'x'.repeat(SETTINGS.maxBufferedBytes * 4) }), true);
  connection.send(event, 'c1');
  expect(connection.buffered).toBeGreaterThan(SETTINGS.maxBufferedBytes);
  connection.end('lagging', 'c1');
  (socket as unknown as { readonly _socket: Socket })._socket.resume();
  expect(await closed).toBe(1013);
  expect(texts.map((text) => text.length)).toEqual([event.withCursor('c1').length, texts[1]!.length]);
  expect(JSON.parse(texts[1]!)).toEqual({ type: 'lagging', cursor: 'c1' });
});

it('cuts off a client that answers no ping', async () => {
  const { socket, closed } = await open();
  clock.advance(SETTINGS.keepAliveMs);
  await once(socket, 'ping');
  clock.advance(SETTINGS.keepAliveMs);
  expect(await closed).toBe(1006);
});

it('keeps a client that answers pings', async () => {
  const { socket, texts } = await open();
  for (let i = 0; i < 3; i++) {
    clock.advance(SETTINGS.keepAliveMs);
    const [data] = await once(socket, 'ping');
    socket.pong(data);
    socket.send(String(i));
    await expect.poll(() => texts.at(-1)).toBe(`got ${i}`);
  }
  expect(socket.readyState).toBe(WebSocket.OPEN);
});

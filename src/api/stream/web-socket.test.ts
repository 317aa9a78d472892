import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ReceivedBytes } from '#api/http/received-bytes.js';
import { defaultStreamSettings } from '#api/stream/options.js';
import { EventText } from '#api/stream/subscriber.js';
import { WebSocketConnection } from '#api/stream/web-socket.js';
import { FakeClock } from '#test/support/fake-clock.js';

/** What a connection uses of a socket of `ws`. */
class RecordedSocket extends EventEmitter {
  readonly OPEN = WebSocket.OPEN;
  readyState: number = WebSocket.OPEN;
  bufferedAmount = 0;
  readonly sent: string[] = [];
  isPaused = false;
  closedWith: number | null = null;

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  /** Called when the last message was taken. */
  onTaken: () => void = () => {};

  send(text: string, _options?: unknown, onTaken: () => void = () => {}): void {
    this.sent.push(text);
    this.onTaken = onTaken;
  }

  pong(): void {}

  close(code: number): void {
    this.closedWith = code;
    this.readyState = WebSocket.CLOSING;
  }

  /** As if it came from the client. */
  message(text: string): void {
    this.emit('message', Buffer.from(text), false);
  }
}

function connect(onMessage: (text: string) => Promise<void>) {
  const socket = new RecordedSocket();
  const clock = new FakeClock();
  const received = new ReceivedBytes(2 ** 24);
  const connection = new WebSocketConnection(
    { socket: socket as unknown as WebSocket, stream: new PassThrough() },
    { ...defaultStreamSettings, maxMessagesPerSecond: 20 },
    clock,
    { receives: (giveUp) => received.begin(giveUp), onMessage: (bytes) => onMessage(bytes.toString()) },
  );
  return { socket, clock, connection };
}

describe('a WebSocket of a client that sends much', () => {
  it('is not read while a message of it is worked on', async () => {
    const done: (() => void)[] = [];
    const { socket } = connect(() => new Promise((resolve) => void done.push(resolve)));
    socket.message('first');
    expect(socket.isPaused).toBe(true);
    // Of the same piece that came from the network.
    socket.message('second');
    expect(done).toHaveLength(1);
    done[0]!();
    await Promise.resolve();
    await Promise.resolve();
    expect([done.length, socket.isPaused]).toEqual([2, true]);
    done[1]!();
    await Promise.resolve();
    await Promise.resolve();
    expect(socket.isPaused).toBe(false);
  });

  it('is refused beyond its rate, in which large messages count for several', () => {
    const { socket, clock } = connect(async () => {});
    const large = 'x'.repeat(16 * 1024 * 9);
    for (let i = 0; i < 8; i++) socket.message(large);
    expect(socket.closedWith).toBeNull();
    clock.advance(500);
    socket.message(large);
    expect(socket.closedWith).toBeNull();
    socket.message(large);
    expect([socket.closedWith, socket.isPaused]).toEqual([1008, false]);
    expect(socket.sent).toEqual(['{"error":"more than 20 messages per second"}']);
  });

  it('is refused for pings beyond its rate, each of which is answered', () => {
    const { socket } = connect(async () => {});
    for (let i = 0; i < 80; i++) socket.emit('ping', Buffer.alloc(125));
    expect(socket.closedWith).toBeNull();
    socket.emit('ping', Buffer.alloc(125));
    expect(socket.closedWith).toBe(1008);
  });
});

describe('a WebSocket of a client that reads slowly', () => {
  it.each(['has taken what was sent', 'is gone'])('says to all who wait that it %s', async (how) => {
    const { socket, connection } = connect(async () => {});
    connection.send(new EventText('{}', true), null);
    socket.bufferedAmount = defaultStreamSettings.maxBufferedBytes;
    const waiting = [connection.drained(), connection.drained()];
    socket.onTaken();
    expect(await Promise.race([...waiting, Promise.resolve('none')])).toBe('none');
    if (how === 'is gone') socket.emit('close');
    else {
      socket.bufferedAmount = 0;
      socket.onTaken();
    }
    await Promise.all(waiting);
  });
});

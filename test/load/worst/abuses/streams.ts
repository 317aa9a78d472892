import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Abuse, Attack } from './abuse.js';

const PATH = '/api/streaming/v2';
const TYPES = ['transactions', 'actions', 'account_state_change', 'jettons_change'];
/** As many as a stream of a client without a key may have, less a few. */
const MOST_ADDRESSES = 4_000;
/** Below the longest message, 1 MiB. */
const LONGEST = 1_000_000;
/** What a WebSocket client may send a second. */
const MESSAGES = 20;
/** Bytes that wait in this process for a connection; beyond, nothing more is sent. */
const MOST_UNSENT = 4 * 2 ** 20;

function subscription(attack: Attack, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const { receivers, wallets, senders } = attack.facts;
  const accounts = { addresses: [...senders, ...wallets, ...receivers], min_finality: 'pending' };
  return { types: TYPES, ...accounts, include_address_book: true, include_metadata: true, ...more };
}

/** A request for events, as text of HTTP. */
function sseRequest(value: unknown): string {
  const body = JSON.stringify(value);
  const headers = `host: tern\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`;
  return `POST ${PATH}/sse HTTP/1.1\r\n${headers}\r\n\r\n${body}`;
}

const unreadEvents: Abuse = {
  name: 'unread-events',
  what: '100 event streams of all accounts, from 20 addresses, of which nothing is read',
  run: (attack) => {
    const request = sseRequest(subscription(attack));
    return attack.keepSockets({ sockets: 100, addresses: 20 }, (from) => {
      const socket = attack.socket(from, { allowHalfOpen: true, reads: false });
      socket.pause();
      socket.write(request);
      return socket;
    });
  },
};

const shortStreams: Abuse = {
  name: 'short-streams',
  what: 'event streams of 1,000 accounts that are closed at once, one a second from each of 20 addresses',
  run: (attack) => {
    const request = sseRequest(subscription(attack));
    return attack.atRate(20, async (number) => {
      const socket = attack.socket(attack.address(number % 20));
      socket.write(request);
      socket.once('data', () => socket.destroy());
      await delay(2_000);
      socket.destroy();
    });
  },
};

/** Resolves with the cursor of a stream's first event. */
async function cursorOf(socket: Socket): Promise<string | null> {
  let text = '';
  for await (const part of socket) {
    text += String(part);
    const found = /^id: (\S+)$/m.exec(text)?.[1];
    if (found !== undefined) return found;
  }
  return null;
}

const replays: Abuse = {
  name: 'replayed-streams',
  what: 'event streams of all accounts from the first block on, one a second from each of 10 addresses, left after 2 s',
  run: async (attack) => {
    const first = attack.socket(attack.address(0));
    first.write(sseRequest(subscription(attack)));
    const cursor = await cursorOf(first).catch(() => null);
    const [chain = ''] = (cursor ?? '').split('.');
    const request = sseRequest(subscription(attack, { resume_from: `${chain}.1.1.1` }));
    await attack.atRate(10, async (number) => {
      const socket = attack.socket(attack.address(number % 10));
      socket.write(request);
      await delay(2_000);
      socket.destroy();
    });
  },
};

/** Connections that are opened again when they were closed, and do something a number of times a second. */
async function keepWebSockets(
  attack: Attack,
  { sockets, perSecond }: { readonly sockets: number; readonly perSecond: number },
  act: (socket: WebSocket, number: number) => void,
): Promise<void> {
  const open = new Set<WebSocket>();
  const connect = (number: number): void => {
    const socket = attack.webSocket(`${PATH}/ws`, attack.address(number % sockets));
    open.add(socket);
    let turn = 0;
    const timer = setInterval(() => {
      if (socket.readyState !== WebSocket.OPEN || socket.bufferedAmount > MOST_UNSENT) return;
      act(socket, turn++);
    }, 1000 / perSecond);
    socket.on('close', () => {
      clearInterval(timer);
      open.delete(socket);
    });
  };
  for (let number = 0; !attack.isOver; ) {
    for (let i = 0; i < 2 && open.size < sockets; i++) connect(number++);
    await attack.pause(100);
  }
  for (const socket of open) socket.terminate();
}

/** Messages of a WebSocket client at the rate that it may have. */
function messages(name: string, what: string, make: (attack: Attack) => string): Abuse {
  return {
    name,
    what: `${what}, ${MESSAGES} a second on each of 5 WebSockets`,
    run: (attack) => {
      const text = Buffer.from(make(attack));
      return keepWebSockets(attack, { sockets: 5, perSecond: MESSAGES }, (socket) => {
        attack.tally.requests++;
        socket.send(text, { binary: false });
      });
    },
  };
}

/** Frames of a WebSocket client, 200 each 10 ms. */
function frames(name: string, what: string, send: (socket: WebSocket) => void): Abuse {
  return {
    name,
    what: `${what}, 20,000 a second on each of 5 WebSockets`,
    run: (attack) =>
      keepWebSockets(attack, { sockets: 5, perSecond: 100 }, (socket) => {
        for (let i = 0; i < 200; i++) {
          attack.tally.requests++;
          send(socket);
        }
      }),
  };
}

const PAYLOAD = Buffer.alloc(125, 1);

export const hostileStreams: readonly Abuse[] = [
  unreadEvents,
  shortStreams,
  replays,
  messages('ws-subscriptions', `subscriptions to ${MOST_ADDRESSES} accounts`, (attack) => {
    const addresses = Array.from({ length: MOST_ADDRESSES }, (_, number) => `0:${String(number).padStart(64, '0')}`);
    return JSON.stringify({ operation: 'subscribe', ...subscription(attack, { addresses }) });
  }),
  messages('ws-objects', 'a megabyte of empty objects', () => {
    return `{"operation":"ping","x":[${'{},'.repeat(Math.floor(LONGEST / 3) - 20)}{}]}`;
  }),
  frames('ws-pings', 'pings of a client that reads nothing', (socket) => {
    socket.pause();
    socket.ping(PAYLOAD);
  }),
  frames('ws-pongs', 'pongs that answer no ping', (socket) => socket.pong()),
  frames('ws-fragments', 'messages in pieces of a byte', (socket) => socket.send('a', { fin: false })),
];

import type { Socket } from 'node:net';
import type { Abuse, Attack } from './abuse.js';

const HEADERS = 'host: tern\r\nuser-agent: slow\r\n';
const INFO = `GET /api/v2/getMasterchainInfo HTTP/1.1\r\n${HEADERS}\r\n`;

/** Writes a part again and again, while the connection takes it. */
function drip(attack: Attack, socket: Socket, part: string, everyMs: number): void {
  const timer = setInterval(() => {
    if (socket.destroyed || attack.isOver) clearInterval(timer);
    else socket.write(part);
  }, everyMs);
}

const halfBodies: Abuse = {
  name: 'half-bodies',
  what: '200 connections from 20 addresses, each with most of a body of 1 MB and never the rest',
  run: (attack) => {
    const part = Buffer.alloc(900_000, 0x20);
    return attack.keepSockets({ sockets: 200, addresses: 20 }, (from) => {
      const socket = attack.socket(from, { allowHalfOpen: true });
      socket.write(`POST /api/v2/jsonRPC HTTP/1.1\r\n${HEADERS}content-length: 1000000\r\n\r\n`);
      socket.write(part);
      return socket;
    });
  },
};

const slowHeaders: Abuse = {
  name: 'slow-headers',
  what: '200 connections from 20 addresses whose headers come byte by byte',
  run: (attack) =>
    attack.keepSockets({ sockets: 200, addresses: 20 }, (from) => {
      const socket = attack.socket(from, { allowHalfOpen: true });
      socket.write('GET /api/v2/getMasterchainInfo HTTP/1.1\r\nx-slow: ');
      drip(attack, socket, 'a', 1_000);
      return socket;
    }),
};

const slowBodies: Abuse = {
  name: 'slow-bodies',
  what: '200 connections from 20 addresses whose bodies come byte by byte',
  run: (attack) =>
    attack.keepSockets({ sockets: 200, addresses: 20 }, (from) => {
      const socket = attack.socket(from, { allowHalfOpen: true });
      socket.write(`POST /api/v2/jsonRPC HTTP/1.1\r\n${HEADERS}content-length: 1000000\r\n\r\n`);
      drip(attack, socket, ' ', 1_000);
      return socket;
    }),
};

const silentSockets: Abuse = {
  name: 'silent-sockets',
  what: '500 connections from 50 addresses on which nothing is said',
  run: (attack) =>
    attack.keepSockets({ sockets: 500, addresses: 50 }, (from) => attack.socket(from, { allowHalfOpen: true })),
};

const halfClosed: Abuse = {
  name: 'half-closed',
  what: '200 connections from 20 addresses that are closed on one side in the middle of a request, and on the other never',
  run: (attack) =>
    attack.keepSockets({ sockets: 200, addresses: 20 }, (from, number) => {
      const socket = attack.socket(from, { allowHalfOpen: true });
      socket.end(number % 2 === 0 ? INFO : INFO.slice(0, -10));
      return socket;
    }),
};

const unread: Abuse = {
  name: 'unread-answers',
  what: '40 connections from 20 addresses that ask for 500 messages and read nothing of the answer',
  run: (attack) =>
    attack.keepSockets({ sockets: 40, addresses: 20 }, (from, number) => {
      const socket = attack.socket(from, { allowHalfOpen: true, reads: false });
      socket.pause();
      socket.write(`GET /api/v3/messages?limit=500&offset=${number % 1000} HTTP/1.1\r\n${HEADERS}\r\n`);
      return socket;
    }),
};

const pipelinedUnread: Abuse = {
  name: 'pipelined-unread',
  what: '20 connections, each with 500 requests at once, that read nothing',
  run: (attack) =>
    attack.keepSockets({ sockets: 20, addresses: 20 }, (from) => {
      const socket = attack.socket(from, { allowHalfOpen: true, reads: false });
      socket.pause();
      socket.write(INFO.repeat(500));
      return socket;
    }),
};

const pipelinedGarbage: Abuse = {
  name: 'pipelined-garbage',
  what: 'a request and garbage behind it, 20 a second: the request must be answered',
  run: (attack) =>
    attack.atRate(20, async (number) => {
      const socket = attack.socket(attack.address(number % 100));
      socket.end(`${INFO}\x00\x01 garbage\r\n\r\n`);
    }),
};

const garbage: Abuse = {
  name: 'garbage',
  what: 'what is no HTTP, 20 connections a second',
  run: (attack) =>
    attack.atRate(20, async (number) => {
      const socket = attack.socket(attack.address(number % 100));
      socket.write(Buffer.alloc(2_000, number & 0xff));
    }),
};

const connectionFlood: Abuse = {
  name: 'connection-flood',
  what: '50 connections a second from 50 addresses, each closed after one request',
  run: (attack) =>
    attack.atRate(50, async (number) => {
      const socket = attack.socket(attack.address(number % 50));
      socket.end(INFO);
    }),
};

const idleConnections: Abuse = {
  name: 'idle-connections',
  what: '2,000 connections from 40 addresses that are kept after one request',
  run: (attack) =>
    attack.keepSockets({ sockets: 2_000, addresses: 40 }, (from) => {
      const socket = attack.socket(from, { allowHalfOpen: true });
      socket.write(INFO);
      return socket;
    }),
};

export const hostileSockets: readonly Abuse[] = [
  halfBodies,
  slowHeaders,
  slowBodies,
  silentSockets,
  halfClosed,
  unread,
  pipelinedUnread,
  pipelinedGarbage,
  garbage,
  connectionFlood,
  idleConnections,
];

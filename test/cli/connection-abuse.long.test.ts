import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FULL } from '#test/support/full-depth.js';
import { ServedTern } from '#test/support/served-tern.js';
import { vectorPath } from '#test/support/vector-files.js';

/** Long enough for the time limits of headers, bodies and answers to pass; that of idle connections is one of unit tests. */
const SECONDS = 25;
/** Addresses of this machine that abuse the server; the honest client has another one. */
const ABUSERS = Array.from({ length: 8 }, (_, i) => `127.0.0.${10 + i}`);
/** Connections of each abuse of each address at the same time. */
const AT_ONCE = FULL ? 12 : 4;
/** What the server may keep of it all: with more, Node ends the process. */
const NODE_OPTIONS = '--max-old-space-size=300';
/** As those of `tern serve`: `tern dev` lets one client have all that there is. */
const BOUNDS = [
  '--max-unbegun-per-client',
  '256',
  '--max-connections-per-address',
  '512',
  '--max-bodies-per-address',
  '16',
];
/** Resident memory with that heap, buffers and threads; the limit of the process as a whole is 1 GiB. */
const MOST_BYTES = 2 ** 30;

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const post = (length: number) =>
  `POST /api/v2/jsonRPC HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
const LARGE = get('/api/v2/openapi.json');
const BODY = Buffer.alloc(900_000, 0x20);

/** What a connection does; it never closes its side, unless that is the abuse. */
const ABUSES: Readonly<Record<string, (socket: Socket) => void>> = {
  silent: () => {},
  'half of the headers': (socket) => void socket.write('GET /api/v2/getMasterchainInfo HTTP/1.1\r\nHost: '),
  'long headers that do not end': (socket) => void socket.write(`GET / HTTP/1.1\r\nX: ${'x'.repeat(60_000)}`),
  'half of a body': (socket) => void socket.write(Buffer.concat([Buffer.from(post(1_000_000)), BODY])),
  'a body byte by byte': (socket) => {
    socket.write(post(1_000_000));
    const timer = setInterval(() => socket.write(' '), 500);
    socket.once('close', () => clearInterval(timer));
  },
  'answers that are not read': (socket) => void socket.pause().write(LARGE.repeat(60)),
  'garbage after requests': (socket) =>
    void socket.write(`${get('/api/v2/getMasterchainInfo').repeat(5)}\u0000garbage\r\n\r\n`),
  'empty lines': (socket) => {
    socket.write(get('/healthz'));
    const timer = setInterval(() => socket.write('\r\n'), 500);
    socket.once('close', () => clearInterval(timer));
  },
  'half-closed': (socket) => void socket.end(post(1_000)),
  'tiny chunks': (socket) =>
    void socket.write(
      `${post(1).replace(/Content-Length: 1/, 'Transfer-Encoding: chunked')}${'1\r\n \r\n'.repeat(5_000)}`,
    ),
  'a thousand requests': (socket) => void socket.write(get('/api/v2/getMasterchainInfo').repeat(1_000)),
  'closed at once': (socket) => {
    socket.write(get('/api/v2/getMasterchainInfo'));
    setImmediate(() => socket.destroy());
  },
};

const IDLE = 'empty lines';

let tern: ServedTern;
const folder = mkdtempSync(join(tmpdir(), 'tern-abuse-'));
beforeAll(async () => {
  const chain = vectorPath('collection/recorded-net/chain');
  const args = ['dev', '--replay', chain, '--index', 'off', '--port', '0', '--data', folder];
  tern = await ServedTern.start([...args, ...BOUNDS], undefined, { NODE_OPTIONS });
});
afterAll(async () => {
  await tern.close();
  rmSync(folder, { recursive: true });
});

async function connections(): Promise<number> {
  const text = await (await fetch(`${tern.url}/metrics`, { headers: { connection: 'close' } })).text();
  return Number(/^tern_http_connections (\d+)/m.exec(text)?.[1]);
}

it('all abuses of connections at once cost an honest client nothing, and bounded memory', async () => {
  const port = Number(new URL(tern.url).port);
  const end = performance.now() + SECONDS * 1_000;
  let opened = 0;
  /** Connections that are idle for the server: they are given up after 85 s. */
  let idle = 0;
  const abuser = async (localAddress: string, name: string): Promise<void> => {
    while (performance.now() < end) {
      const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
      opened++;
      if (name === IDLE) {
        idle++;
        socket.once('close', () => idle--);
      }
      socket.on('error', () => {}).once('connect', () => ABUSES[name]!(socket));
      if (name !== 'answers that are not read') socket.resume();
      await Promise.race([new Promise((resolve) => socket.once('close', resolve)), delay(15_000)]);
      // Left open on this side: the server must end it.
      await delay(100);
    }
  };
  const statuses = new Map<number, number>();
  const memory: number[] = [];
  const honest = async (): Promise<void> => {
    while (performance.now() < end) {
      const answer = await fetch(`${tern.url}/api/v2/getMasterchainInfo`);
      const { ok } = (await answer.json()) as { ok: boolean };
      expect(ok).toBe(answer.status === 200);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      const posted = await fetch(`${tern.url}/api/v2/jsonRPC`, {
        method: 'POST',
        body: JSON.stringify({ id: 1, jsonrpc: '2.0', method: 'getMasterchainInfo', params: {} }),
      });
      await posted.arrayBuffer();
      statuses.set(posted.status, (statuses.get(posted.status) ?? 0) + 1);
      await delay(50);
    }
  };
  const watch = async (): Promise<void> => {
    while (performance.now() < end) {
      memory.push(await tern.residentBytes());
      await delay(2_000);
    }
  };
  const abusers = ABUSERS.flatMap((address) =>
    Object.keys(ABUSES).flatMap((name) => Array.from({ length: AT_ONCE }, () => abuser(address, name))),
  );
  await Promise.all([honest(), watch(), ...abusers]);
  const megabytes = memory.map((bytes) => Math.round(bytes / 1e6)).join(' ');
  process.stdout.write(
    `${opened} connections opened; resident, MB: ${megabytes}; honest: ${JSON.stringify([...statuses])}\n`,
  );
  expect([...statuses.keys()]).toEqual([200]);
  expect(Math.max(...memory), megabytes).toBeLessThan(MOST_BYTES);
  // Nobody of them closes anything.
  await expect.poll(async () => (await connections()) - idle).toBeLessThan(5);
});

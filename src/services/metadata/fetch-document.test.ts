import type { Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type TargetPolicy, targetPolicy } from '#drivers/web/target-policy.js';
import { WebClient, type WebLimits } from '#drivers/web/web-client.js';
import { systemClock } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';
import { FETCH_LIMITS, fetchDocument } from '#services/metadata/fetch-document.js';
import { readMetadataLink } from '#services/metadata/metadata-link.js';
import {
  answer,
  answerOf,
  type Behaviour,
  LOOPBACK_ONLY,
  MisbehavingServer,
} from '#test/support/misbehaving-server.js';

let server: MisbehavingServer;
beforeAll(async () => {
  server = await MisbehavingServer.start();
});
afterEach(() => server.reset());
afterAll(() => server.close());

/** A slow machine does not reach a limit of time: what is about one of them sets that one. */
const LIMITS: WebLimits = { ...FETCH_LIMITS, totalMs: 120_000, firstByteMs: 120_000, stallMs: 120_000 };

async function fetchIt(
  limits = LIMITS,
  link = `http://hostile.example.com:${server.port}/0`,
  signal = new AbortController().signal,
  by: TargetPolicy = LOOPBACK_ONLY,
) {
  const web = new WebClient(limits, { policy: by, clock: systemClock });
  const read = readMetadataLink(link, `http://gateway.example.com:${server.port}`);
  return fetchDocument(read, { web, gatewayPolicy: LOOPBACK_ONLY }, signal);
}

/** The error of a fetch; the connection must be gone after it. */
async function failureOf(behaviour: Behaviour, limits = LIMITS): Promise<string> {
  server.behave = behaviour;
  const message = await fetchIt(limits).then(
    (document) => `it is read: ${JSON.stringify(document)}`,
    (error) => {
      if (!isTernError(error)) throw error;
      return `${error.code}: ${error.message}`;
    },
  );
  await expect.poll(() => server.sockets.size).toBe(0);
  return message;
}

const JSON_TYPE = 'content-type: application/json';
const DOCUMENT = '{"name":"a"}';

describe('a server', () => {
  it.each([
    ['JSON', [JSON_TYPE], DOCUMENT],
    ['text', ['content-type: text/plain; charset=utf-8'], DOCUMENT],
    ['something', ['content-type: application/octet-stream'], DOCUMENT],
    ['no type', [], DOCUMENT],
    ['a byte order mark', [JSON_TYPE], `\ufeff${DOCUMENT}`],
    ['gzip', ['content-encoding: gzip'], gzipSync(DOCUMENT)],
    ['deflate', ['content-encoding: deflate'], deflateSync(DOCUMENT)],
    ['deflate without its wrapper', ['content-encoding: DEFLATE'], deflateRawSync(DOCUMENT)],
    ['br', ['content-encoding: br'], brotliCompressSync(DOCUMENT)],
    [
      'chunks',
      ['transfer-encoding: chunked'],
      `5\r\n${DOCUMENT.slice(0, 5)}\r\n7\r\n${DOCUMENT.slice(5)}\r\n0\r\n\r\n`,
    ],
  ])('is understood when it answers with %s', async (_what, head, body) => {
    server.behave = answer(head, body);
    await expect(fetchIt()).resolves.toEqual({ name: 'a' });
    expect(server.requests).toBe(1);
  });

  it('is asked for content of IPFS as its gateway', async () => {
    const paths: string[] = [];
    server.behave = (socket, path) => {
      paths.push(path);
      answer([JSON_TYPE], DOCUMENT)(socket, path);
    };
    await fetchIt(LIMITS, 'ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG/1.json');
    expect(paths).toEqual(['/ipfs/QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG/1.json']);
  });

  it('is sent nothing that identifies this machine', async () => {
    let head = '';
    const listener = (socket: Socket) => socket.on('data', (bytes) => (head += bytes.toString('latin1')));
    server.server.on('connection', listener);
    server.behave = answer([JSON_TYPE, 'set-cookie: a=b'], DOCUMENT);
    await fetchIt();
    server.server.off('connection', listener);
    const names = head
      .split('\r\n')
      .slice(1, -2)
      .map((line) => line.split(':')[0]!.toLowerCase());
    expect(names.sort()).toEqual(['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);
    expect(head).toContain(`host: hostile.example.com:${server.port}\r\n`);
  });
});

describe('a failure', () => {
  it('has a code of this module, whatever the server does', async () => {
    expect(await failureOf(() => {}, { ...LIMITS, firstByteMs: 400 })).toMatch(
      /^metadata\/time: .* does not answer within 400 ms$/,
    );
    expect(await failureOf((socket) => socket.destroy())).toMatch(/^metadata\/unreachable: .*ECONNRESET/);
    expect(await failureOf(answer(['content-length: 99999999999'], '{}'))).toMatch(/^metadata\/too-large: /);
    const bomb = answer([JSON_TYPE, 'content-encoding: gzip'], gzipSync(Buffer.alloc(2 ** 20, 0x20)));
    expect(await failureOf(bomb)).toMatch(/^metadata\/too-large: the decompressed response body/);
    expect(await failureOf(answer(['content-encoding: zstd'], DOCUMENT))).toMatch(/^metadata\/content-encoding: /);
    expect(await failureOf(answerOf('SSH-2.0-OpenSSH_9.6\r\n'))).toMatch(/^metadata\/unreachable: .*HPE_/);
    const redirect = (to: string) => answerOf(`HTTP/1.1 302 Found\r\nlocation: ${to}\r\nconnection: close\r\n\r\n`);
    expect(await failureOf(redirect('/0'))).toMatch(/^metadata\/redirects: /);
    expect(await failureOf(redirect('ftp://example.com/'))).toMatch(/^metadata\/scheme: /);
    expect(await failureOf(redirect('http://a@example.com/'))).toMatch(/^metadata\/link: /);
  });

  it('has a code of this module, whatever the link is', async () => {
    const strict = targetPolicy({ resolve: async (name) => (name.startsWith('inside') ? LOOPBACK : []) });
    const codes = async (links: readonly string[]) =>
      Promise.all(
        links.map((link) =>
          fetchIt(LIMITS, link, undefined, strict).then(
            () => 'it is read',
            (error) => error.code,
          ),
        ),
      );
    const links = ['http://inside.example.com/', 'http://[::ffff:127.0.0.1]/', 'http://localhost/'];
    expect(await codes(links)).toEqual(['metadata/address', 'metadata/address', 'metadata/host']);
    expect(await codes(['http://nowhere.example.com/', 'http://inside.example.com:22/'])).toEqual([
      'metadata/unresolved',
      'metadata/port',
    ]);
  });

  it('names a document that is something else', async () => {
    const typed = (type: string) => failureOf(answer([`content-type: ${type}`], DOCUMENT));
    expect(await typed('image/png')).toBe(
      'metadata/content-type: the document has the type "image/png", and not JSON or text',
    );
    expect(await typed('video/mp4')).toMatch(/^metadata\/content-type: /);
    expect(await typed('application/zip')).toMatch(/^metadata\/content-type: /);
    const body = (bytes: string | Uint8Array) => failureOf(answer([JSON_TYPE], bytes));
    expect(await body('<!doctype html>')).toMatch(/^metadata\/not-json: /);
    expect(await body('[1,2]')).toMatch(/it is an array$/);
    expect(await body('"text"')).toMatch(/it is a string$/);
    expect(await body('')).toMatch(/^metadata\/not-json: /);
    expect(await body(Uint8Array.of(0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d))).toMatch(/^metadata\/not-utf8: /);
    expect(await body(Uint8Array.of(0xff, 0xfe, 0x7b, 0, 0x7d, 0))).toMatch(/^metadata\/not-utf8: /);
    expect(await body(`{"a":${'['.repeat(200_000)}`)).toMatch(/nested deeper than 64$/);
  });

  it.each([204, 400, 404, 429, 500, 503])('names the status %i', async (status) => {
    const message = await failureOf(answerOf(`HTTP/1.1 ${status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`));
    expect(message).toMatch(
      status === 204 ? /^metadata\/not-json: / : new RegExp(`^metadata/status: .* HTTP status ${status}$`),
    );
  });

  it('is the reason of the signal when the service ends', async () => {
    server.behave = () => {};
    const stop = new AbortController();
    const reason = new TypeError('the reason');
    setTimeout(() => stop.abort(reason), 50);
    await expect(fetchIt(LIMITS, undefined, stop.signal)).rejects.toBe(reason);
    await expect(fetchIt(LIMITS, undefined, stop.signal)).rejects.toBe(reason);
  });
});

const LOOPBACK = [{ address: '127.0.0.1', family: 4 }] as const;

import type { Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { decompressBody, parseWebUrl, WebClient, type WebLimits, type WebRequest } from '#drivers/web/web-client.js';
import { systemClock } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';
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
const LIMITS: WebLimits = {
  ...{ totalMs: 120_000, firstByteMs: 120_000, stallMs: 120_000 },
  ...{ bytes: 2 ** 19, headerBytes: 16_384, redirects: 3 },
};

let method: WebRequest['method'] = 'GET';

/** Status and decompressed body. */
async function fetchIt(
  limits = LIMITS,
  link = `http://hostile.example.com:${server.port}/0`,
  signal = new AbortController().signal,
): Promise<string> {
  const client = new WebClient(limits, { policy: LOOPBACK_ONLY, clock: systemClock });
  const headers = { 'user-agent': 'test' };
  const body = Buffer.alloc(method === 'POST' ? 100_000 : 0, 0x20);
  const response = await client.send({ method, url: parseWebUrl(link), headers, body }, signal);
  return `${response.status} ${Buffer.from(await decompressBody(response, limits.bytes)).toString()}`;
}

/** The error of a fetch; the connection must be gone after it. @param limits that replace the usual ones */
async function failureOf(behaviour: Behaviour, limits: Partial<WebLimits> = {}): Promise<string> {
  server.behave = behaviour;
  const message = await fetchIt({ ...LIMITS, ...limits }).then(
    (response) => `it is read: ${response}`,
    (error) => {
      if (!isTernError(error)) throw error;
      return `${error.code}: ${error.message}`;
    },
  );
  await expect.poll(() => server.sockets.size).toBe(0);
  return message;
}

/** Writes as fast as it is taken, for ever. */
function pour(socket: Socket, piece: string | Uint8Array): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once('drain', more);
  };
  more();
}

const JSON_TYPE = 'content-type: application/json';
const DOCUMENT = '{"name":"a"}';

describe.each(['GET', 'POST'] as const)('a server, asked by %s', (each) => {
  beforeAll(() => {
    method = each;
  });

  it.each([
    ['JSON', [JSON_TYPE], DOCUMENT],
    ['text', ['content-type: text/plain; charset=utf-8'], DOCUMENT],
    ['something', ['content-type: application/octet-stream'], DOCUMENT],
    ['no type', [], DOCUMENT],
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
    await expect(fetchIt()).resolves.toBe(`200 ${DOCUMENT}`);
    expect(server.requests).toBe(1);
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
    expect(names.sort()).toEqual(
      method === 'GET'
        ? ['accept-encoding', 'connection', 'host', 'user-agent']
        : ['accept-encoding', 'connection', 'content-length', 'host', 'user-agent'],
    );
    expect(head).toContain(`host: hostile.example.com:${server.port}\r\n`);
  });
});

describe.each(['GET', 'POST'] as const)('a hostile server, asked by %s,', (each) => {
  beforeAll(() => {
    method = each;
  });

  it('that never answers', async () => {
    expect(await failureOf(() => {}, { firstByteMs: 400 })).toMatch(/^web\/time: .* does not answer within 400 ms$/);
  });

  it('that takes the connection and begins no TLS', async () => {
    server.behave = () => {};
    const asked = fetchIt({ ...LIMITS, firstByteMs: 400 }, `https://hostile.example.com:${server.port}/`);
    await expect(asked).rejects.toMatchObject({
      code: 'web/unreachable',
      message: expect.stringMatching(/: no connection within 400 ms$/),
    });
  });

  it('that sends its head byte by byte', async () => {
    const drip: Behaviour = (socket) => {
      let sent = 0;
      const text = `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(10_000)}`;
      server.timers.add(setInterval(() => socket.write(text[sent++] ?? 'y'), 20));
    };
    expect(await failureOf(drip, { firstByteMs: 400 })).toMatch(/^web\/time: .* does not answer within 400 ms$/);
  });

  it('that sends its body byte by byte', async () => {
    const drip: Behaviour = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n');
      server.timers.add(setInterval(() => socket.write(' '), 50));
    };
    expect(await failureOf(drip, { totalMs: 1_500 })).toMatch(/^web\/time: .* does not finish within 1500 ms$/);
  });

  it('that stops in the middle', async () => {
    const stop: Behaviour = (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"name":');
    expect(await failureOf(stop, { stallMs: 300 })).toMatch(/^web\/time: .* sends nothing more within 300 ms$/);
  });

  it('that closes early', async () => {
    expect(await failureOf((socket) => socket.destroy())).toMatch(/^web\/unreachable: .*ECONNRESET/);
    expect(await failureOf(answer(['content-length: 100'], '{"name":'))).toMatch(/^web\/unreachable: /);
    expect(await failureOf((socket) => socket.end('HTTP/1.1 200'))).toMatch(/^web\/unreachable: /);
    expect(await failureOf(answer(['transfer-encoding: chunked'], '5\r\n{"nam'))).toMatch(/^web\/unreachable: /);
  });

  it('that never ends its body', async () => {
    const before = process.memoryUsage().rss;
    const endless: Behaviour = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n');
      pour(socket, Buffer.alloc(65_536, 0x20));
    };
    for (let i = 0; i < 10; i++) {
      expect(await failureOf(endless)).toMatch(/^web\/too-large: the response body has more than 524288 bytes$/);
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 2 ** 20);
  });

  it('that says how much is to come', async () => {
    expect(await failureOf(answer(['content-length: 99999999999'], '{}'))).toMatch(/^web\/too-large: /);
  });

  const BOMB = Buffer.alloc(64 * 2 ** 20, 0x20);
  it.each([
    ['gzip', () => gzipSync(BOMB)],
    ['deflate', () => deflateSync(BOMB)],
    ['br', () => brotliCompressSync(BOMB, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ])('that sends a bomb of %s', async (encoding, make) => {
    const bomb = make();
    expect(bomb.length).toBeLessThan(LIMITS.bytes);
    const before = process.memoryUsage().rss;
    const message = await failureOf(answer([JSON_TYPE, `content-encoding: ${encoding}`], bomb));
    expect(message).toBe('web/too-large: the decompressed response body has more than 524288 bytes');
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 2 ** 20);
  });

  it('that sends what is not what it says', async () => {
    const encoded = (encoding: string, body: string | Uint8Array) =>
      failureOf(answer([`content-encoding: ${encoding}`], body));
    expect(await encoded('gzip', DOCUMENT)).toMatch(/^web\/content-encoding: the content encoding "gzip" is invalid/);
    expect(await encoded('gzip', gzipSync(DOCUMENT).subarray(0, 20))).toMatch(/^web\/content-encoding: /);
    expect(await encoded('br', DOCUMENT)).toMatch(/^web\/content-encoding: /);
    expect(await encoded('deflate', '')).toMatch(/^web\/content-encoding: /);
    expect(await encoded('zstd', DOCUMENT)).toMatch(/"zstd" is not supported/);
    expect(await encoded('gzip, gzip', gzipSync(gzipSync(DOCUMENT)))).toMatch(/is not supported/);
    expect(await encoded('constructor', DOCUMENT)).toMatch(/is not supported/);
  });

  it('that redirects and redirects', async () => {
    const on: Behaviour = (socket, path) =>
      void socket.end(`HTTP/1.1 307 Found\r\nlocation: /${Number(path.slice(1)) + 1}\r\nconnection: close\r\n\r\n`);
    expect(await failureOf(on)).toMatch(/^web\/redirects: .* redirects once more after 3 redirects$/);
    expect(server.requests).toBe(4);
    const loop: Behaviour = (socket) =>
      void socket.end('HTTP/1.1 308 Moved\r\nlocation: /0\r\nconnection: close\r\n\r\n');
    expect(await failureOf(loop)).toMatch(/^web\/redirects: /);
    expect(server.requests).toBe(8);
    const slow: Behaviour = (socket, path) => void setTimeout(() => on(socket, path), 150);
    expect(await failureOf(slow, { totalMs: 1_500, redirects: 100 })).toMatch(
      /^web\/time: .* does not finish within 1500 ms$/,
    );
    const nowhere: Behaviour = (socket) => void socket.end('HTTP/1.1 307 Found\r\nconnection: close\r\n\r\n');
    expect(await failureOf(nowhere)).toMatch(/redirects without a location$/);
    const long = answerOf(`HTTP/1.1 307 Found\r\nlocation: http://a/${'b'.repeat(9_000)}\r\nconnection: close\r\n\r\n`);
    expect(await failureOf(long)).toMatch(/^web\/url: /);
    const pouring: Behaviour = (socket) => {
      socket.write('HTTP/1.1 307 Found\r\nlocation: /0\r\n\r\n');
      pour(socket, Buffer.alloc(65_536, 0x20));
    };
    expect(await failureOf(pouring)).toMatch(/^web\/redirects: /);
  });

  it('that sends a flood of headers', async () => {
    const flood: Behaviour = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      pour(socket, `x-header: ${'y'.repeat(1_000)}\r\n`);
    };
    expect(await failureOf(flood)).toMatch(/^web\/unreachable: .*HPE_HEADER_OVERFLOW/);
    expect(await failureOf(answer([`x: ${'y'.repeat(20_000)}`], DOCUMENT))).toMatch(/HPE_HEADER_OVERFLOW/);
    const hint = 'HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n';
    const interim = answerOf(`${hint.repeat(20)}HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n${DOCUMENT}`);
    expect(await failureOf(interim)).toMatch(/^web\/unreachable: .* interim responses without end/);
    expect(await failureOf((socket) => pour(socket, hint), { totalMs: 1_500 })).toMatch(/^web\/(unreachable|time): /);
    const trailers: Behaviour = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n');
      pour(socket, `x-trailer: ${'y'.repeat(1_000)}\r\n`);
    };
    expect(await failureOf(trailers, { totalMs: 1_500 })).toMatch(/^web\/(unreachable|time): /);
  });

  it('that does not speak HTTP', async () => {
    expect(await failureOf(answerOf('SSH-2.0-OpenSSH_9.6\r\n'))).toMatch(/^web\/unreachable: .*HPE_/);
    expect(await failureOf(answerOf('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'))).toMatch(
      /^web\/unreachable: .* changes the protocol$/,
    );
    expect(await failureOf(answerOf('HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n{}'))).toMatch(
      /^web\/unreachable: /,
    );
  });

  it.each([204, 400, 404, 429, 500, 503])('that answers with status %i', async (status) => {
    server.behave = answerOf(`HTTP/1.1 ${status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
    await expect(fetchIt()).resolves.toBe(`${status} `);
  });

  it('that sends an endless body with a status that is an error', async () => {
    server.behave = (socket) => {
      socket.write('HTTP/1.1 500 X\r\n\r\n');
      pour(socket, Buffer.alloc(65_536, 0x20));
    };
    await expect(fetchIt()).resolves.toBe('500 ');
  });

  it('whose certificate nobody has signed', async () => {
    const names: string[] = [];
    const secure = createTlsServer(
      {
        ...SELF_SIGNED,
        SNICallback: (name, done) => {
          names.push(name);
          done(null);
        },
      },
      (socket) => void socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${DOCUMENT}`),
    );
    secure.on('tlsClientError', () => {});
    await new Promise<void>((done) => secure.listen(0, '127.0.0.1', done));
    const { port: securePort } = secure.address() as { port: number };
    try {
      const failure = fetchIt(LIMITS, `https://hostile.example.com:${securePort}/`);
      await expect(failure).rejects.toThrow(
        /the server hostile.example.com cannot be reached: DEPTH_ZERO_SELF_SIGNED_CERT/,
      );
      expect(names).toEqual(['hostile.example.com']);
    } finally {
      await new Promise((done) => secure.close(done));
    }
  });

  it('is left when the service ends', async () => {
    server.behave = () => {};
    const stop = new AbortController();
    const reason = new TypeError('the reason');
    setTimeout(() => stop.abort(reason), 50);
    await expect(fetchIt(LIMITS, undefined, stop.signal)).rejects.toBe(reason);
    await expect(fetchIt(LIMITS, undefined, stop.signal)).rejects.toBe(reason);
  });
});

/** A certificate for hostile.example.com that only its own key has signed; made for this test. */
const SELF_SIGNED = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgGpzzezp3OrF9zoxy
PXytCjsjQC/wV/gKgmWLtzlOg96hRANCAATbelFdlnaUULrE1YOn3LYU7FEwjolL
LRWUyEVM+A3tRquS2ljtMNKhWeue9BWNHxTYkZp1vwNjaLuh+n2cuvBL
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBtDCCAVmgAwIBAgIUKp1oLo01sURwP2eJedqcbHfJQe8wCgYIKoZIzj0EAwIw
HjEcMBoGA1UEAwwTaG9zdGlsZS5leGFtcGxlLmNvbTAgFw0yNjExMjEyMDU3NDda
GA8yMTI2MTAyODIwNTc0N1owHjEcMBoGA1UEAwwTaG9zdGlsZS5leGFtcGxlLmNv
bTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNt6UV2WdpRQusTVg6fcthTsUTCO
iUstFZTIRUz4De1Gq5LaWO0w0qFZ6570FY0fFNiRmnW/A2Nou6H6fZy68EujczBx
MB0GA1UdDgQWBBTkMmTpbMXiAiki6oopy1AIkV7Q8TAfBgNVHSMEGDAWgBTkMmTp
bMXiAiki6oopy1AIkV7Q8TAPBgNVHRMBAf8EBTADAQH/MB4GA1UdEQQXMBWCE2hv
c3RpbGUuZXhhbXBsZS5jb20wCgYIKoZIzj0EAwIDSQAwRgIhAKAyijlxfxSnyCgy
hynm32aLjd2J+cGy9jVLP8MqXsv5AiEA/gJJy8iaKn/Pt1CQUNLLhTZniAHGYmX0
utyKrnMfOok=
-----END CERTIFICATE-----`,
};

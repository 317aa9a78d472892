import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Resolve, type TargetPolicy, targetPolicy } from '#drivers/web/target-policy.js';
import { parseWebUrl, WebClient, type WebLimits, type WebRequest } from '#drivers/web/web-client.js';
import { systemClock } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';

/** An address of the internet, which stands for the server `outside` of these tests. */
const PUBLIC = '93.184.216.34';

/** What names lead to; the answers of a name in turn, the last one for ever. */
const NAMES: Record<string, readonly (readonly string[])[]> = {
  'outside.example.com': [[PUBLIC]],
  'inside.example.com': [['127.0.0.1']],
  'inside6.example.com': [['::1']],
  'mixed.example.com': [[PUBLIC, '127.0.0.1']],
  'mixed6.example.com': [[PUBLIC, '::ffff:127.0.0.1']],
  'private.example.com': [['10.1.2.3']],
  'cloud.example.com': [['169.254.169.254']],
  'rebinding.example.com': [[PUBLIC], ['127.0.0.1']],
  'nothing.example.com': [[]],
};

let asked: string[] = [];
const resolve: Resolve = async (name) => {
  const answers = NAMES[name] ?? [];
  const turn = asked.filter((each) => each === name).length;
  asked.push(name);
  const answer = answers[Math.min(turn, answers.length - 1)];
  if (answer === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  return answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
};

/** The default policy with the ports of these tests. Its checked answers lead to the server `outside`. */
const real = targetPolicy({ resolve, ports: 'any' });
const policy: TargetPolicy = {
  addressesOf: async (url, signal) =>
    (await real.addressesOf(url, signal)).map((each) =>
      each.address === PUBLIC ? { address: '127.0.0.1', family: 4 } : each,
    ),
};

let reached = 0;
let inside: TcpServer[] = [];
let outside: Server;
let port: number;
let outsidePort: number;
let location = '';
let redirectStatus = 302;
let received: { method: string; body: string; headers: IncomingHttpHeaders }[] = [];

beforeAll(async () => {
  const count = () =>
    createTcpServer((socket) => {
      reached++;
      socket.destroy();
    });
  const first = count();
  await new Promise<void>((done) => first.listen(0, '127.0.0.1', done));
  port = (first.address() as AddressInfo).port;
  const second = count();
  // Machines without IPv6 have nothing to reach there.
  const hasIpv6 = await new Promise<boolean>((done) => {
    second.once('error', () => done(false));
    second.listen(port, '::1', () => done(true));
  });
  inside = hasIpv6 ? [first, second] : [first];
  outside = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      received.push({ method: request.method ?? '', body, headers: request.headers });
      if (request.url === '/document.json') response.end('{"name":"outside"}');
      else response.writeHead(redirectStatus, { location }).end();
    });
  });
  await new Promise<void>((done) => outside.listen(0, '127.0.0.1', done));
  outsidePort = (outside.address() as AddressInfo).port;
});

afterAll(async () => {
  for (const server of [...inside, outside]) await new Promise((done) => server.close(done));
});

const LIMITS: WebLimits = {
  ...{ totalMs: 3_000, firstByteMs: 3_000, stallMs: 3_000 },
  ...{ bytes: 1_000, headerBytes: 16_384, redirects: 3 },
};

type Method = WebRequest['method'];
const METHODS: readonly Method[] = ['GET', 'POST'];
const BODY = '{"event":1}';

/** The body of the response. */
async function send(method: Method, link: string, by: TargetPolicy = policy): Promise<string> {
  const client = new WebClient(LIMITS, { policy: by, clock: systemClock });
  const request = { method, url: parseWebUrl(link), headers: { 'X-Signature': 'abc' }, body: Buffer.from(BODY) };
  const { status, body } = await client.send(request, new AbortController().signal);
  expect(status).toBe(200);
  return Buffer.from(body).toString();
}

/** The code with which it fails; anything but a typed error goes through. */
async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (isTernError(error)) return error.code;
    throw error;
  }
  return 'it succeeds';
}

const ADDRESS = 'web/address';
const HOST = 'web/host';
const URL_ERROR = 'web/url';
const SCHEME = 'web/scheme';

/** Links that want to get inside; PORT is one where something listens on loopback. */
const TRICKS: readonly (readonly [link: string, code: string])[] = [
  // Addresses of IPv4, in every spelling that URLs have
  ['http://127.0.0.1:PORT/', ADDRESS],
  ['http://127.1:PORT/', ADDRESS],
  ['http://127.0.1:PORT/', ADDRESS],
  ['http://127.255.255.254:PORT/', ADDRESS],
  ['http://2130706433:PORT/', ADDRESS],
  ['http://017700000001:PORT/', ADDRESS],
  ['http://0x7f000001:PORT/', ADDRESS],
  ['http://0x7f.0.0.1:PORT/', ADDRESS],
  ['http://0177.0.0.01:PORT/', ADDRESS],
  ['http://0x7f.1:PORT/', ADDRESS],
  ['http://127.0.0.1.:PORT/', ADDRESS],
  ['http://0:PORT/', ADDRESS],
  ['http://0.0.0.0:PORT/', ADDRESS],
  ['http://%31%32%37.0.0.1:PORT/', ADDRESS],
  ['http://127%2e0%2e0%2e1:PORT/', ADDRESS],
  ['http://\uff11\uff12\uff17.\uff10.\uff10.\uff11:PORT/', ADDRESS],
  ['http://\u2460\u2461\u2466.0.0.1:PORT/', ADDRESS],
  ['http://127\u30020\u30020\u30021:PORT/', ADDRESS],
  ['http:\\\\127.0.0.1:PORT\\', ADDRESS],
  ['http:127.0.0.1:PORT/', ADDRESS],
  ['\x01 http://127.0.0.1:PORT/', ADDRESS],
  ['ht\ntp://127.0.\t0.1:PORT/', ADDRESS],
  // Addresses of IPv6
  ['http://[::1]:PORT/', ADDRESS],
  ['http://[0:0:0:0:0:0:0:1]:PORT/', ADDRESS],
  ['http://[::]:PORT/', ADDRESS],
  ['http://[::ffff:127.0.0.1]:PORT/', ADDRESS],
  ['http://[::ffff:7f00:1]:PORT/', ADDRESS],
  ['http://[::127.0.0.1]:PORT/', ADDRESS],
  ['http://[::ffff:0:127.0.0.1]:PORT/', ADDRESS],
  ['http://[64:ff9b::127.0.0.1]:PORT/', ADDRESS],
  ['http://[64:ff9b:1::7f00:1]:PORT/', ADDRESS],
  ['http://[2002:7f00:1::]:PORT/', ADDRESS],
  ['http://[2001:0:4136:e378:8000:63bf:80ff:fffe]:PORT/', ADDRESS],
  ['http://[fe80::1]:PORT/', ADDRESS],
  ['http://[fe80::1%25lo]:PORT/', URL_ERROR],
  ['http://[fd00:ec2::254]:PORT/', ADDRESS],
  ['http://[fc00::1]:PORT/', ADDRESS],
  ['http://[fec0::1]:PORT/', ADDRESS],
  ['http://[ff02::1]:PORT/', ADDRESS],
  ['http://[2001:db8::1]:PORT/', ADDRESS],
  ['http://[100::1]:PORT/', ADDRESS],
  // Ranges that are not of the internet
  ['http://10.0.0.1:PORT/', ADDRESS],
  ['http://172.16.0.1:PORT/', ADDRESS],
  ['http://172.31.255.255:PORT/', ADDRESS],
  ['http://192.168.1.1:PORT/', ADDRESS],
  ['http://100.64.0.1:PORT/', ADDRESS],
  ['http://100.100.100.200/latest/meta-data/', ADDRESS],
  ['http://169.254.169.254/latest/meta-data/iam/security-credentials/', ADDRESS],
  ['http://[::ffff:169.254.169.254]/', ADDRESS],
  ['http://168.63.129.16/machine', ADDRESS],
  ['http://192.0.0.192/', ADDRESS],
  ['http://192.88.99.1:PORT/', ADDRESS],
  ['http://198.18.0.1:PORT/', ADDRESS],
  ['http://203.0.113.7:PORT/', ADDRESS],
  ['http://224.0.0.1:PORT/', ADDRESS],
  ['http://255.255.255.255:PORT/', ADDRESS],
  // Names of what is inside
  ['http://localhost:PORT/', HOST],
  ['http://LOCALHOST:PORT/', HOST],
  ['http://localhost.:PORT/', HOST],
  ['http://a.localhost:PORT/', HOST],
  ['http://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3:PORT/', HOST],
  ['http://localhost%2e:PORT/', HOST],
  ['http://metadata.google.internal/computeMetadata/v1/', HOST],
  ['http://metadata.google.internal./computeMetadata/v1/', HOST],
  ['http://metadata/', HOST],
  ['http://postgres:PORT/', HOST],
  ['http://db.default.svc.cluster.local:PORT/', HOST],
  ['http://printer.local:PORT/', HOST],
  ['http://a..example.com:PORT/', HOST],
  // Names that lead inside
  ['http://inside.example.com:PORT/', ADDRESS],
  ['https://inside.example.com:PORT/', ADDRESS],
  ['http://inside.example.com.:PORT/', ADDRESS],
  ['http://INSIDE.EXAMPLE.COM:PORT/', ADDRESS],
  ['http://inside6.example.com:PORT/', ADDRESS],
  ['http://mixed.example.com:PORT/', ADDRESS],
  ['http://mixed6.example.com:PORT/', ADDRESS],
  ['http://private.example.com:PORT/', ADDRESS],
  ['http://cloud.example.com/latest/', ADDRESS],
  // Credentials, which also hide what the host is
  ['http://outside.example.com@127.0.0.1:PORT/', URL_ERROR],
  ['http://user:password@outside.example.com:PORT/', URL_ERROR],
  ['http://outside.example.com:80@127.0.0.1:PORT/', URL_ERROR],
  ['http://127.0.0.1:PORT#@outside.example.com/', ADDRESS],
  ['http://127.0.0.1:PORT\\@outside.example.com/', ADDRESS],
  ['http://127.0.0.1 outside.example.com:PORT/', URL_ERROR],
  // Other schemes
  ['file:///etc/passwd', SCHEME],
  ['ftp://127.0.0.1:PORT/', SCHEME],
  ['gopher://127.0.0.1:PORT/_a', SCHEME],
  ['dict://127.0.0.1:PORT/', SCHEME],
  ['ldap://127.0.0.1:PORT/', SCHEME],
  ['unix:/run/postgresql/.s.PGSQL.5432', SCHEME],
  ['http+unix://%2Frun%2Fdocker.sock/', SCHEME],
  ['jar:http://127.0.0.1:PORT/!/', SCHEME],
  ['view-source:http://127.0.0.1:PORT/', SCHEME],
  ['javascript:fetch("http://127.0.0.1:PORT")', SCHEME],
  ['blob:http://127.0.0.1:PORT/1', SCHEME],
  ['ws://127.0.0.1:PORT/', SCHEME],
  ['ipns://outside.example.com/', SCHEME],
  ['tonstorage://0/', SCHEME],
  ['//127.0.0.1:PORT/', URL_ERROR],
  ['127.0.0.1:PORT', URL_ERROR],
  ['', URL_ERROR],
  ['ipfs://127.0.0.1:PORT/', SCHEME],
];

const DOCUMENT = '{"name":"outside"}';

describe.each(METHODS)('a URL of a %s', (method) => {
  it.each(TRICKS)('gets nothing from inside: %s', async (link, code) => {
    const before = reached;
    expect(await codeOf(send(method, link.replaceAll('PORT', String(port))))).toBe(code);
    expect(reached).toBe(before);
  });

  it.each([302, 307])('gets nothing from inside by a redirect with status %i', async (status) => {
    const before = reached;
    redirectStatus = status;
    for (const [link] of TRICKS) {
      if (!/^[!-~]+$/.test(link)) continue;
      location = link.replaceAll('PORT', String(port));
      const found = await codeOf(send(method, `http://outside.example.com:${outsidePort}/to-inside`));
      // A location that is not a URL by itself is a path of the same server, which redirects again.
      expect([ADDRESS, HOST, URL_ERROR, SCHEME, 'web/redirects'], `${location} gave ${found}`).toContain(found);
    }
    expect(reached).toBe(before);
  });

  it('gets nothing from an address of this machine, public or not', async () => {
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    expect(own.length).toBeGreaterThan(0);
    for (const { address, family } of own) {
      const host = family === 'IPv6' ? `[${address.replace(/%.*/, '')}]` : address;
      expect(await codeOf(send(method, `http://${host}:${port}/`))).toBe(ADDRESS);
    }
  });

  it('is resolved once, and connected to the address that was checked', async () => {
    const before = reached;
    asked = [];
    await expect(send(method, `http://rebinding.example.com:${outsidePort}/document.json`)).resolves.toBe(DOCUMENT);
    expect(asked).toEqual(['rebinding.example.com']);
    // It leads inside by now.
    expect(await codeOf(send(method, `http://rebinding.example.com:${port}/`))).toBe(ADDRESS);
    expect(reached).toBe(before);
  });

  it('is resolved again for a redirect to the same name', async () => {
    const before = reached;
    asked = [];
    redirectStatus = 307;
    location = `http://rebinding.example.com:${outsidePort}/`;
    expect(await codeOf(send(method, `http://rebinding.example.com:${outsidePort}/to-itself`))).toBe(ADDRESS);
    expect(asked).toEqual(['rebinding.example.com', 'rebinding.example.com']);
    expect(reached).toBe(before);
  });

  it('is distinguished from one that has no address', async () => {
    expect(await codeOf(send(method, 'http://nothing.example.com/'))).toBe('web/unresolved');
    expect(await codeOf(send(method, 'http://unknown.example.com/'))).toBe('web/unresolved');
  });

  it('would get there without the policy', async () => {
    const before = reached;
    const anywhere: TargetPolicy = { addressesOf: async () => [{ address: '127.0.0.1', family: 4 }] };
    expect(await codeOf(send(method, `http://inside.example.com:${port}/`, anywhere))).toBe('web/unreachable');
    expect(await codeOf(send(method, `http://2130706433:${port}/`, anywhere))).toBe('web/unreachable');
    expect(reached).toBe(before + 2);
  });

  it('reaches what is outside', async () => {
    const direct = `http://outside.example.com:${outsidePort}/document.json#@127.0.0.1:${port}/`;
    await expect(send(method, direct)).resolves.toBe(DOCUMENT);
    redirectStatus = 307;
    location = `http://outside.example.com:${outsidePort}/document.json`;
    await expect(send(method, `http://outside.example.com:${outsidePort}/redirected`)).resolves.toBe(DOCUMENT);
  });

  it('reaches private networks where they are allowed', async () => {
    const allowing = targetPolicy({ allowPrivateNetworks: true });
    await expect(send(method, `http://127.0.0.1:${outsidePort}/document.json`, allowing)).resolves.toBe(DOCUMENT);
    await expect(send(method, `http://localhost:${outsidePort}/document.json`, allowing)).resolves.toBe(DOCUMENT);
    const resolving = targetPolicy({ allowPrivateNetworks: true, resolve });
    await expect(send(method, `http://inside.example.com:${outsidePort}/document.json`, resolving)).resolves.toBe(
      DOCUMENT,
    );
  });
});

describe('a request', () => {
  it('is not sent to other ports than those of the web', async () => {
    const strict = targetPolicy({ resolve });
    const codeAt = (link: string) => codeOf(strict.addressesOf(new URL(link), new AbortController().signal));
    for (const each of [22, 25, 1, 0, 5432, 6379, 9200, 11211, port]) {
      expect(await codeAt(`http://outside.example.com:${each}/`)).toBe('web/port');
    }
    for (const link of ['http://outside.example.com', 'https://outside.example.com:8443']) {
      await expect(strict.addressesOf(new URL(link), new AbortController().signal)).resolves.toHaveLength(1);
    }
  });

  it('carries the body and the headers of a POST, and repeats them at a redirect', async () => {
    received = [];
    redirectStatus = 308;
    location = '/document.json';
    await send('POST', `http://outside.example.com:${outsidePort}/redirected`);
    expect(received.map(({ method, body }) => [method, body])).toEqual([
      ['POST', BODY],
      ['POST', BODY],
    ]);
    for (const { headers } of received) {
      expect(headers).toMatchObject({ 'x-signature': 'abc', 'content-length': String(BODY.length) });
      expect(headers.host).toBe(`outside.example.com:${outsidePort}`);
    }
  });

  it('is not repeated elsewhere or as another method when it is a POST', async () => {
    received = [];
    for (const status of [301, 302, 303]) {
      redirectStatus = status;
      location = '/document.json';
      expect(await codeOf(send('POST', `http://outside.example.com:${outsidePort}/redirected`))).toBe('web/redirects');
    }
    redirectStatus = 307;
    location = `http://rebinding.example.com:${outsidePort}/document.json`;
    expect(await codeOf(send('POST', `http://outside.example.com:${outsidePort}/redirected`))).toBe('web/redirects');
    expect(received).toHaveLength(4);
  });

  it('cannot have other headers smuggled into it', async () => {
    received = [];
    const client = new WebClient(LIMITS, { policy, clock: systemClock });
    const url = parseWebUrl(`http://outside.example.com:${outsidePort}/document.json`);
    const withHeaders = (headers: Record<string, string>) =>
      client.send({ method: 'POST', url, headers, body: Buffer.from(BODY) }, new AbortController().signal);
    expect(await codeOf(withHeaders({ 'x-a': '1\r\nx-b: 2' }))).toBe('web/request');
    expect(await codeOf(withHeaders({ 'x-a\r\nx-b': '2' }))).toBe('web/request');
    expect(received).toEqual([]);
    await withHeaders({
      Host: '127.0.0.1',
      'Content-Length': '3',
      'Transfer-Encoding': 'chunked',
      Connection: 'upgrade',
    });
    expect(received.map(({ body }) => body)).toEqual([BODY]);
    expect(received[0]!.headers).toMatchObject({
      host: `outside.example.com:${outsidePort}`,
      'content-length': String(BODY.length),
    });
    expect(received[0]!.headers['transfer-encoding']).toBeUndefined();
  });
});

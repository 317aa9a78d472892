import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Clock } from '#kernel/clock.js';
import { metadataErrors } from '#services/metadata/errors.js';
import { type HostAddress, hostOf, portOf } from '#services/metadata/fetch-policy.js';

/** An answer over HTTP. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** As it came; empty for statuses other than 2xx, whose bodies are not read. */
  readonly body: Uint8Array;
}

const HEADERS = {
  accept: 'application/json, text/plain;q=0.9, */*;q=0.1',
  'accept-encoding': 'gzip, deflate, br',
  'user-agent': 'tern (metadata of TON tokens)',
};

/** Answers before the answer, such as 103. */
const MAX_INTERIM = 8;

/**
 * Asks a server once, over a connection of its own to one of the given addresses; the certificate must be of the host in the
 * URL. Proxies, cookies and kept connections are not used.
 *
 * @throws metadata/unreachable, metadata/time, metadata/too-large, and the reason of `signal`
 */
export function httpGet(
  url: URL,
  addresses: readonly HostAddress[],
  limits: FetchLimits,
  clock: Clock,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const host = hostOf(url);
  const { request: send, Agent } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const request = send({
      // An address is connected to as it is; a name is not looked up again.
      ...{ host, port: portOf(url), path: `${url.pathname}${url.search}`, lookup: pinned(addresses) },
      ...{ method: 'GET', headers: { host: url.host, ...HEADERS }, maxHeaderSize: limits.headerBytes },
      ...{ agent: new Agent({ keepAlive: false }) },
      // The certificate is one of this name; of an address, when there is no name.
      ...{ servername: isIP(host) === 0 ? host : '', rejectUnauthorized: true },
    });
    const firstByteMs = Math.min(limits.firstByteMs, limits.totalMs);
    let timer = clock.schedule(firstByteMs, () => end(late('does not answer', firstByteMs)));
    let interim = 0;
    let isOver = false;
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    request.on('error', (error) => end(unreachable(error)));
    request.on('information', () => {
      if (++interim > MAX_INTERIM) end(unreachable('it answers without end that the answer is to come'));
    });
    request.on('upgrade', () => end(unreachable('it changes the protocol')));
    request.on('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      if (status < 200 || status > 299) end(null, { status, headers, body: new Uint8Array() });
      else readBody(response, status);
    });
    request.end();

    function readBody(response: http.IncomingMessage, status: number): void {
      const { headers } = response;
      const parts: Buffer[] = [];
      let length = 0;
      const tooLarge = () => metadataErrors['too-large']({ what: 'the document', most: limits.bytes });
      if (Number(headers['content-length']) > limits.bytes) {
        end(tooLarge());
        return;
      }
      const restart = () => {
        timer();
        timer = clock.schedule(limits.stallMs, () => end(late('sends nothing more', limits.stallMs)));
      };
      restart();
      response.on('data', (part: Buffer) => {
        length += part.length;
        if (length > limits.bytes) {
          end(tooLarge());
          return;
        }
        parts.push(part);
        restart();
      });
      response.on('error', (error) => end(unreachable(error)));
      response.on('aborted', () => end(unreachable('it ended the connection in the middle')));
      response.on('end', () => end(null, { status, headers, body: Buffer.concat(parts, length) }));
    }

    function end(problem: unknown, answer?: HttpResponse): void {
      if (isOver) return;
      isOver = true;
      timer();
      signal.removeEventListener('abort', onAbort);
      if (answer === undefined) reject(problem);
      else resolve(answer);
      // Nobody listens to what comes of it.
      request.on('error', () => {});
      request.destroy();
    }

    function onAbort(): void {
      end(signal.reason);
    }
  });

  function late(what: string, afterMs: number) {
    return metadataErrors.time({ host, what, afterMs });
  }

  function unreachable(cause: unknown) {
    return metadataErrors.unreachable({ host, problem: describe(cause) }, cause);
  }
}

/** A look-up that gives what was looked up before. */
function pinned(addresses: readonly HostAddress[]): LookupFunction {
  return (_name, options, done) => {
    if (options.all === true) {
      done(null, [...addresses]);
      return;
    }
    const { address, family } = addresses[0]!;
    done(null, address, family);
  };
}

function describe(cause: unknown): string {
  if (typeof cause === 'string') return cause;
  if (cause instanceof AggregateError && cause.errors.length > 0) return describe(cause.errors[0]);
  const { code, message } = cause as NodeJS.ErrnoException;
  return (code === undefined ? message : `${code}: ${message}`).slice(0, 300);
}

/** Bounds of one fetch, redirects and all. */
export interface FetchLimits {
  /** For all of it. */
  readonly totalMs: number;
  /** From a request until the answer to it begins. */
  readonly firstByteMs: number;
  /** Between two parts of a body. */
  readonly stallMs: number;
  /** Of a body as it comes, and as it is when decompressed. */
  readonly bytes: number;
  /** Of the head of an answer. */
  readonly headerBytes: number;
  readonly redirects: number;
}

export const FETCH_LIMITS: FetchLimits = {
  totalMs: 20_000,
  firstByteMs: 12_000,
  stallMs: 5_000,
  bytes: 2 ** 19,
  headerBytes: 16_384,
  redirects: 3,
};

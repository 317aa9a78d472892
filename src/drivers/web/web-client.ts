import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { webErrors } from '#drivers/web/errors.js';
import { type HostAddress, hostOf, portOf, type TargetPolicy } from '#drivers/web/target-policy.js';
import type { Clock } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';

/** Bounds of one request, redirects included. Times in milliseconds. */
export interface WebLimits {
  /** For the whole exchange. */
  readonly totalMs: number;
  /** From the start of a request until its response begins. */
  readonly firstByteMs: number;
  /** Between two parts of a response body. */
  readonly stallMs: number;
  /** Of a response body as it is received. */
  readonly bytes: number;
  /** Of the status line and headers of a response. */
  readonly headerBytes: number;
  /** Redirects that are followed. */
  readonly redirects: number;
}

export interface WebRequest {
  /** As {@link parseWebUrl} returns it. */
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  /** Sent besides `host`, `accept-encoding`, `connection` and `content-length`, which cannot be set. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent unchanged. A signature over it is the caller's, in `headers`. */
  readonly body?: Uint8Array;
  /** For the first connection, in place of the client's policy; redirects are still subject to the latter. */
  readonly policy?: TargetPolicy;
}

export interface WebResponse {
  /** After redirects. */
  readonly url: URL;
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** As received, see {@link decompressBody}; empty for statuses other than 2xx, whose bodies are not read. */
  readonly body: Uint8Array;
}

export interface WebClientModules {
  /** Decides where connections may go, anew for each redirect. */
  readonly policy: TargetPolicy;
  readonly clock: Clock;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** These repeat the method and the body; the others turn a POST into a GET. */
const REPEATING_REDIRECTS: ReadonlySet<number> = new Set([307, 308]);

/** Interim responses, such as 103, before the final one. */
const MAX_INTERIM = 8;

const MAX_URL = 8_192;
const SHOWN_URL = 100;

/**
 * Sends HTTP requests to servers that others choose: users, or contracts on the chain (protection against SSRF). Each request
 * has its own connection to an address that the policy has checked, so that a name cannot resolve to another address in
 * between (DNS rebinding). Proxies, cookies and credentials are not used; time, bytes and redirects are bounded.
 */
export class WebClient {
  readonly #limits: WebLimits;
  readonly #modules: WebClientModules;

  constructor(limits: WebLimits, modules: WebClientModules) {
    this.#limits = limits;
    this.#modules = modules;
  }

  /**
   * Sends a request and follows redirects. A POST is only repeated at the same origin (307 and 308): its body and signature are
   * not sent to anyone else.
   *
   * @throws web/*, and the reason of `signal`
   */
  async send(request: WebRequest, signal: AbortSignal): Promise<WebResponse> {
    const { totalMs } = this.#limits;
    const stop = new AbortController();
    const host = hostOf(request.url);
    const onAbort = () => stop.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const cancel = this.#modules.clock.schedule(totalMs, () =>
      stop.abort(webErrors.time({ host, what: 'does not finish', afterMs: totalMs })),
    );
    try {
      return await this.#follow(request, stop.signal);
    } catch (error) {
      if (signal.aborted || isTernError(error)) throw error;
      const problem = error instanceof Error ? error.message : String(error);
      throw webErrors.request({ host, problem }, error);
    } finally {
      cancel();
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #follow(request: WebRequest, signal: AbortSignal): Promise<WebResponse> {
    const { redirects } = this.#limits;
    let { url } = request;
    for (let hop = 0; ; hop++) {
      const policy = (hop === 0 ? request.policy : undefined) ?? this.#modules.policy;
      const addresses = await policy.addressesOf(url, signal);
      signal.throwIfAborted();
      const response = await this.#exchange({ ...request, url }, addresses, signal);
      const { status, headers } = response;
      if (!REDIRECTS.has(status)) return response;
      const host = hostOf(url);
      const refuse = (problem: string) => webErrors.redirects({ host, problem });
      if (headers.location === undefined) throw refuse('redirects without a location');
      if (hop === redirects) throw refuse(`redirects once more after ${redirects} redirects`);
      const next = parseWebUrl(headers.location, url);
      if (request.method === 'POST') {
        if (!REPEATING_REDIRECTS.has(status)) throw refuse(`redirects a POST with status ${status}`);
        if (next.origin !== url.origin) throw refuse('redirects a POST to another origin');
      }
      url = next;
    }
  }

  /** One request and its response, over a connection of its own. TLS certificates must be valid for the host of the URL. */
  #exchange(
    { url, method, headers: given = {}, body = new Uint8Array() }: WebRequest,
    addresses: readonly HostAddress[],
    signal: AbortSignal,
  ): Promise<WebResponse> {
    const limits = this.#limits;
    const { clock } = this.#modules;
    const host = hostOf(url);
    const { request: send, Agent } = url.protocol === 'https:' ? https : http;
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(given)) headers[name.toLowerCase()] = value;
    for (const name of ['transfer-encoding', 'connection', 'content-length', 'expect', 'upgrade']) delete headers[name];
    Object.assign(headers, { host: url.host, 'accept-encoding': 'gzip, deflate, br' });
    if (method === 'POST') headers['content-length'] = String(body.length);
    return new Promise((resolve, reject) => {
      const request = send({
        // An address is connected to as it is; a name is not resolved again.
        ...{ host, port: portOf(url), path: `${url.pathname}${url.search}`, lookup: pinnedLookup(addresses) },
        ...{ method, headers, maxHeaderSize: limits.headerBytes, agent: new Agent({ keepAlive: false }) },
        // An address as host has no server name in TLS.
        ...{ servername: isIP(host) === 0 ? host : '', rejectUnauthorized: true },
      });
      const firstByteMs = Math.min(limits.firstByteMs, limits.totalMs);
      let isConnected = false;
      let cancelTimer = clock.schedule(firstByteMs, () =>
        end(isConnected ? late('does not answer', firstByteMs) : unreachable(`no connection within ${firstByteMs} ms`)),
      );
      let interim = 0;
      let isOver = false;
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      request.on('socket', (socket) => {
        socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
          isConnected = true;
        });
      });
      request.on('error', (error) => end(unreachable(error)));
      request.on('information', () => {
        if (++interim > MAX_INTERIM) end(unreachable('it sends interim responses without end'));
      });
      request.on('upgrade', (_, socket) => {
        // Newer versions of Node no longer destroy it with the request.
        socket.destroy();
        end(unreachable('it changes the protocol'));
      });
      request.on('response', (response) => {
        const { statusCode: status = 0 } = response;
        if (status < 200 || status > 299) end(null, { url, status, headers: response.headers, body: new Uint8Array() });
        else readBody(response, status);
      });
      request.end(method === 'POST' ? body : undefined);

      function readBody(response: http.IncomingMessage, status: number): void {
        const parts: Buffer[] = [];
        let length = 0;
        const tooLarge = () => webErrors['too-large']({ what: 'the response body', most: limits.bytes });
        if (Number(response.headers['content-length']) > limits.bytes) {
          end(tooLarge());
          return;
        }
        const restartTimer = () => {
          cancelTimer();
          cancelTimer = clock.schedule(limits.stallMs, () => end(late('sends nothing more', limits.stallMs)));
        };
        restartTimer();
        response.on('data', (part: Buffer) => {
          length += part.length;
          if (length > limits.bytes) {
            end(tooLarge());
            return;
          }
          parts.push(part);
          restartTimer();
        });
        response.on('error', (error) => end(unreachable(error)));
        response.on('aborted', () => end(unreachable('it closed the connection before the end of the response')));
        response.on('end', () =>
          end(null, { url, status, headers: response.headers, body: Buffer.concat(parts, length) }),
        );
      }

      function end(problem: unknown, response?: WebResponse): void {
        if (isOver) return;
        isOver = true;
        cancelTimer();
        signal.removeEventListener('abort', onAbort);
        if (response === undefined) reject(problem);
        else resolve(response);
        // Later errors of the destroyed request have no reader.
        request.on('error', () => {});
        request.destroy();
      }

      function onAbort(): void {
        end(signal.reason);
      }
    });

    function late(what: string, afterMs: number) {
      return webErrors.time({ host, what, afterMs });
    }

    function unreachable(cause: unknown) {
      return webErrors.unreachable({ host, problem: describe(cause) }, cause);
    }
  }
}

/** A `lookup` for `node:net` that returns addresses which have been checked before. */
function pinnedLookup(addresses: readonly HostAddress[]): LookupFunction {
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

/**
 * Reads the URL of a request or of a redirect: http or https, without credentials. The fragment is dropped, and so is the dot
 * at the end of a fully qualified host name, which certificates and `Host` headers do not have.
 *
 * @param base what the URL is relative to
 * @throws web/url, web/scheme
 */
export function parseWebUrl(text: string, base?: URL): URL {
  const refuse = (problem: string) => {
    const url = JSON.stringify(text.length > SHOWN_URL ? `${text.slice(0, SHOWN_URL)}…` : text);
    return webErrors.url({ url, problem });
  };
  if (text.length > MAX_URL) throw refuse(`has more than ${MAX_URL} characters`);
  if (!URL.canParse(text, base?.href)) throw refuse('is not well-formed');
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw webErrors.scheme({ scheme: url.protocol.slice(0, Math.min(url.protocol.length - 1, 20)) });
  }
  if (url.username !== '' || url.password !== '') throw refuse('has a user name or a password in it');
  url.hash = '';
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  return url;
}

const DECODERS = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  br: promisify(brotliDecompress),
  // Some servers send raw DEFLATE data without the zlib header.
  deflate: (bytes: Uint8Array, options: { maxOutputLength: number }) =>
    promisify((bytes[0]! & 0x0f) === 8 ? inflate : inflateRaw)(bytes, options),
};

/**
 * The body of a response without its content encoding.
 *
 * @param most bytes of the result; no more than these are produced
 * @throws web/content-encoding, web/too-large
 */
export async function decompressBody({ body, headers }: Omit<WebResponse, 'url'>, most: number): Promise<Uint8Array> {
  const name = (headers['content-encoding'] ?? '').trim().toLowerCase();
  if (name === '' || name === 'identity') return body;
  const decode = Object.hasOwn(DECODERS, name) ? DECODERS[name as keyof typeof DECODERS] : null;
  const encoding = JSON.stringify(name.slice(0, 40));
  if (decode === null) throw webErrors['content-encoding']({ encoding, problem: 'is not supported' });
  try {
    return await decode(body, { maxOutputLength: most });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw webErrors['too-large']({ what: 'the decompressed response body', most });
    throw webErrors['content-encoding']({ encoding, problem: `is invalid: ${message}` }, error);
  }
}

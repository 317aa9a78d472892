import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { BlockList, isIPv4, isIPv6, type Socket } from 'node:net';
import { type BodyReader, hasLargeBody } from '#api/http/body-reader.js';
import { OPEN_TO_ALL } from '#api/http/early-refusals.js';
import { httpErrors } from '#api/http/errors.js';
import type { HttpSettings } from '#api/http/options.js';
import type { TurnOf, Turns } from '#api/http/turns.js';
import type { CancelSchedule, Clock } from '#kernel/clock.js';
import { type Link, LinkedList } from '#kernel/linked-list.js';
import type { TernError } from '#kernel/tern-error.js';
import { addressBlock, type KeyClient } from '#services/access/access.js';

type ConnectionSettings = Pick<
  HttpSettings,
  | 'trustProxy'
  | 'maxConnections'
  | 'maxConnectionsPerAddress'
  | 'maxPipelined'
  | 'headersTimeoutMs'
  | 'keepAliveMs'
  | 'minBytesPerSecond'
  | 'stallMs'
  | 'lingerMs'
>;

interface ConnectionModules {
  readonly clock: Clock;
  readonly bodies: BodyReader;
  readonly turns: Turns;
  /** The client that an API key stands for; null: it is no key. @param host the `Host` header */
  readonly clientOfKey: (key: string, host: string | undefined) => KeyClient | null;
  /** Answers a request that need not be read to be refused. @returns whether it did */
  readonly refuse: (message: IncomingMessage, response: ServerResponse) => boolean;
  /** `v2.2.0` */
  readonly apiVersion: string;
}

/** Why the server closed a connection; the label `reason` of its metric. */
const REASONS = [
  /** There were `maxConnections`, and none was idle. */
  'server-full',
  /** There were `maxConnectionsPerAddress` of its address, and none was idle. */
  'address-full',
  /** It was idle, and made room for another one. */
  'made-room',
  /** It was idle for too long. */
  'idle',
  /** It did not take its answer at `minBytesPerSecond`. */
  'answer-not-read',
  /** It did not close its side after the last answer, or did not send the rest of a request that was answered. */
  'lingering',
  /** It sent something that is no request, or a request too slowly. */
  'bad-request',
  /** More than `maxPipelined` of its requests waited for their answers. */
  'too-many-requests',
] as const;

type CloseReason = (typeof REASONS)[number];

/** How often answers and idle connections are looked at; several times in each `stallMs`. */
const SWEEP_MS = 1_000;

/** An API key in the first kilobyte of a URL. */
const KEY_IN_QUERY = /^.{1,1024}?[?&]api_key=([\w-]{1,200})(?:&|$)/;

/** A request whose turn is known, or the time of the clock at which it arrived. */
interface KnownMessage extends IncomingMessage {
  [TURN]?: TurnOf;
  [ARRIVED]?: number;
}

const TURN = Symbol('turn');
const ARRIVED = Symbol('arrived');

/** When a request arrived, by the clock, before it waited to be begun; null: it did not come through {@link Connections.watch}. */
export function arrivalOf(message: KnownMessage): number | null {
  return message[ARRIVED] ?? null;
}

/** Paths that must be answered whatever happens. */
const URGENT = /^\/(?:healthz|readyz|metrics)(?:[/?]|$)/;

/**
 * The connections of a server, within bounds: how many there are, of each client address as well; how long they are idle; how
 * fast answers are taken; how long they last after their last answer. What Node bounds (the time for headers and for a whole
 * request, the idle time after an answer) ends here as well: with an answer after those that are pending, and a closed socket.
 */
export class Connections {
  readonly #settings: ConnectionSettings;
  readonly #modules: ConnectionModules;
  readonly #isProxy: (address: string) => boolean;
  readonly #all = new LinkedList<Connection>();
  /** In the order in which they became idle. */
  readonly #idle = new LinkedList<Connection>();
  readonly #ofAddress = new Map<string, LinkedList<Connection>>();
  readonly #closed = new Map<CloseReason, number>(REASONS.map((reason) => [reason, 0]));
  /** Servers that listen. */
  #listening = 0;
  #isSweeping = false;
  #cancelSweep: CancelSchedule = () => {};

  constructor(settings: ConnectionSettings, modules: ConnectionModules) {
    this.#settings = settings;
    this.#modules = modules;
    this.#isProxy = proxyTest(settings.trustProxy);
  }

  /** Open connections. */
  get size(): number {
    return this.#all.size;
  }

  /** Connections that the server closed because of a bound, by reason, since the start. */
  get closed(): ReadonlyMap<string, number> {
    return this.#closed;
  }

  /** Watches the connections of a server, and lets requests through to its handlers, which it must have already. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#add(socket));
    const handlers = server.listeners('request');
    server.removeAllListeners('request').on('request', (message: KnownMessage, response: ServerResponse) => {
      message[ARRIVED] = this.#modules.clock.now();
      const connection = connectionOf(message.socket);
      if (connection !== undefined) {
        if (!this.#begin(connection, message, response)) return;
        // Only when it is the turn of its answer.
        if (connection.isFirst(response) && this.#modules.refuse(message, response)) return;
      }
      const handle = (): void => {
        if (message.socket.destroyed) return;
        for (const each of handlers) each.call(server, message, response);
      };
      const refuse = (): void => {
        if (!message.socket.destroyed) answerUnbegun(response, this.#modules.apiVersion);
      };
      this.#modules.turns.enter(this.turnOfClient(message), handle, refuse);
    });
    server.on('clientError', (error, socket) => this.#onClientError(error, socket as Socket));
    server.once('listening', () => {
      this.#listening++;
    });
    server.once('close', () => {
      if (--this.#listening > 0) return;
      this.#cancelSweep();
      this.#isSweeping = false;
    });
  }

  /**
   * When it is the turn of a request: once the client has taken the answers to those before it on its connection. Otherwise a
   * client that reads nothing would have as many answers kept as it has sent requests.
   *
   * @returns undefined: at once; else a promise, which rejects with http/client-left
   */
  turnOf({ socket }: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
    const connection = connectionOf(socket);
    if (connection === undefined || connection.isFirst(response)) return undefined;
    return new Promise((resolve, reject) => {
      connection.waiting.set(response, (hasLeft) => {
        if (hasLeft) reject(httpErrors['client-left']({}));
        else resolve();
      });
    });
  }

  /** Whose turn the request takes among others. */
  turnOfClient(message: KnownMessage): TurnOf {
    // The address of a socket is unknown once it is closed.
    message[TURN] ??= this.#findTurn(message);
    return message[TURN];
  }

  #findTurn(message: IncomingMessage): TurnOf {
    const { url = '', headers } = message;
    const key = headers['x-api-key'] ?? (url.includes('api_key=') ? KEY_IN_QUERY.exec(url)?.[1] : undefined);
    if (URGENT.test(url)) return { kind: 'urgent', client: this.clientOf(message), weight: 1 };
    const client = typeof key !== 'string' || key === '' ? null : this.#modules.clientOfKey(key, headers.host);
    return client === null
      ? { kind: 'others', client: this.clientOf(message), weight: 1 }
      : { kind: 'keyed', ...client };
  }

  /** The client address that a request is counted for: see {@link addressBlock}. */
  clientOf({ socket, headers }: IncomingMessage): string {
    const known = connectionOf(socket)?.client;
    if (known != null) return known;
    const remote = socket.remoteAddress ?? '';
    if (!this.#isProxy(remote)) return addressBlock(remote);
    // Each proxy appends whom it got the request from: the last one that is no trusted proxy is the client.
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
    const client = forwarded.findLast((each) => !this.#isProxy(each.trim())) ?? forwarded[0];
    return addressBlock(client === undefined || client.trim() === '' ? remote : client.trim());
  }

  /** The connection is not HTTP any more. */
  upgraded(socket: Socket): void {
    const connection = connectionOf(socket);
    if (connection === undefined) return;
    connection.isUpgraded = true;
    this.#idle.remove(connection.idle);
  }

  /** Closes a connection whose client takes its answer too slowly, where there is no room for it any more. */
  giveUp(socket: Socket): void {
    this.#close(socket, 'answer-not-read');
  }

  /** Closes all connections, or those that have not sent anything, which Node does not take for idle. */
  destroy(which: 'all' | 'silent'): void {
    for (const { socket } of this.#all) if (which === 'all' || socket.bytesRead === 0) socket.destroy();
  }

  /**
   * Answers what Node's parser refuses, after the answers that are pending on the connection, and closes the connection. A
   * request whose body was being read is answered as any other.
   *
   * @param error of the event `clientError`
   */
  #onClientError(error: Error & { readonly code?: string }, socket: Socket): void {
    const connection = connectionOf(socket);
    if (connection === undefined || error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
      socket.destroy();
      return;
    }
    if (connection.refusal !== null) return;
    const refusal = refusalOf(error.code);
    this.#refuse(connection, refusal, 'bad-request');
    const last = connection.last;
    if (last !== null && !last.complete) {
      connection.isRefusalAnswered = true;
      this.#modules.bodies.abort(last, refusal);
    }
    if (connection.pending.size === 0) this.#endRefused(connection);
  }

  /** Reads nothing more; what follows would be taken for requests. */
  #refuse(connection: Connection, refusal: TernError, reason: CloseReason): void {
    connection.refusal = refusal;
    this.#idle.remove(connection.idle);
    this.#count(reason);
    connection.socket.pause();
  }

  #add(socket: Socket): void {
    const { maxConnections, maxConnectionsPerAddress } = this.#settings;
    const remote = socket.remoteAddress;
    const address = remote === undefined || this.#isProxy(remote) ? null : addressBlock(remote);
    const others = address === null ? null : (this.#ofAddress.get(address) ?? new LinkedList<Connection>());
    if (others !== null && others.size >= maxConnectionsPerAddress && !this.#makeRoom(others)) {
      this.#close(socket, 'address-full');
      return;
    }
    if (this.#all.size >= maxConnections && !this.#makeRoom(this.#idle)) {
      this.#close(socket, 'server-full');
      return;
    }
    const connection = new Connection(socket, address, this.#modules.clock.now());
    (socket as WatchedSocket)[CONNECTION] = connection;
    const ofAll = this.#all.add(connection);
    const ofAddress = others?.add(connection) ?? null;
    if (address !== null && others?.size === 1) this.#ofAddress.set(address, others);
    this.#sweepLater();
    connection.idle = this.#idle.add(connection);
    // Its side is ended; a client that keeps the other one open holds a socket for nothing.
    socket.once('finish', () => this.#linger(connection));
    socket.once('close', () => {
      connection.cancelLinger();
      (socket as WatchedSocket)[CONNECTION] = undefined;
      this.#all.remove(ofAll);
      this.#idle.remove(connection.idle);
      if (others?.remove(ofAddress) && others.size === 0 && address !== null) this.#ofAddress.delete(address);
      // Node tells only the answer whose turn it is that the client has gone.
      for (const goOn of connection.waiting.values()) goOn(true);
      for (const response of connection.pending.clear()) if (response.socket === null) response.emit('close');
    });
  }

  /** Closes the connection that has been idle longest. @returns whether there was one */
  #makeRoom(among: Iterable<Connection>): boolean {
    let oldest: Connection | null = null;
    for (const connection of among) {
      if (connection.idle?.isIn !== true) continue;
      if (oldest === null || connection.since < oldest.since) oldest = connection;
      if (among === this.#idle) break;
    }
    if (oldest === null) return false;
    this.#close(oldest.socket, 'made-room');
    // The event comes later, and the next connection may come before it.
    this.#idle.remove(oldest.idle);
    return true;
  }

  /** @returns false: it is dropped */
  #begin(connection: Connection, message: IncomingMessage, response: ServerResponse): boolean {
    if (connection.refusal !== null) return false;
    const { size } = connection.pending;
    if (size >= this.#settings.maxPipelined) {
      const limit = `${size} requests of this connection are waiting for their answers`;
      this.#refuse(connection, httpErrors.overloaded({ limit }), 'too-many-requests');
      parseNoMore(connection.socket);
      return false;
    }
    const place = connection.pending.add(response);
    connection.last = message;
    this.#idle.remove(connection.idle);
    if (hasLargeBody(message)) endUnlessWhole(message, response);
    response.on('close', () => this.#end(connection, place, message));
    return true;
  }

  /** An answer was written, or will not be. */
  #end(connection: Connection, place: Link<ServerResponse>, message: IncomingMessage): void {
    const { clock } = this.#modules;
    const { socket, pending, waiting } = connection;
    if (!pending.remove(place)) return;
    if (waiting.size > 0) waiting.delete(place.item);
    if (socket.destroyed || connection.isUpgraded) return;
    if (pending.first !== undefined) {
      waiting.get(pending.first)?.(false);
      return;
    }
    if (connection.refusal !== null) {
      this.#endRefused(connection);
      return;
    }
    connection.since = clock.now();
    connection.idle = this.#idle.add(connection);
    if (message.complete) return;
    // The rest of a request that was answered may still come; it is dropped. Much of it is not read at all.
    if (hasLargeBody(message)) {
      // Node goes on with reading in this turn of the event loop, so that what is said to the socket now has no effect.
      setImmediate(() => {
        if (!message.complete) socket.pause();
      });
    }
    this.#linger(connection, () => !message.complete);
  }

  /** All answers before the refusal are written. */
  #endRefused({ socket, refusal, isRefusalAnswered }: Connection): void {
    if (isRefusalAnswered) socket.end();
    else socket.end(refusalText(refusal as TernError, this.#modules.apiVersion));
    // What the client still sends is read, so that the answer is not lost by a reset, and dropped.
    socket.removeAllListeners('data').on('data', () => {});
    socket.resume();
  }

  /** Closes the connection a little later, so that the client can read the last answer. */
  #linger(connection: Connection, isStillWrong: () => boolean = () => true): void {
    connection.cancelLinger();
    connection.cancelLinger = this.#modules.clock.schedule(this.#settings.lingerMs, () => {
      if (isStillWrong()) this.#close(connection.socket, 'lingering');
    });
  }

  /** Only while there are connections. */
  #sweepLater(): void {
    if (this.#isSweeping || this.#all.size === 0) return;
    this.#isSweeping = true;
    const { clock } = this.#modules;
    this.#cancelSweep = clock.schedule(Math.min(SWEEP_MS, this.#settings.stallMs / 4), () => {
      this.#isSweeping = false;
      this.#sweep(clock.now());
      this.#sweepLater();
    });
  }

  #sweep(now: number): void {
    const { keepAliveMs, headersTimeoutMs, stallMs, minBytesPerSecond } = this.#settings;
    // Node forgets its idle time as soon as anything comes, if only an empty line.
    for (const connection of this.#idle) {
      if (now - connection.since <= keepAliveMs + headersTimeoutMs) break;
      this.#close(connection.socket, 'idle');
    }
    for (const connection of this.#all) {
      if (connection.isStalled(now, stallMs, minBytesPerSecond)) this.#close(connection.socket, 'answer-not-read');
    }
  }

  #close(socket: Socket, reason: CloseReason): void {
    if (socket.destroyed) return;
    this.#count(reason);
    socket.destroy();
  }

  #count(reason: CloseReason): void {
    this.#closed.set(reason, this.#closed.get(reason)! + 1);
  }
}

/** A socket that is watched, until it is closed. */
interface WatchedSocket extends Socket {
  [CONNECTION]?: Connection | undefined;
}

const CONNECTION = Symbol('connection');

function connectionOf(socket: WatchedSocket): Connection | undefined {
  return socket[CONNECTION];
}

/** The state of one connection. */
class Connection {
  readonly socket: Socket;
  /** See {@link addressBlock}; null: unknown, or a trusted proxy, which carries the requests of many clients. */
  readonly client: string | null;
  /** Since when it is idle: no answer is pending. Time of the clock. */
  since: number;
  /** Its place among the idle ones. */
  idle: Link<Connection> | null = null;
  /** Answers that are not written yet, in the order of their requests. */
  readonly pending = new LinkedList<ServerResponse>();
  /** Called when the turn of a pending answer has come, or its client has left. */
  readonly waiting = new Map<ServerResponse, (hasLeft: boolean) => void>();
  /** The last request. */
  last: IncomingMessage | null = null;
  isUpgraded = false;
  /** What Node's parser refused; nothing is read after it. */
  refusal: TernError | null = null;
  /** Whether the refusal belongs to a request, which is answered in its turn. */
  isRefusalAnswered = false;
  cancelLinger: CancelSchedule = () => {};
  /** Bytes that the client has not taken when it was looked at last. */
  #left = 0;
  /** Bytes that it has taken since {@link #window}; at least so many. */
  #taken = 0;
  #window = 0;

  constructor(socket: Socket, client: string | null, since: number) {
    this.socket = socket;
    this.client = client;
    this.since = since;
  }

  /** Whether no answer is pending before this one. */
  isFirst(response: ServerResponse): boolean {
    const { first } = this.pending;
    return first === undefined || first === response;
  }

  /** Whether bytes wait for the client, which has taken less than the least rate for `stallMs`. */
  isStalled(now: number, stallMs: number, minBytesPerSecond: number): boolean {
    const left = bytesLeft(this.socket);
    const before = this.#left;
    this.#left = left;
    if (left === 0 || before === 0) {
      this.#taken = 0;
      this.#window = now;
      return false;
    }
    // More than before: what was left before has been taken, and more was written.
    this.#taken += left > before ? before : before - left;
    if (now - this.#window < stallMs) return false;
    const isSlow = this.#taken * 1000 < minBytesPerSecond * stallMs;
    this.#taken = 0;
    this.#window = now;
    return isSlow;
  }
}

/**
 * An answer that is given before a large body was received ends the connection, and tells the client so: the body is not read on, and a
 * client that took the connection for free would wait in vain for the answer to its next request.
 */
function endUnlessWhole(message: IncomingMessage, response: ServerResponse): void {
  const { socket } = message;
  const { shouldKeepAlive } = response;
  response.shouldKeepAlive = false;
  // Node destroys a socket right after its last answer, which the client may then lose.
  socket.destroySoon = () => void socket.end();
  message.once('end', () => {
    response.shouldKeepAlive = shouldKeepAlive;
    Reflect.deleteProperty(socket, 'destroySoon');
  });
}

/**
 * Lets Node's parser fail with HPE_CB_HEADERS_COMPLETE at the next request. What arrived in one piece may be thousands of them, which
 * it would all parse, and keep until the connection ends; it cannot be paused within a piece.
 */
function parseNoMore(socket: Socket): void {
  const { parser } = socket as { parser?: { onIncoming?: () => number } | null };
  // All versions of Node have the property; without it, the connection ends, with its pending answers.
  if (parser?.onIncoming === undefined) socket.destroy();
  else parser.onIncoming = () => -1;
}

/**
 * What the kernel has not accepted yet of the write under way, by which Node's own idle time recognises progress, too; the
 * length that the stream tells changes only when a write, of megabytes at times, is complete.
 */
function bytesLeft(socket: Socket): number {
  if (socket.writableLength === 0) return 0;
  return (socket as { _handle?: { readonly writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;
}

/** Whether an address belongs to a proxy whose `X-Forwarded-For` is trusted. */
function proxyTest(trustProxy: HttpSettings['trustProxy']): (address: string) => boolean {
  if (typeof trustProxy === 'boolean') return () => trustProxy;
  const proxies = new BlockList();
  for (const net of trustProxy) {
    const [address = '', bits] = net.split('/');
    if (!isIPv4(address) && !isIPv6(address)) continue;
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (bits === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(bits), family);
  }
  return (address) => proxies.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

function refusalOf(code: string | undefined): TernError {
  if (code === 'HPE_HEADER_OVERFLOW') return httpErrors['headers-too-large']({});
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return httpErrors['request-timeout']({});
  return httpErrors['not-http']({});
}

/** Statuses of errors for which there is no request object. */
const STATUS_LINES: Readonly<Record<string, readonly [number, string]>> = {
  'http/not-http': [400, 'Bad Request'],
  'http/request-timeout': [408, 'Request Timeout'],
  'http/headers-too-large': [431, 'Request Header Fields Too Large'],
  'http/overloaded': [503, 'Service Unavailable'],
};

/** The answer to a request that is not begun, which must cost next to nothing. */
function answerUnbegun(response: ServerResponse, apiVersion: string): void {
  response.writeHead(503, {
    'Content-Type': 'application/json; charset=utf-8',
    'X-API-Version': apiVersion,
    ...OPEN_TO_ALL,
    'Retry-After': '1',
    'Content-Length': UNBEGUN.length,
  });
  response.end(UNBEGUN);
}

const UNBEGUN = Buffer.from(
  JSON.stringify({
    ok: false,
    error: httpErrors.overloaded({ limit: 'too many requests wait to be begun' }).message,
    code: 503,
    '@extra': '_',
  }),
);

/** An answer for which there is no request object. */
function refusalText({ code, message }: TernError, apiVersion: string): string {
  const [status, phrase] = STATUS_LINES[code]!;
  const body = JSON.stringify({ ok: false, error: message, code: status, '@extra': '_' });
  return (
    `HTTP/1.1 ${status} ${phrase}\r\nContent-Type: application/json; charset=utf-8\r\n` +
    `X-API-Version: ${apiVersion}\r\nAccess-Control-Allow-Origin: *\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
  );
}

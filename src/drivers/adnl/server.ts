import { type AddressInfo, createServer, type Socket } from 'node:net';
import { addListeners, Connection, destroySocket } from '#drivers/adnl/connection.js';
import { adnlErrors } from '#drivers/adnl/errors.js';
import { type KeyPair, keyPairFromSeed, shortId } from '#drivers/adnl/keys.js';
import { type AdnlMetrics, createAdnlMetrics } from '#drivers/adnl/metrics.js';
import {
  type AdnlModules,
  type AdnlServerOptions,
  type CheckedServerOptions,
  checkServerOptions,
} from '#drivers/adnl/options.js';
import {
  HANDSHAKE_BYTES,
  maxDataBytes,
  type PacketMessage,
  readHandshake,
  sessionKeys,
  writeAnswer,
} from '#drivers/adnl/wire.js';
import type { CancelSchedule } from '#kernel/clock.js';
import type { TernError } from '#kernel/tern-error.js';

/** A running server. */
export interface AdnlServer {
  readonly host: string;
  /** The actual port if 0 was requested. */
  readonly port: number;
  /** 32 bytes; clients need it to connect. */
  readonly publicKey: Uint8Array;
  /** Connected clients, including those in their handshake. */
  readonly connections: number;
  /**
   * Stops listening, waits up to `closeGraceMs` for queries in flight, and resolves when all connections are closed.
   * Idempotent; never rejects.
   */
  close(): Promise<void>;
}

/**
 * Starts a server. Resolves when it is listening.
 *
 * @throws adnl/bad-option, adnl/listen-failed
 */
export async function listenAdnl(options: AdnlServerOptions, modules: AdnlServerModules): Promise<AdnlServer> {
  const checked = checkServerOptions(options);
  const keys: KeyPair = keyPairFromSeed(checked.seed);
  const metrics = modules.metrics ?? createAdnlMetrics();
  const context: ServerContext = {
    keys,
    serverId: shortId(keys.publicKey),
    options: checked,
    modules: { ...modules, metrics },
  };
  const peers = new Set<ServerPeer>();
  let closing: Promise<void> | null = null;

  const server = createServer({ noDelay: true }, (socket: Socket) => {
    if (closing !== null || peers.size >= checked.maxConnections) {
      metrics.connections_refused++;
      destroySocket(socket);
      return;
    }
    const peer = new ServerPeer(socket, context, () => peers.delete(peer));
    peers.add(peer);
  });

  const { host, port } = checked;
  await new Promise<void>((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => {
      reject(adnlErrors['listen-failed']({ peer: `${host}:${port}`, problem: error.code ?? error.message }, error));
    };
    server.once('error', onError);
    server.listen({ host, port }, () => {
      server.off('error', onError);
      // Later errors, such as too many open files, only affect the client that could not connect.
      server.on('error', (error) => modules.onFault?.(error, host));
      resolve();
    });
  });
  const bound = server.address() as AddressInfo;

  async function stop(): Promise<void> {
    const ended = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const peer of [...peers]) peer.finish();
    const cancel = modules.clock.schedule(checked.closeGraceMs, () => {
      for (const peer of [...peers]) peer.cut();
    });
    await ended;
    cancel();
  }

  return {
    host,
    port: bound.port,
    publicKey: keys.publicKey,
    get connections() {
      return peers.size;
    },
    close() {
      closing ??= stop();
      return closing;
    },
  };
}

/** Origin of a query, and a signal that is aborted when its client disconnects. */
export interface QueryContext {
  /** `host:port` of the client. */
  readonly remote: string;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

export interface AdnlServerModules extends AdnlModules {
  /**
   * Answers a query. `data` may be a view into a larger buffer. If it throws or rejects, the client gets no answer:
   * return errors for the client as answers.
   */
  onQuery(data: Uint8Array, context: QueryContext): Promise<Uint8Array> | Uint8Array;
  /** Receives the reason for a disconnect and errors of the handler; must not throw. */
  onFault?(error: unknown, remote: string): void;
}

/** State shared by all connections of a server. */
interface ServerContext {
  readonly keys: KeyPair;
  readonly serverId: Uint8Array;
  readonly options: CheckedServerOptions;
  readonly modules: AdnlServerModules & { readonly metrics: AdnlMetrics };
}

type QueryMessage = PacketMessage & { readonly kind: 'query' };

/** A client connection of a server: handshake, then queries. */
class ServerPeer {
  readonly #socket: Socket;
  readonly #context: ServerContext;
  readonly #remote: string;
  readonly #onGone: () => void;
  readonly #handshake = Buffer.alloc(HANDSHAKE_BYTES);
  #handshakeBytes = 0;
  #detach: () => void;
  #cancelTimer: CancelSchedule;
  #connection: Connection | null = null;
  /** Queries received and not yet started. They arrived in one chunk, so they are few. */
  #waiting: QueryMessage[] = [];
  #inFlight = new Set<PendingQuery>();
  #finishing = false;
  #pumping = false;

  constructor(socket: Socket, context: ServerContext, onGone: () => void) {
    this.#socket = socket;
    this.#context = context;
    this.#onGone = onGone;
    this.#remote = `${socket.remoteAddress}:${socket.remotePort}`;
    const remote = this.#remote;
    const timeoutMs = context.options.handshakeTimeoutMs;
    const lose = (problem: string) => this.#refuse(adnlErrors['connection-lost']({ peer: remote, problem }));
    this.#detach = addListeners(socket, {
      data: (chunk: Uint8Array) => this.#onHandshakeBytes(chunk),
      end: () => lose('the client closed it during the handshake'),
      error: (error: NodeJS.ErrnoException) => lose(error.code ?? error.message),
      close: () => lose('the socket was closed during the handshake'),
    });
    this.#cancelTimer = context.modules.clock.schedule(timeoutMs, () =>
      this.#refuse(adnlErrors['handshake-timeout']({ peer: remote, timeoutMs })),
    );
  }

  /** Accepts no new queries and closes when those in flight are answered. */
  finish(): void {
    this.#finishing = true;
    if (this.#connection === null) this.cut();
    else this.#endWhenIdle();
  }

  /** Closes the connection immediately. */
  cut(): void {
    const reason = adnlErrors.closed({ peer: this.#remote });
    if (this.#connection === null) this.#refuse(reason);
    else this.#connection.close(reason);
  }

  #onHandshakeBytes(chunk: Uint8Array): void {
    const taken = Math.min(chunk.length, HANDSHAKE_BYTES - this.#handshakeBytes);
    this.#handshake.set(chunk.subarray(0, taken), this.#handshakeBytes);
    this.#handshakeBytes += taken;
    if (this.#handshakeBytes < HANDSHAKE_BYTES) return;
    const { keys, serverId, options, modules } = this.#context;
    let params: Uint8Array;
    try {
      params = readHandshake(this.#handshake, keys, serverId);
    } catch (error) {
      modules.metrics.protocol_violations++;
      this.#refuse(error as TernError);
      return;
    }
    this.#detach();
    this.#cancelTimer();
    const { toClient, toServer } = sessionKeys(params);
    const identity = { peer: this.#remote, receive: toServer, send: toClient };
    const events = {
      onMessage: (message: PacketMessage) => this.#onMessage(message),
      onDrain: () => this.#pump(),
      onClose: (reason: TernError) => this.#onClose(reason),
    };
    this.#connection = new Connection(this.#socket, identity, options, events, modules);
    this.#connection.send(new Uint8Array(0));
    if (taken < chunk.length) this.#connection.receive(chunk.subarray(taken));
  }

  /** Closes a connection before its handshake is complete. */
  #refuse(reason: TernError): void {
    this.#detach();
    this.#cancelTimer();
    destroySocket(this.#socket);
    this.#context.modules.metrics.connections_failed++;
    this.#onGone();
    if (reason.code !== adnlErrors.closed.code) this.#context.modules.onFault?.(reason, this.#remote);
  }

  #onMessage(message: PacketMessage): void {
    if (message.kind === 'query') {
      if (this.#finishing) return;
      this.#waiting.push(message as QueryMessage);
      this.#pump();
    } else if (message.kind !== 'nothing') {
      this.#context.modules.metrics.messages_ignored++;
    }
  }

  /** Starts queued queries within the limits. While any remain queued, reading from the client is paused. */
  #pump(): void {
    const connection = this.#connection;
    if (connection === null || connection.isClosed || this.#pumping) return;
    this.#pumping = true;
    let begun = 0;
    while (begun < this.#waiting.length && this.#inFlight.size < this.#context.options.maxInFlight) {
      if (!connection.isWritable) break;
      this.#begin(this.#waiting[begun++]!);
    }
    if (begun > 0) this.#waiting.splice(0, begun);
    this.#pumping = false;
    if (this.#waiting.length > 0) connection.pause();
    else connection.resume();
    this.#endWhenIdle();
  }

  #begin({ id, data }: QueryMessage): void {
    const { modules } = this.#context;
    const query = new PendingQuery(this.#remote);
    this.#inFlight.add(query);
    modules.metrics.queries_started++;
    let answer: Promise<Uint8Array> | Uint8Array;
    try {
      answer = modules.onQuery(data, query);
    } catch (error) {
      this.#settle(query, () => this.#onFailure(error));
      return;
    }
    if (answer instanceof Uint8Array) {
      const bytes = answer;
      this.#settle(query, () => this.#answer(id, bytes));
      return;
    }
    Promise.resolve(answer).then(
      (bytes) => this.#settle(query, () => this.#answer(id, bytes)),
      (error) => this.#settle(query, () => this.#onFailure(error)),
    );
  }

  /** Completes a query if the client is still connected. */
  #settle(query: PendingQuery, react: () => void): void {
    if (!this.#inFlight.delete(query)) return;
    react();
    this.#pump();
  }

  #answer(id: Uint8Array, bytes: Uint8Array): void {
    const { metrics } = this.#context.modules;
    if (!(bytes instanceof Uint8Array)) {
      this.#onFailure(adnlErrors['answer-missing']({ found: typeof bytes }));
      return;
    }
    const most = maxDataBytes(this.#context.options.maxPacketLength);
    if (bytes.length > most) {
      this.#onFailure(adnlErrors['answer-too-large']({ size: bytes.length, most }));
      return;
    }
    metrics.queries_answered++;
    this.#connection?.send(writeAnswer(id, bytes));
  }

  #onFailure(error: unknown): void {
    const { modules } = this.#context;
    modules.metrics.queries_failed++;
    modules.onFault?.(error, this.#remote);
  }

  #endWhenIdle(): void {
    if (!this.#finishing) return;
    this.#waiting = [];
    if (this.#inFlight.size === 0) this.#connection?.end();
  }

  #onClose(reason: TernError): void {
    const abandoned = this.#inFlight;
    this.#inFlight = new Set();
    this.#waiting = [];
    this.#onGone();
    for (const query of abandoned) query.abort(reason);
    if (reason.class === 'upstream' && reason.code !== adnlErrors['connection-lost'].code) {
      this.#context.modules.onFault?.(reason, this.#remote);
    }
  }
}

/** A query in flight. The abort signal is created on first use, because most handlers do not use it. */
class PendingQuery implements QueryContext {
  readonly remote: string;
  #controller: AbortController | null = null;
  #reason: TernError | null = null;

  constructor(remote: string) {
    this.remote = remote;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason !== null) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  abort(reason: TernError): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

import { connect, type Socket } from 'node:net';
import { addListeners, Connection, destroySocket } from '#drivers/adnl/connection.js';
import { adnlErrors } from '#drivers/adnl/errors.js';
import { generateKeyPair } from '#drivers/adnl/keys.js';
import { type AdnlMetrics, createAdnlMetrics } from '#drivers/adnl/metrics.js';
import {
  type AdnlClientOptions,
  type AdnlModules,
  type CheckedClientOptions,
  checkClientOptions,
} from '#drivers/adnl/options.js';
import {
  buildHandshake,
  maxDataBytes,
  PARAMS_BYTES,
  type PacketMessage,
  queryKey,
  sessionKeys,
  writeQuery,
} from '#drivers/adnl/wire.js';
import type { CancelSchedule } from '#kernel/clock.js';
import { type Link, LinkedList } from '#kernel/linked-list.js';
import { OpenEntries } from '#kernel/open-entries.js';
import type { TernError } from '#kernel/tern-error.js';

export interface QueryOptions {
  /** Aborts the query. */
  readonly signal?: AbortSignal | undefined;
  /** Deadline for the answer in milliseconds, including the wait in the queue. Default: `queryTimeoutMs` of the client. */
  readonly timeoutMs?: number | undefined;
}

/** A connection to a server. A lost connection is not re-established. */
export interface AdnlClient {
  /** `host:port` */
  readonly peer: string;
  readonly isClosed: boolean;
  /** Resolves with the reason when the connection ends; never rejects. `adnl/closed` if this side closed it. */
  readonly closed: Promise<TernError>;
  /** Queries sent and not yet answered. */
  readonly inFlight: number;
  /** Queries that are queued and not yet sent. */
  readonly waiting: number;
  /**
   * Sends `adnl.message.query` and returns the bytes of the answer. The caller owns the returned bytes.
   *
   * @param data TL bytes of the query; must not be modified until the query ends
   * @throws adnl/query-timeout, adnl/query-lost, adnl/query-closed, adnl/query-aborted: `data.sent` is true if the
   *   server may have received the query; adnl/query-too-large, adnl/too-many-queries: the query was not sent
   */
  query(data: Uint8Array, options?: QueryOptions): Promise<Uint8Array>;
  /** Closes the connection immediately; all queries fail. Idempotent. */
  close(): void;
}

type ClientModules = AdnlModules & { readonly metrics: AdnlMetrics };

/**
 * Connects to a server: TCP, handshake, and the first packet of the server, which confirms the handshake.
 *
 * @throws adnl/bad-option, adnl/server-key before any connection attempt; adnl/connect-*, adnl/handshake-*
 */
export async function connectAdnl(options: AdnlClientOptions, modules: AdnlModules): Promise<AdnlClient> {
  const checked = checkClientOptions(options);
  const { signal } = options;
  const full = { ...modules, metrics: modules.metrics ?? createAdnlMetrics() };
  const params = modules.randomBytes(PARAMS_BYTES);
  const handshake = buildHandshake(checked.serverPublicKey, generateKeyPair(modules.randomBytes), params);
  const peer = peerName(checked);
  if (signal?.aborted) throw adnlErrors['connect-aborted']({ peer }, signal.reason);

  return new Promise<AdnlClient>((resolve, reject) => {
    let abandon: (reason: TernError) => void;
    let cancelTimer: CancelSchedule;
    const onAbort = () => abandon(adnlErrors['connect-aborted']({ peer }, signal?.reason));
    const settle = () => {
      cancelTimer();
      signal?.removeEventListener('abort', onAbort);
    };
    const fail = (reason: TernError) => {
      settle();
      full.metrics.connections_failed++;
      reject(reason);
    };
    const onConnected = (socket: Socket) => {
      cancelTimer();
      const timeoutMs = checked.handshakeTimeoutMs;
      cancelTimer = full.clock.schedule(timeoutMs, () => abandon(adnlErrors['handshake-timeout']({ peer, timeoutMs })));
      socket.write(handshake);
      const onReady = (problem: TernError | null) => {
        settle();
        if (problem === null) resolve(client);
        else fail(handshakeProblem(problem, peer));
      };
      const client = new Client(socket, peer, params, checked, full, onReady);
      abandon = (reason) => client.abandon(reason);
    };
    const socket = connect({ host: checked.host, port: checked.port });
    const detach = addListeners(socket, {
      connect: () => {
        detach();
        onConnected(socket);
      },
      error: (error: NodeJS.ErrnoException) => {
        const problem = error.code ?? error.message;
        abandon(adnlErrors['connect-failed']({ peer, problem }, error));
      },
    });
    abandon = (reason) => {
      detach();
      destroySocket(socket);
      fail(reason);
    };
    const timeoutMs = checked.connectTimeoutMs;
    cancelTimer = full.clock.schedule(timeoutMs, () => abandon(adnlErrors['connect-timeout']({ peer, timeoutMs })));
    signal?.addEventListener('abort', onAbort);
  });
}

/** A server that refuses a handshake closes the connection without a message. */
function handshakeProblem(reason: TernError, peer: string): TernError {
  if (reason.code !== adnlErrors['connection-lost'].code) return reason;
  return adnlErrors['handshake-refused']({ peer, problem: String(reason.data.problem) }, reason);
}

function peerName({ host, port }: CheckedClientOptions): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

interface Query {
  readonly id: Uint8Array;
  readonly key: string;
  readonly data: Uint8Array;
  readonly resolve: (answer: Uint8Array) => void;
  readonly reject: (reason: TernError) => void;
  /** Removes the timer and the abort listener. */
  release: () => void;
  /** Byte position in the outgoing stream; infinite while the query is queued. */
  place: number;
  /** Its place among those that wait to be sent; null: it does not. */
  queued: Link<Query> | null;
}

class Client implements AdnlClient {
  readonly peer: string;
  readonly closed: Promise<TernError>;
  readonly #connection: Connection;
  readonly #options: CheckedClientOptions;
  readonly #modules: ClientModules;
  readonly #inFlight = new OpenEntries<string, Query>();
  /** In order of arrival. */
  readonly #waiting = new LinkedList<Query>();
  /** Called once: with null when the server is ready, or with the reason if the connection ended before. */
  #onReady: ((problem: TernError | null) => void) | null;
  #closedBecause: TernError | null = null;

  constructor(
    socket: Socket,
    peer: string,
    params: Uint8Array,
    options: CheckedClientOptions,
    modules: ClientModules,
    onReady: (problem: TernError | null) => void,
  ) {
    this.peer = peer;
    this.#options = options;
    this.#modules = modules;
    this.#onReady = onReady;
    let onClosed: (reason: TernError) => void;
    this.closed = new Promise((resolve) => {
      onClosed = resolve;
    });
    const { toClient, toServer } = sessionKeys(params);
    const events = {
      onMessage: (message: PacketMessage) => this.#onMessage(message),
      onDrain: () => this.#sendWaiting(),
      onClose: (reason: TernError) => {
        this.#onClose(reason);
        onClosed(reason);
      },
    };
    this.#connection = new Connection(socket, { peer, receive: toClient, send: toServer }, options, events, modules);
  }

  get isClosed(): boolean {
    return this.#closedBecause !== null;
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  query(
    data: Uint8Array,
    { signal, timeoutMs = this.#options.queryTimeoutMs }: QueryOptions = {},
  ): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const { peer } = this;
      const { clock, metrics, randomBytes } = this.#modules;
      const most = maxDataBytes(this.#options.maxPacketLength);
      if (data.length > most) throw adnlErrors['query-too-large']({ size: data.length, most });
      if (this.#closedBecause !== null) throw this.#lostWith(this.#closedBecause, false);
      if (signal?.aborted) throw adnlErrors['query-aborted']({ peer, sent: false }, signal.reason);
      const mustWait = !this.#maySend();
      if (mustWait && this.#waiting.size >= this.#options.maxWaiting) {
        throw adnlErrors['too-many-queries']({ peer, waiting: this.#waiting.size });
      }
      const id = randomBytes(32);
      const unsent = { place: Number.POSITIVE_INFINITY, queued: null };
      const query: Query = { id, key: queryKey(id), data, resolve, reject, release, ...unsent };
      const onAbort = () => this.#fail(query, (sent) => adnlErrors['query-aborted']({ peer, sent }, signal?.reason));
      const cancelTimer = clock.schedule(timeoutMs, () =>
        this.#fail(query, (sent) => adnlErrors['query-timeout']({ peer, timeoutMs, sent })),
      );
      signal?.addEventListener('abort', onAbort);
      function release(): void {
        cancelTimer();
        signal?.removeEventListener('abort', onAbort);
      }
      metrics.queries_started++;
      if (mustWait) query.queued = this.#waiting.add(query);
      else this.#send(query);
    });
  }

  close(): void {
    this.#connection.close();
  }

  /** Closes the connection with a reason of the connecting caller. */
  abandon(reason: TernError): void {
    this.#connection.close(reason);
  }

  #maySend(): boolean {
    return this.#inFlight.size < this.#options.maxInFlight && this.#connection.isWritable;
  }

  #send(query: Query): void {
    this.#inFlight.set(query.key, query);
    query.place = this.#connection.send(writeQuery(query.id, query.data));
  }

  #sendWaiting(): void {
    while (this.#waiting.size > 0 && this.#maySend()) this.#send(this.#waiting.take()!);
  }

  #onMessage(message: PacketMessage): void {
    this.#onReady?.(null);
    this.#onReady = null;
    if (message.kind === 'answer') this.#onAnswer(message.id, message.data);
    else if (message.kind !== 'nothing') this.#modules.metrics.messages_ignored++;
  }

  #onAnswer(id: Uint8Array, data: Uint8Array): void {
    const key = queryKey(id);
    const query = this.#inFlight.delete(key);
    if (query === undefined) {
      this.#modules.metrics.answers_unmatched++;
      return;
    }
    query.release();
    this.#modules.metrics.queries_answered++;
    // Copy small answers, so that they do not retain the whole received chunk.
    query.resolve(data.length * 2 < data.buffer.byteLength ? data.slice() : data);
    if (this.#waiting.size > 0) this.#sendWaiting();
  }

  #fail(query: Query, reason: (sent: boolean) => TernError): void {
    this.#waiting.remove(query.queued);
    this.#inFlight.delete(query.key);
    query.release();
    this.#modules.metrics.queries_failed++;
    // An open connection will send everything that is queued; for a closed one, the flushed byte count is known.
    const reached = this.#closedBecause === null ? Number.POSITIVE_INFINITY : this.#connection.flushedBytes;
    query.reject(reason(query.place < reached));
    if (this.#waiting.size > 0 && this.#closedBecause === null) this.#sendWaiting();
  }

  #onClose(reason: TernError): void {
    this.#closedBecause = reason;
    this.#onReady?.(reason);
    this.#onReady = null;
    for (const query of [...this.#inFlight.clear(), ...this.#waiting.clear()]) {
      this.#fail(query, (sent) => this.#lostWith(reason, sent));
    }
  }

  #lostWith(reason: TernError, sent: boolean): TernError {
    const { peer } = this;
    if (reason.code === adnlErrors.closed.code) return adnlErrors['query-closed']({ peer, sent }, reason);
    return adnlErrors['query-lost']({ peer, code: reason.code, problem: reason.message, sent }, reason);
  }
}

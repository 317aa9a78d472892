import type { Socket } from 'node:net';
import { adnlErrors } from '#drivers/adnl/errors.js';
import type { AdnlMetrics } from '#drivers/adnl/metrics.js';
import type { AdnlModules, ConnectionOptions } from '#drivers/adnl/options.js';
import {
  type CipherKey,
  PACKET_OVERHEAD,
  type PacketMessage,
  PacketReader,
  PacketWriter,
  readMessage,
  writePing,
  writePong,
} from '#drivers/adnl/wire.js';
import type { CancelSchedule, Clock } from '#kernel/clock.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';

/** Callbacks of a connection. None of them may throw. */
export interface ConnectionEvents {
  /** Queries, answers, empty packets and messages of unknown kinds; pings and pongs are handled by the connection. */
  onMessage(message: PacketMessage): void;
  /** The outgoing queue has shrunk below the high-water mark. */
  onDrain(): void;
  /** The connection has ended; called once. The reason is `adnl/closed` if this side closed it. */
  onClose(reason: TernError): void;
}

/** Peer name and session keys of a connection. */
export interface ConnectionIdentity {
  /** `host:port`, for errors. */
  readonly peer: string;
  readonly receive: CipherKey;
  readonly send: CipherKey;
}

/**
 * A TCP connection after the handshake, for client and server: packets, pings, deadlines, limits. It owns the socket and
 * releases all timers, listeners and buffers when it ends.
 */
export class Connection {
  readonly peer: string;
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #events: ConnectionEvents;
  readonly #modules: AdnlModules & { readonly metrics: AdnlMetrics };
  readonly #clock: Clock;
  readonly #metrics: AdnlMetrics;
  readonly #reader: PacketReader;
  readonly #writer: PacketWriter;
  readonly #queue = new OutgoingQueue();
  readonly #deadlines: ConnectionDeadlines;
  readonly #detach: () => void;
  #cancelCheck: CancelSchedule = () => {};
  #closed = false;
  #ending = false;
  #flushPlanned = false;
  #aboveHighWater = false;

  constructor(
    socket: Socket,
    identity: ConnectionIdentity,
    options: ConnectionOptions,
    events: ConnectionEvents,
    modules: AdnlModules & { readonly metrics: AdnlMetrics },
  ) {
    this.peer = identity.peer;
    this.#socket = socket;
    this.#options = options;
    this.#events = events;
    this.#modules = modules;
    this.#clock = modules.clock;
    this.#metrics = modules.metrics;
    this.#reader = new PacketReader(identity.receive, options.maxPacketLength, (payload) => this.#onPacket(payload));
    this.#writer = new PacketWriter(identity.send, modules.randomBytes);
    this.#deadlines = new ConnectionDeadlines(options, this.#clock.now());
    this.#detach = addListeners(socket, {
      data: (chunk: Uint8Array) => this.receive(chunk),
      drain: () => this.#onDrain(),
      end: () => this.#onLost('the peer closed it'),
      error: (error: NodeJS.ErrnoException) => this.#onLost(error.code ?? error.message, error),
      close: () => this.#onLost('the socket was closed'),
    });
    socket.setNoDelay(true);
    this.#metrics.connections_opened++;
    this.#checkDeadlines();
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Whether the outgoing queue is below the high-water mark, so that new work may start. */
  get isWritable(): boolean {
    return !this.#closed && !this.#ending && this.#queue.waiting < this.#options.outgoingHighWaterBytes;
  }

  /** Bytes of the outgoing stream handed to the socket; see {@link Connection.send}. */
  get flushedBytes(): number {
    return this.#queue.taken;
  }

  /** Processes received bytes: those of the socket, and those that followed a handshake in the same chunk. */
  receive(chunk: Uint8Array): void {
    if (this.#closed) return;
    const { packets, isMidPacket } = this.#reader;
    this.#metrics.bytes_received += chunk.length;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      this.#metrics.protocol_violations++;
      this.close(asTernError(error, this.peer));
      return;
    }
    const isSame = isMidPacket && this.#reader.packets === packets;
    this.#deadlines.received(this.#clock.now(), !this.#reader.isMidPacket ? 'none' : isSame ? 'same' : 'new');
  }

  /**
   * Queues a message as one packet.
   *
   * @param payload must not be modified afterwards
   * @returns the byte position of the message in the stream: the peer cannot have received it until `flushedBytes` exceeds it
   */
  send(payload: Uint8Array): number {
    const place = this.#queue.added;
    if (this.#closed || this.#ending) return Number.POSITIVE_INFINITY;
    const waiting = this.#queue.waiting + payload.length + PACKET_OVERHEAD;
    if (waiting > this.#options.outgoingMaxBytes) {
      this.close(this.#notReadingError('more than the limit'));
      return Number.POSITIVE_INFINITY;
    }
    for (const part of this.#writer.frame(payload)) this.#queue.add(part);
    this.#metrics.packets_sent++;
    if (waiting >= this.#options.outgoingHighWaterBytes) this.#aboveHighWater = true;
    this.#planFlush();
    return place;
  }

  /** Stops reading from the socket until {@link Connection.resume}. Bytes already read are still delivered. */
  pause(): void {
    if (this.#deadlines.isPaused || this.#closed) return;
    this.#deadlines.paused();
    this.#socket.pause();
  }

  /** Resumes reading. The paused time does not count as silence of the peer. */
  resume(): void {
    if (!this.#deadlines.isPaused || this.#closed) return;
    this.#deadlines.resumed(this.#clock.now());
    this.#socket.resume();
  }

  /** Closes the connection immediately. Idempotent: the first reason is reported. */
  close(reason: TernError = adnlErrors.closed({ peer: this.peer })): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelCheck();
    this.#detach();
    this.#reader.stop();
    this.#queue.clear();
    destroySocket(this.#socket);
    this.#metrics.connections_closed++;
    this.#events.onClose(reason);
  }

  /** Accepts no further messages, flushes the queue, and closes when the peer has closed its side. */
  end(): void {
    if (this.#closed || this.#ending) return;
    this.#ending = true;
    this.resume();
    this.#planFlush();
  }

  #onPacket(payload: Uint8Array): void {
    this.#metrics.packets_received++;
    const message = readMessage(payload);
    if (message.kind === 'ping') {
      // No pong for a peer that does not read, so that pongs cannot accumulate.
      if (this.isWritable) this.send(writePong(message.randomId));
    } else if (message.kind !== 'pong') {
      this.#events.onMessage(message);
    }
  }

  /** Flushes at the end of the event loop turn, so that small packets share a write. */
  #planFlush(): void {
    if (this.#flushPlanned || this.#deadlines.isBlocked) return;
    this.#flushPlanned = true;
    setImmediate(() => {
      this.#flushPlanned = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (!this.#closed && !this.#deadlines.isBlocked && this.#queue.waiting > 0) {
      const piece = this.#writer.encrypt(this.#queue.take());
      this.#metrics.bytes_sent += piece.length;
      if (!this.#socket.write(piece)) this.#deadlines.blocked(this.#clock.now());
    }
    if (this.#closed) return;
    if (this.#ending && this.#queue.waiting === 0) {
      this.#socket.end();
    } else if (this.#aboveHighWater && this.isWritable) {
      this.#aboveHighWater = false;
      this.#events.onDrain();
    }
  }

  #onDrain(): void {
    this.#deadlines.unblocked();
    this.#flush();
  }

  #onLost(problem: string, cause?: unknown): void {
    if (this.#ending && this.#queue.waiting === 0) this.close();
    else this.close(adnlErrors['connection-lost']({ peer: this.peer, problem }, cause));
  }

  #notReadingError(problem: string): TernError {
    return adnlErrors['not-reading']({ peer: this.peer, queued: this.#queue.waiting, problem });
  }

  /** Checks all deadlines and schedules the next check. */
  #checkDeadlines(): void {
    const verdict = this.#deadlines.verdict(this.#clock.now());
    if (verdict === 'ping') {
      this.#deadlines.pinged();
      this.#metrics.pings_sent++;
      this.send(writePing(Buffer.from(this.#modules.randomBytes(8)).readBigInt64LE()));
    } else if (verdict !== 'wait') {
      this.close(this.#deadlineError(verdict));
    }
    if (this.#closed) return;
    this.#cancelCheck = this.#clock.schedule(this.#deadlines.nextCheckMs(this.#clock.now()), () =>
      this.#checkDeadlines(),
    );
  }

  #deadlineError(verdict: 'not-reading' | 'slow-packet' | 'silent'): TernError {
    const { peer } = this;
    const { packetTimeoutMs, writeTimeoutMs, deadAfterMs } = this.#options;
    if (verdict === 'not-reading') return this.#notReadingError(`no progress for ${writeTimeoutMs} ms`);
    return verdict === 'silent'
      ? adnlErrors.silent({ peer, timeoutMs: deadAfterMs })
      : adnlErrors['slow-packet']({ peer, timeoutMs: packetTimeoutMs });
  }
}

function asTernError(error: unknown, peer: string): TernError {
  if (isTernError(error)) return error;
  return adnlErrors['connection-lost']({ peer, problem: String(error) }, error);
}

/** What to do now: nothing, send a ping, or close the connection for one of three reasons. */
export type DeadlineVerdict = 'wait' | 'ping' | 'silent' | 'slow-packet' | 'not-reading';

/** Tracks the deadlines of a connection: silence, packet time, stalled writes. Times are of the clock, in ms. */
export class ConnectionDeadlines {
  readonly #options: ConnectionOptions;
  #lastReceived: number;
  /** When the first byte of the incomplete packet arrived; null when there is none. */
  #packetSince: number | null = null;
  /** Since when the socket is full; null when it accepts data. */
  #blockedSince: number | null = null;
  #pinged = false;
  #paused = false;

  constructor(options: ConnectionOptions, now: number) {
    this.#options = options;
    this.#lastReceived = now;
  }

  get isBlocked(): boolean {
    return this.#blockedSince !== null;
  }

  get isPaused(): boolean {
    return this.#paused;
  }

  /** Bytes arrived. @param packet the incomplete packet they leave: none, the same as before, or a new one */
  received(now: number, packet: 'none' | 'same' | 'new'): void {
    this.#lastReceived = now;
    this.#pinged = false;
    if (packet === 'none') this.#packetSince = null;
    else if (packet === 'new') this.#packetSince = now;
  }

  blocked(now: number): void {
    this.#blockedSince = now;
  }

  unblocked(): void {
    this.#blockedSince = null;
  }

  /** Reading is paused: silence is not counted against the peer. */
  paused(): void {
    this.#paused = true;
  }

  resumed(now: number): void {
    this.#paused = false;
    this.#lastReceived = now;
    if (this.#packetSince !== null) this.#packetSince = now;
  }

  pinged(): void {
    this.#pinged = true;
  }

  verdict(now: number): DeadlineVerdict {
    const { packetTimeoutMs, writeTimeoutMs, deadAfterMs, pingAfterMs } = this.#options;
    if (this.#blockedSince !== null && now - this.#blockedSince >= writeTimeoutMs) return 'not-reading';
    if (this.#paused) return 'wait';
    if (this.#packetSince !== null && now - this.#packetSince >= packetTimeoutMs) return 'slow-packet';
    const silence = now - this.#lastReceived;
    if (silence >= deadAfterMs) return 'silent';
    return pingAfterMs > 0 && !this.#pinged && silence >= pingAfterMs ? 'ping' : 'wait';
  }

  /** Milliseconds until the next check. No deadline can expire earlier, whatever happens until then. */
  nextCheckMs(now: number): number {
    const { packetTimeoutMs, writeTimeoutMs, deadAfterMs, pingAfterMs } = this.#options;
    // A deadline that has not started yet expires at the earliest after its full timeout.
    let next = now + Math.min(packetTimeoutMs, writeTimeoutMs, deadAfterMs, pingAfterMs || deadAfterMs);
    if (this.#blockedSince !== null) next = Math.min(next, this.#blockedSince + writeTimeoutMs);
    if (!this.#paused) {
      if (this.#packetSince !== null) next = Math.min(next, this.#packetSince + packetTimeoutMs);
      next = Math.min(next, this.#lastReceived + deadAfterMs);
      if (pingAfterMs > 0 && !this.#pinged) next = Math.min(next, this.#lastReceived + pingAfterMs);
    }
    return Math.max(1, next - now);
  }
}

/** Maximum bytes per {@link OutgoingQueue.take}. */
export const PIECE_BYTES = 64 * 1024;

/** FIFO queue of bytes to send. */
export class OutgoingQueue {
  #parts: (Uint8Array | undefined)[] = [];
  /** Index of the first unsent part, and how many of its bytes are sent. */
  #head = 0;
  #offset = 0;
  #added = 0;
  #taken = 0;

  /** Total bytes added. */
  get added(): number {
    return this.#added;
  }

  /** Total bytes taken. */
  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#added - this.#taken;
  }

  add(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#parts.push(part);
    this.#added += part.length;
  }

  /** Returns the next bytes, at most {@link PIECE_BYTES}; a view if they are in one part. Must not be called on an empty queue. */
  take(): Uint8Array {
    const size = Math.min(PIECE_BYTES, this.waiting);
    const first = this.#parts[this.#head]!;
    if (first.length - this.#offset >= size) {
      const piece = first.subarray(this.#offset, this.#offset + size);
      this.#advance(size);
      return piece;
    }
    const piece = Buffer.allocUnsafe(size);
    for (let at = 0; at < size; ) {
      const part = this.#parts[this.#head]!;
      const length = Math.min(size - at, part.length - this.#offset);
      piece.set(part.subarray(this.#offset, this.#offset + length), at);
      this.#advance(length);
      at += length;
    }
    return piece;
  }

  /** Discards all queued bytes. */
  clear(): void {
    this.#parts = [];
    this.#head = 0;
    this.#offset = 0;
    this.#added = this.#taken;
  }

  #advance(size: number): void {
    this.#taken += size;
    this.#offset += size;
    if (this.#offset < this.#parts[this.#head]!.length) return;
    this.#parts[this.#head] = undefined;
    this.#head++;
    this.#offset = 0;
    if (this.#head === this.#parts.length || this.#head >= 1024) {
      this.#parts = this.#parts.slice(this.#head);
      this.#head = 0;
    }
  }
}

/** Adds listeners to a socket and returns a function that removes them. */
export function addListeners(socket: Socket, listeners: Record<string, (value: never) => void>): () => void {
  const entries = Object.entries(listeners) as [string, (...values: unknown[]) => void][];
  for (const [event, listener] of entries) socket.on(event, listener);
  return () => {
    for (const [event, listener] of entries) socket.off(event, listener);
  };
}

/** Destroys a socket without listeners and ignores its further errors. */
export function destroySocket(socket: Socket): void {
  socket.on('error', ignore);
  socket.destroy();
}

function ignore(): void {}

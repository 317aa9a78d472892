import type { Socket } from 'node:net';
import { adnlErrors } from '#drivers/adnl/errors.js';
import type { CipherKey } from '#drivers/adnl/handshake.js';
import { type AdnlMessage, readMessage, writePing, writePong } from '#drivers/adnl/message.js';
import type { AdnlMetrics } from '#drivers/adnl/metrics.js';
import type { AdnlModules, ConnectionOptions } from '#drivers/adnl/options.js';
import { OutgoingQueue } from '#drivers/adnl/outgoing-queue.js';
import { PACKET_OVERHEAD, PacketReader, PacketWriter } from '#drivers/adnl/packet-stream.js';
import type { CancelSchedule, Clock } from '#kernel/clock/clock.js';
import { isTernError, type TernError } from '#kernel/errors/tern-error.js';

/** What a side does with what comes. None of them may throw. */
export interface ConnectionEvents {
  /** Queries, answers, empty packets and messages of unknown kinds; pings and pongs are dealt with already. */
  onMessage(message: AdnlMessage): void;
  /** What waited to be sent has shrunk below the high-water mark again. */
  onDrain(): void;
  /** It is over, said once; the reason is `adnl/closed` when this side closed it. */
  onClose(reason: TernError): void;
}

/** What tells one connection from another. */
export interface ConnectionIdentity {
  /** `host:port`, for errors. */
  readonly peer: string;
  readonly receive: CipherKey;
  readonly send: CipherKey;
}

/**
 * One TCP connection after its keys are known, the same for both sides: packets in and out, pings, deadlines, limits. It
 * owns the socket, and leaves nothing behind when it ends: no timer, no listener, no bytes.
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
  readonly #detach: () => void;
  #cancelCheck: CancelSchedule = () => {};
  #closed = false;
  #ending = false;
  #paused = false;
  /** Set when the socket has taken enough, and when that was. */
  #blockedSince: number | null = null;
  #flushPlanned = false;
  #aboveHighWater = false;
  #lastReceived: number;
  #packetSince = 0;
  #pinged = false;

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
    this.#lastReceived = this.#clock.now();
    this.#detach = listen(socket, {
      data: (chunk: Uint8Array) => this.receive(chunk),
      drain: () => this.#onDrain(),
      end: () => this.#lose('the peer ended it'),
      error: (error: NodeJS.ErrnoException) => this.#lose(error.code ?? error.message, error),
      close: () => this.#lose('it was cut'),
    });
    socket.setNoDelay(true);
    this.#metrics.connections_opened++;
    this.#check();
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Whether what waits to be sent is below the high-water mark, so that something new may be begun. */
  get isWritable(): boolean {
    return !this.#closed && !this.#ending && this.#queue.waiting < this.#options.outgoingHighWaterBytes;
  }

  /** Bytes that wait to be given to the socket. */
  get queuedBytes(): number {
    return this.#queue.waiting;
  }

  /** How many bytes of the stream have been given to the socket; see {@link Connection.send}. */
  get handedOver(): number {
    return this.#queue.taken;
  }

  /** Takes bytes that came from the peer. Called for what the socket gives; and for what came behind a handshake. */
  receive(chunk: Uint8Array): void {
    if (this.#closed) return;
    const now = this.#clock.now();
    const { packets, isMidPacket } = this.#reader;
    this.#lastReceived = now;
    this.#pinged = false;
    this.#metrics.bytes_received += chunk.length;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      this.#metrics.protocol_violations++;
      this.close(asTernError(error, this.peer));
      return;
    }
    if (!isMidPacket || this.#reader.packets !== packets) this.#packetSince = now;
  }

  /**
   * Sends a message in a packet of its own, after what waits already.
   *
   * @param payload not to be changed afterwards
   * @returns the place of the message in the stream: it cannot have reached the peer while `handedOver` is not above it
   */
  send(payload: Uint8Array): number {
    const place = this.#queue.added;
    if (this.#closed || this.#ending) return Number.POSITIVE_INFINITY;
    const waiting = this.#queue.waiting + payload.length + PACKET_OVERHEAD;
    if (waiting > this.#options.outgoingMaxBytes) {
      this.close(this.#notReading('more than allowed'));
      return Number.POSITIVE_INFINITY;
    }
    for (const part of this.#writer.frame(payload)) this.#queue.add(part);
    this.#metrics.packets_sent++;
    if (waiting >= this.#options.outgoingHighWaterBytes) this.#aboveHighWater = true;
    this.#planFlush();
    return place;
  }

  /** Reads nothing more from the socket until {@link Connection.resume}. What has been read is still given out. */
  pause(): void {
    if (this.#paused || this.#closed) return;
    this.#paused = true;
    this.#socket.pause();
  }

  /** Reads on. Time in which nothing was read does not count against the peer. */
  resume(): void {
    if (!this.#paused || this.#closed) return;
    this.#paused = false;
    const now = this.#clock.now();
    this.#lastReceived = now;
    this.#packetSince = now;
    this.#socket.resume();
  }

  /** Ends it at once. Idempotent: the first reason stays. */
  close(reason: TernError = adnlErrors.closed({ peer: this.peer })): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelCheck();
    this.#detach();
    this.#reader.stop();
    this.#queue.clear();
    discard(this.#socket);
    this.#metrics.connections_closed++;
    this.#events.onClose(reason);
  }

  /** Takes nothing new to send, sends what waits, and ends when the peer has ended its side too. */
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
      // A peer that sends pings and reads nothing gets no pongs, so that they cannot pile up.
      if (this.isWritable) this.send(writePong(message.randomId));
    } else if (message.kind !== 'pong') {
      this.#events.onMessage(message);
    }
  }

  /** Sending waits for the end of this turn, so that small packets share a write. */
  #planFlush(): void {
    if (this.#flushPlanned || this.#blockedSince !== null) return;
    this.#flushPlanned = true;
    queueMicrotask(() => {
      this.#flushPlanned = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (!this.#closed && this.#blockedSince === null && this.#queue.waiting > 0) {
      const piece = this.#writer.encrypt(this.#queue.take());
      this.#metrics.bytes_sent += piece.length;
      if (!this.#socket.write(piece)) this.#blockedSince = this.#clock.now();
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
    this.#blockedSince = null;
    this.#flush();
  }

  #lose(problem: string, cause?: unknown): void {
    if (this.#ending && this.#queue.waiting === 0) this.close();
    else this.close(adnlErrors['connection-lost']({ peer: this.peer, problem }, cause));
  }

  #notReading(problem: string): TernError {
    return adnlErrors['not-reading']({ peer: this.peer, queued: this.#queue.waiting, problem });
  }

  /** Looks at all deadlines, and comes back when the next one can fall due. */
  #check(): void {
    const { packetTimeoutMs, writeTimeoutMs, deadAfterMs, pingAfterMs } = this.#options;
    const { peer } = this;
    const now = this.#clock.now();
    if (this.#blockedSince !== null && now - this.#blockedSince >= writeTimeoutMs) {
      this.close(this.#notReading(`nothing was taken for ${writeTimeoutMs} ms`));
    } else if (!this.#paused && this.#reader.isMidPacket && now - this.#packetSince >= packetTimeoutMs) {
      this.close(adnlErrors['slow-packet']({ peer, timeoutMs: packetTimeoutMs }));
    } else if (!this.#paused && now - this.#lastReceived >= deadAfterMs) {
      this.close(adnlErrors.silent({ peer, timeoutMs: deadAfterMs }));
    } else if (!this.#paused && pingAfterMs > 0 && !this.#pinged && now - this.#lastReceived >= pingAfterMs) {
      this.#pinged = true;
      this.#metrics.pings_sent++;
      this.send(writePing(Buffer.from(this.#modules.randomBytes(8)).readBigInt64LE()));
    }
    this.#planCheck();
  }

  #planCheck(): void {
    if (this.#closed) return;
    const { packetTimeoutMs, writeTimeoutMs, deadAfterMs, pingAfterMs } = this.#options;
    const now = this.#clock.now();
    // A deadline that does not run yet can fall due only a whole time-out from now: no event needs to plan anew.
    let next = now + Math.min(packetTimeoutMs, writeTimeoutMs, deadAfterMs, pingAfterMs || deadAfterMs);
    if (this.#blockedSince !== null) next = Math.min(next, this.#blockedSince + writeTimeoutMs);
    if (!this.#paused) {
      if (this.#reader.isMidPacket) next = Math.min(next, this.#packetSince + packetTimeoutMs);
      next = Math.min(next, this.#lastReceived + deadAfterMs);
      if (pingAfterMs > 0 && !this.#pinged) next = Math.min(next, this.#lastReceived + pingAfterMs);
    }
    this.#cancelCheck();
    this.#cancelCheck = this.#clock.schedule(Math.max(1, next - now), () => this.#check());
  }
}

/** Adds listeners, and gives what takes them away again. */
export function listen(socket: Socket, listeners: Record<string, (value: never) => void>): () => void {
  const entries = Object.entries(listeners) as [string, (...values: unknown[]) => void][];
  for (const [event, listener] of entries) socket.on(event, listener);
  return () => {
    for (const [event, listener] of entries) socket.off(event, listener);
  };
}

/** Destroys a socket on which nobody listens any more; errors that it may still report are of no interest. */
export function discard(socket: Socket): void {
  socket.on('error', ignore);
  socket.destroy();
}

function ignore(): void {}

function asTernError(error: unknown, peer: string): TernError {
  if (isTernError(error)) return error;
  return adnlErrors['connection-lost']({ peer, problem: String(error) }, error);
}

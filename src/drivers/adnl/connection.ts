import type { Socket } from 'node:net';
import { adnlErrors } from '#drivers/adnl/errors.js';
import type { CipherKey } from '#drivers/adnl/handshake.js';
import { type AdnlMessage, readMessage, writePing, writePong } from '#drivers/adnl/message.js';
import type { AdnlMetrics } from '#drivers/adnl/metrics.js';
import type { AdnlModules, ConnectionOptions } from '#drivers/adnl/options.js';
import { OutgoingQueue } from '#drivers/adnl/outgoing-queue.js';
import { PACKET_OVERHEAD, PacketReader, PacketWriter } from '#drivers/adnl/packet-stream.js';
import { PeerPatience } from '#drivers/adnl/peer-patience.js';
import { discard, listen } from '#drivers/adnl/socket-listeners.js';
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
  readonly #patience: PeerPatience;
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
    this.#patience = new PeerPatience(options, this.#clock.now());
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

  /** How many bytes of the stream have been given to the socket; see {@link Connection.send}. */
  get handedOver(): number {
    return this.#queue.taken;
  }

  /** Takes bytes that came from the peer. Called for what the socket gives; and for what came behind a handshake. */
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
    this.#patience.received(this.#clock.now(), !this.#reader.isMidPacket ? 'none' : isSame ? 'same' : 'new');
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
    if (this.#patience.isPaused || this.#closed) return;
    this.#patience.paused();
    this.#socket.pause();
  }

  /** Reads on. Time in which nothing was read does not count against the peer. */
  resume(): void {
    if (!this.#patience.isPaused || this.#closed) return;
    this.#patience.resumed(this.#clock.now());
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

  /** Sending waits until all that came in this turn of the event loop is seen, so that small packets share a write. */
  #planFlush(): void {
    if (this.#flushPlanned || this.#patience.isBlocked) return;
    this.#flushPlanned = true;
    setImmediate(() => {
      this.#flushPlanned = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (!this.#closed && !this.#patience.isBlocked && this.#queue.waiting > 0) {
      const piece = this.#writer.encrypt(this.#queue.take());
      this.#metrics.bytes_sent += piece.length;
      if (!this.#socket.write(piece)) this.#patience.blocked(this.#clock.now());
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
    this.#patience.unblocked();
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
    const verdict = this.#patience.verdict(this.#clock.now());
    if (verdict === 'ping') {
      this.#patience.pinged();
      this.#metrics.pings_sent++;
      this.send(writePing(Buffer.from(this.#modules.randomBytes(8)).readBigInt64LE()));
    } else if (verdict !== 'wait') {
      this.close(this.#impatience(verdict));
    }
    if (this.#closed) return;
    this.#cancelCheck = this.#clock.schedule(this.#patience.nextLook(this.#clock.now()), () => this.#check());
  }

  #impatience(verdict: 'not-reading' | 'slow-packet' | 'silent'): TernError {
    const { peer } = this;
    const { packetTimeoutMs, writeTimeoutMs, deadAfterMs } = this.#options;
    if (verdict === 'not-reading') return this.#notReading(`nothing was taken for ${writeTimeoutMs} ms`);
    return verdict === 'silent'
      ? adnlErrors.silent({ peer, timeoutMs: deadAfterMs })
      : adnlErrors['slow-packet']({ peer, timeoutMs: packetTimeoutMs });
  }
}

function asTernError(error: unknown, peer: string): TernError {
  if (isTernError(error)) return error;
  return adnlErrors['connection-lost']({ peer, problem: String(error) }, error);
}

import type { WebSocket } from 'ws';
import { httpErrors } from '#api/http/errors.js';
import type { RawRequest } from '#api/http/http-api.js';
import type { ReceivedPart } from '#api/http/received-bytes.js';
import type { StreamSettings } from '#api/stream/options.js';
import { endJson } from '#api/stream/sse.js';
import type { EventSink, EventText, StreamEnd } from '#api/stream/subscriber.js';
import type { CancelSchedule, Clock } from '#kernel/clock.js';
import type { TernError } from '#kernel/tern-error.js';

/** Close codes of RFC 6455 and of the registry of IANA. */
const GOING_AWAY = 1001;
const POLICY = 1008;
const TRY_AGAIN_LATER = 1013;

/** How many seconds of messages may come at once. */
const BURST_SECONDS = 4;

/** Messages and pings that are read while a connection is being closed, so that the client can answer; then it is cut off. */
const MOST_AFTER_END = 1_000;

/** A message counts once more for each so many bytes. */
const BYTES_PER_MESSAGE = 16 * 1024;

/** What a ping or pong without data takes on the wire, in bytes. */
const PING_BYTES = 6;

/** A client of `ws`. */
export interface ClientSocket {
  readonly socket: WebSocket;
  /** What `socket` reads from. */
  readonly stream: { prependListener(event: 'data', listener: (piece: Buffer) => void): unknown };
}

interface ConnectionEvents {
  /** Room for messages until they are handled; see {@link RawRequest.receives}. */
  readonly receives: RawRequest['receives'];
  /** Must not reject. @param signal aborted when the message is dropped, since there is no room for it or the connection is closed */
  onMessage(bytes: Buffer, signal: AbortSignal): Promise<void>;
}

/** A connection that events are sent to as text messages, and that requests come from, one after the other. */
export class WebSocketConnection implements EventSink {
  readonly #socket: WebSocket;
  readonly #settings: StreamSettings;
  readonly #clock: Clock;
  readonly #onMessage: ConnectionEvents['onMessage'];
  readonly #waiting: Buffer[] = [];
  /** Room for the message that is being received, and for those that wait or are handled. */
  readonly #room: ReceivedPart;
  /** Bytes of the message that is being received. */
  #begun = 0;
  /** Bytes of messages that wait or are handled. */
  #unhandled = 0;
  readonly #dropped = new AbortController();
  #isHandling = false;
  /** Paused until the next turn of the event loop. */
  #isPaced = false;
  #isAlive = true;
  #isClosing = false;
  #afterEnd = 0;
  #tokens: number;
  #filledAt: number;
  #cancel: CancelSchedule = () => {};
  /** Called when hardly anything is buffered, or the connection is closed. */
  readonly #onDrain = new Set<() => void>();

  constructor({ socket, stream }: ClientSocket, settings: StreamSettings, clock: Clock, events: ConnectionEvents) {
    this.#socket = socket;
    this.#settings = settings;
    this.#clock = clock;
    this.#onMessage = events.onMessage;
    this.#room = events.receives((error) => this.#drop(error));
    this.#tokens = settings.maxMessagesPerSecond * BURST_SECONDS;
    this.#filledAt = clock.now();
    // Before `ws` makes messages of it.
    stream.prependListener('data', ({ length }: Buffer) => {
      this.#begun += length;
      this.#hold();
      this.#pace();
    });
    socket.on('message', (data, isBinary) => this.#receive(data as Buffer, isBinary));
    socket.on('ping', (data) => {
      this.#discount(data);
      if (this.#spend(1) && this.#hasRoom()) socket.pong(data);
    });
    socket.on('pong', (data) => {
      this.#discount(data);
      // One that answers no ping counts as a message does.
      if (this.#isAlive) this.#spend(1);
      this.#isAlive = true;
    });
    // Malformed frames: `ws` closes with the code that the protocol has for them.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#cancel();
      this.#room.release();
      this.#dropped.abort(httpErrors['client-left']({}));
      this.#drain();
    });
    this.#watch();
  }

  get buffered(): number {
    return this.#socket.bufferedAmount;
  }

  /** A reply. @param json of it */
  reply(json: string): void {
    if (this.#hasRoom()) this.#socket.send(json);
  }

  /** Whether a reply can be sent. A client that asks and does not read the replies is cut off. */
  #hasRoom(): boolean {
    if (this.#socket.readyState !== this.#socket.OPEN) return false;
    if (this.buffered <= this.#settings.maxBufferedBytes) return true;
    this.#socket.terminate();
    return false;
  }

  send(text: EventText, cursor: string | null): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    const bytes = text.framed('ws', cursor, (json) => json);
    this.#socket.send(bytes, { binary: false }, () => {
      if (this.#onDrain.size > 0 && this.#isDrained) this.#drain();
    });
  }

  drained(): Promise<void> {
    if (this.#isDrained || this.#socket.readyState !== this.#socket.OPEN) return Promise.resolve();
    return new Promise((resolve) => void this.#onDrain.add(resolve));
  }

  get #isDrained(): boolean {
    return this.buffered < this.#settings.maxBufferedBytes / 8;
  }

  #drain(): void {
    for (const resolve of this.#onDrain) resolve();
    this.#onDrain.clear();
  }

  end(reason: StreamEnd, cursor: string, problem?: string): void {
    // Also when there is no room any more, since that is why.
    const isOpen = this.#socket.readyState === this.#socket.OPEN;
    if (isOpen && reason !== 'shutting-down') this.#socket.send(endJson(reason, cursor, problem));
    this.#close(reason === 'shutting-down' ? GOING_AWAY : TRY_AGAIN_LATER, reason);
  }

  #close(code: number, reason: string): void {
    // It is cut off some time after the first reason, whatever it sends meanwhile.
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#waiting.length = 0;
    this.#room.release();
    this.#dropped.abort(httpErrors['client-left']({}));
    this.#cancel();
    this.#socket.close(code, reason);
    // To get the client's own close.
    this.#socket.resume();
    this.#cancel = this.#clock.schedule(this.#settings.lingerMs, () => this.#socket.terminate());
  }

  /** Refuses the connection. @param json of the error */
  refuse(json: string): void {
    this.reply(json);
    this.#close(POLICY, '');
  }

  /** There is no room for what the client has sent. */
  #drop(error: TernError): void {
    this.#dropped.abort(error);
    this.reply(JSON.stringify({ error: error.message }));
    this.#close(TRY_AGAIN_LATER, '');
  }

  /** Bytes of a ping or pong are not of a message. */
  #discount(data: Buffer): void {
    this.#begun = Math.max(0, this.#begun - data.length - PING_BYTES);
    this.#hold();
  }

  /** What else has come is read in the next turn of the event loop, after what others sent: frames without data are 10,000 in 64 KiB. */
  #pace(): void {
    if (this.#isPaced || this.#isHandling) return;
    this.#isPaced = true;
    this.#socket.pause();
    setImmediate(() => {
      this.#isPaced = false;
      if (!this.#isHandling) this.#socket.resume();
    });
  }

  #hold(): void {
    if (!this.#isClosing) this.#room.hold(this.#begun + this.#unhandled);
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#begun = 0;
    // Binary messages are ignored, as by the live service.
    if (this.#spend(1 + data.length / BYTES_PER_MESSAGE) && !isBinary) {
      this.#waiting.push(data);
      this.#unhandled += data.length;
      if (!this.#isHandling) void this.#handle();
    }
    this.#hold();
  }

  /** Counts messages. @returns false: they are too many, and the connection is being closed */
  #spend(messages: number): boolean {
    if (this.#isClosing) {
      if (++this.#afterEnd > MOST_AFTER_END) this.#socket.terminate();
      return false;
    }
    const { maxMessagesPerSecond } = this.#settings;
    const now = this.#clock.now();
    const filled = this.#tokens + ((now - this.#filledAt) / 1000) * maxMessagesPerSecond;
    this.#tokens = Math.min(filled, maxMessagesPerSecond * BURST_SECONDS) - messages;
    this.#filledAt = now;
    if (this.#tokens >= 0) return true;
    this.refuse(JSON.stringify({ error: `more than ${maxMessagesPerSecond} messages per second` }));
    return false;
  }

  /** One message after the other; meanwhile nothing more is read, so that the client waits and not its messages. */
  async #handle(): Promise<void> {
    this.#isHandling = true;
    this.#socket.pause();
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      await this.#onMessage(next, this.#dropped.signal);
      this.#unhandled -= next.length;
      this.#hold();
    }
    this.#isHandling = false;
    if (!this.#isPaced) this.#socket.resume();
  }

  /** Pings; one that does not answer before the next is gone. */
  #watch(): void {
    this.#cancel = this.#clock.schedule(this.#settings.keepAliveMs, () => {
      if (!this.#isAlive) {
        this.#socket.terminate();
        return;
      }
      this.#isAlive = false;
      this.#socket.ping();
      this.#watch();
    });
  }
}

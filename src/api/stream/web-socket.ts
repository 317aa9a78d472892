import type { WebSocket } from 'ws';
import type { StreamSettings } from '#api/stream/options.js';
import { endJson } from '#api/stream/sse.js';
import type { EventSink, EventText, StreamEnd } from '#api/stream/subscriber.js';
import type { CancelSchedule, Clock } from '#kernel/clock.js';

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

/** A connection that events are sent to as text messages, and that requests come from, one after the other. */
export class WebSocketConnection implements EventSink {
  readonly #socket: WebSocket;
  readonly #settings: StreamSettings;
  readonly #clock: Clock;
  readonly #onMessage: (text: string) => Promise<void>;
  readonly #waiting: Buffer[] = [];
  #isHandling = false;
  #isAlive = true;
  #isClosing = false;
  #afterEnd = 0;
  #tokens: number;
  #filledAt: number;
  #cancel: CancelSchedule = () => {};
  #onDrain: (() => void) | null = null;

  /** @param onMessage must not reject */
  constructor(socket: WebSocket, settings: StreamSettings, clock: Clock, onMessage: (text: string) => Promise<void>) {
    this.#socket = socket;
    this.#settings = settings;
    this.#clock = clock;
    this.#onMessage = onMessage;
    this.#tokens = settings.maxMessagesPerSecond * BURST_SECONDS;
    this.#filledAt = clock.now();
    socket.on('message', (data, isBinary) => this.#receive(data as Buffer, isBinary));
    socket.on('ping', (data) => {
      if (this.#spend(1) && this.#hasRoom()) socket.pong(data);
    });
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    // Malformed frames: `ws` closes with the code that the protocol has for them.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#cancel();
      this.#onDrain?.();
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
      if (this.#onDrain !== null && this.buffered < this.#settings.maxBufferedBytes / 8) this.#onDrain();
    });
  }

  async drained(): Promise<void> {
    if (this.buffered < this.#settings.maxBufferedBytes / 8 || this.#socket.readyState !== this.#socket.OPEN) return;
    await new Promise<void>((resolve) => {
      this.#onDrain = resolve;
    });
    this.#onDrain = null;
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

  #receive(data: Buffer, isBinary: boolean): void {
    // Binary messages are ignored, as by the live service.
    if (!this.#spend(1 + data.length / BYTES_PER_MESSAGE) || isBinary) return;
    this.#waiting.push(data);
    if (!this.#isHandling) void this.#handle();
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
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      await this.#onMessage(next.toString());
    this.#isHandling = false;
    this.#socket.resume();
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

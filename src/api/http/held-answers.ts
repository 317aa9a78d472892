import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '#kernel/clock.js';

/** Answers of fewer bytes or characters are not counted. */
const LARGE = 64 * 1024;

interface HeldSettings {
  /** From so many bytes on there is no room. */
  readonly maxHeldBytes: number;
  /** For how long a client may take its answer at its own pace, though there is no room for those of others. */
  readonly stallMs: number;
}

interface HeldAnswer {
  /** When it was sent. */
  readonly since: number;
  /** Counts it no more. */
  readonly release: () => void;
}

/** Counts the large answers that their clients have not received yet. Bytes that several clients get are held, and count, once. */
export class HeldAnswers {
  readonly #settings: HeldSettings;
  readonly #clock: Clock;
  readonly #close: (socket: Socket) => void;
  /** In the order in which they were sent. */
  readonly #answers = new Map<ServerResponse, HeldAnswer>();
  /** How many responses hold the same bytes. */
  readonly #holders = new Map<Uint8Array, number>();
  #bytes = 0;

  /** @param close closes the connection of a client that takes its answer too slowly */
  constructor(settings: HeldSettings, clock: Clock, close: (socket: Socket) => void) {
    this.#settings = settings;
    this.#clock = clock;
    this.#close = close;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#settings.maxHeldBytes;
  }

  /**
   * When there is no room, closes connections whose clients have not taken their answers for `stallMs`, longest first: those who
   * read slowly cannot keep others out.
   *
   * @returns whether there is room now
   */
  makeRoom(): boolean {
    const { stallMs } = this.#settings;
    const now = this.#clock.now();
    for (const [{ socket }, { since, release }] of this.#answers) {
      if (!this.isFull || now - since < stallMs) break;
      if (socket === null) continue;
      release();
      this.#close(socket);
    }
    return !this.isFull;
  }

  /** Counts a body until its response is closed. */
  add(body: string | Uint8Array, response: ServerResponse): void {
    if (body.length < LARGE || response.closed) return;
    if (typeof body === 'string') this.#bytes += body.length;
    else this.#hold(body);
    const release = (): void => {
      if (!this.#answers.delete(response)) return;
      if (typeof body === 'string') this.#bytes -= body.length;
      else this.#release(body);
    };
    this.#answers.set(response, { since: this.#clock.now(), release });
    response.once('close', release);
  }

  #hold(body: Uint8Array): void {
    const holders = this.#holders.get(body) ?? 0;
    if (holders === 0) this.#bytes += body.length;
    this.#holders.set(body, holders + 1);
  }

  #release(body: Uint8Array): void {
    const holders = this.#holders.get(body)! - 1;
    if (holders > 0) {
      this.#holders.set(body, holders);
      return;
    }
    this.#holders.delete(body);
    this.#bytes -= body.length;
  }
}

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { httpErrors } from '#api/http/errors.js';
import type { Clock } from '#kernel/clock.js';
import { LinkedList } from '#kernel/linked-list.js';
import type { TernError } from '#kernel/tern-error.js';

/** Answers of fewer bytes or characters are not counted. */
const LARGE = 64 * 1024;

/** Whether an answer is counted while its client has not received it. */
export function isLargeAnswer({ length }: string | Uint8Array): boolean {
  return length >= LARGE;
}

/** Why there is no room for a further answer. */
export function noRoom({ bytes }: Pick<HeldAnswers, 'bytes'>): TernError {
  return httpErrors.overloaded({ limit: `${bytes} bytes of answers wait for their clients` });
}

interface HeldSettings {
  /** From so many bytes on there is no room. */
  readonly maxHeldBytes: number;
  /** For how long a client may take its answer at its own pace, though there is no room for those of others. */
  readonly stallMs: number;
}

interface HeldAnswer {
  readonly response: ServerResponse;
  /** When it was sent. */
  readonly since: number;
  /** Counts it no more. */
  readonly release: () => void;
}

/** Bytes, and how many responses hold them. */
interface HeldBytes extends Uint8Array {
  [HOLDERS]?: number;
}

const HOLDERS = Symbol('holders');

/** Counts the large answers that their clients have not received yet. Bytes that several clients get are held, and count, once. */
export class HeldAnswers {
  readonly #settings: HeldSettings;
  readonly #clock: Clock;
  readonly #close: (socket: Socket) => void;
  /** In the order in which they were sent. */
  readonly #answers = new LinkedList<HeldAnswer>();
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
    for (const { response, since, release } of this.#answers) {
      const { socket } = response;
      if (!this.isFull || now - since < stallMs) break;
      if (socket === null) continue;
      release();
      this.#close(socket);
    }
    return !this.isFull;
  }

  /** Counts a body until its response is closed. */
  add(body: string | Uint8Array, response: ServerResponse): void {
    if (!isLargeAnswer(body) || response.closed) return;
    if (typeof body === 'string') this.#bytes += body.length;
    else this.#hold(body);
    const release = (): void => {
      if (!this.#answers.remove(place)) return;
      if (typeof body === 'string') this.#bytes -= body.length;
      else this.#release(body);
    };
    const place = this.#answers.add({ response, since: this.#clock.now(), release });
    response.once('close', release);
  }

  #hold(body: HeldBytes): void {
    const holders = body[HOLDERS] ?? 0;
    if (holders === 0) this.#bytes += body.length;
    body[HOLDERS] = holders + 1;
  }

  #release(body: HeldBytes): void {
    const holders = (body[HOLDERS] ?? 0) - 1;
    body[HOLDERS] = holders;
    if (holders === 0) this.#bytes -= body.length;
  }
}

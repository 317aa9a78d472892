import type { IncomingMessage } from 'node:http';
import { httpErrors } from '#api/http/errors.js';
import type { CancelSchedule, Clock } from '#kernel/clock.js';
import type { TernError } from '#kernel/tern-error.js';

/** Bounds of request bodies while they are received. */
interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly maxBodiesBytes: number;
  readonly maxBodiesPerAddress: number;
  readonly minBytesPerSecond: number;
  readonly stallMs: number;
}

/**
 * How small the pieces of a body may be on average, in bytes, and how many are not counted: a piece of one byte costs a hundred
 * times as much as it carries.
 */
const LEAST_PIECE = 64;
const FREE_PIECES = 1_024;

/** Reads request bodies within bounds of memory and time, for each, for each client address, and for all of them. */
export class BodyReader {
  readonly #limits: BodyLimits;
  readonly #clock: Clock;
  /** In the order in which they began. */
  readonly #open = new Set<OpenBody>();
  readonly #byMessage = new WeakMap<IncomingMessage, OpenBody>();
  readonly #aborted = new WeakMap<IncomingMessage, TernError>();
  readonly #perAddress = new Map<string, number>();
  #held = 0;

  constructor(limits: BodyLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Bytes held for bodies that are being received. */
  get heldBytes(): number {
    return this.#held;
  }

  /** Bodies that are being received. */
  get open(): number {
    return this.#open.size;
  }

  /**
   * The whole body. When all bodies together exceed their bound, the one that has been open longest is given up: bodies that
   * do not end cannot keep others out.
   *
   * @param address what the bound per client is counted by
   * @throws http/body-too-large, http/body-in-pieces, http/overloaded when a bound of several bodies is exceeded, http/request-timeout when it does
   * not come on at `minBytesPerSecond`, http/client-left, and the error of {@link BodyReader.abort}
   */
  read(message: IncomingMessage, address: string): Promise<Buffer> {
    const { maxBodyBytes, maxBodiesPerAddress } = this.#limits;
    return new Promise((resolve, reject) => {
      const aborted = this.#aborted.get(message);
      if (aborted !== undefined) {
        reject(aborted);
        return;
      }
      if (Number(message.headers['content-length']) > maxBodyBytes) {
        reject(httpErrors['body-too-large']({ maxBytes: maxBodyBytes }));
        return;
      }
      const ofAddress = this.#perAddress.get(address) ?? 0;
      if (ofAddress >= maxBodiesPerAddress) {
        reject(httpErrors.overloaded({ limit: `${ofAddress} bodies of this client are being received` }));
        return;
      }
      this.#perAddress.set(address, ofAddress + 1);
      const body = new OpenBody(message, this.#limits, this.#clock, {
        onHeld: (bytes) => this.#hold(bytes),
        onEnd: (outcome) => {
          this.#open.delete(body);
          this.#byMessage.delete(message);
          const left = this.#perAddress.get(address)! - 1;
          if (left === 0) this.#perAddress.delete(address);
          else this.#perAddress.set(address, left);
          if (Buffer.isBuffer(outcome)) resolve(outcome);
          else reject(outcome);
        },
      });
      this.#open.add(body);
      this.#byMessage.set(message, body);
      body.start();
    });
  }

  /** Gives up the body of a message that will not be complete, also if it is read later. */
  abort(message: IncomingMessage, error: TernError): void {
    this.#aborted.set(message, error);
    this.#byMessage.get(message)?.fail(error);
  }

  #hold(bytes: number): void {
    this.#held += bytes;
    if (bytes < 0) return;
    for (const body of this.#open) {
      if (this.#held <= this.#limits.maxBodiesBytes) return;
      body.fail(httpErrors.overloaded({ limit: 'too many bodies are being received' }));
    }
  }
}

interface BodyEvents {
  /** The bytes held for the body have changed by so many. */
  onHeld(bytes: number): void;
  /** Called once. */
  onEnd(outcome: Buffer | TernError): void;
}

/** A body that is being received. */
class OpenBody {
  readonly #message: IncomingMessage;
  readonly #limits: BodyLimits;
  readonly #clock: Clock;
  readonly #events: BodyEvents;
  /** Of which `#length` bytes are received. A body of one piece is that piece; others grow in place, so that pieces are not kept. */
  #bytes: Buffer = EMPTY;
  #length = 0;
  #pieces = 0;
  #hasEnded = false;
  #cancel: CancelSchedule = () => {};

  constructor(message: IncomingMessage, limits: BodyLimits, clock: Clock, events: BodyEvents) {
    this.#message = message;
    this.#limits = limits;
    this.#clock = clock;
    this.#events = events;
  }

  start(): void {
    this.#watch(0);
    this.#message.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onGone).on('close', this.#onGone);
  }

  fail(error: TernError): void {
    this.#end(error);
  }

  /** Compares the progress of each `stallMs` with the least rate. @param before bytes at its begin */
  #watch(before: number): void {
    const { stallMs, minBytesPerSecond } = this.#limits;
    this.#cancel = this.#clock.schedule(stallMs, () => {
      if ((this.#length - before) * 1000 < minBytesPerSecond * stallMs) this.#end(httpErrors['request-timeout']({}));
      else this.#watch(this.#length);
    });
  }

  readonly #onData = (piece: Buffer): void => {
    const { maxBodyBytes } = this.#limits;
    const length = this.#length + piece.length;
    this.#pieces++;
    if (length > maxBodyBytes) {
      this.#end(httpErrors['body-too-large']({ maxBytes: maxBodyBytes }));
      return;
    }
    if (this.#pieces > FREE_PIECES + length / LEAST_PIECE) {
      this.#end(httpErrors['body-in-pieces']({ pieces: this.#pieces, bytes: length }));
      return;
    }
    const held = this.#bytes.length;
    if (held === 0) {
      this.#bytes = piece;
    } else if (length > held) {
      const grown = Buffer.allocUnsafeSlow(Math.min(maxBodyBytes, Math.max(length, 2 * held)));
      this.#bytes.copy(grown, 0, 0, this.#length);
      piece.copy(grown, this.#length);
      this.#bytes = grown;
    } else {
      piece.copy(this.#bytes, this.#length);
    }
    this.#length = length;
    if (this.#bytes.length > held) this.#events.onHeld(this.#bytes.length - held);
  };

  readonly #onEnd = (): void => {
    this.#end(this.#bytes.subarray(0, this.#length));
  };

  readonly #onGone = (): void => {
    this.#message.on('error', () => {});
    this.#end(httpErrors['client-left']({}));
  };

  #end(outcome: Buffer | TernError): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#cancel();
    this.#message
      .off('data', this.#onData)
      .off('end', this.#onEnd)
      .off('error', this.#onGone)
      .off('close', this.#onGone);
    // What still comes is read and dropped, until the connection ends.
    if (!Buffer.isBuffer(outcome)) this.#message.resume();
    const held = this.#bytes.length;
    this.#bytes = EMPTY;
    this.#events.onHeld(-held);
    this.#events.onEnd(outcome);
  }
}

const EMPTY = Buffer.alloc(0);

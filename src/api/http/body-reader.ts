import type { IncomingMessage } from 'node:http';
import { hasLargeBody } from '#api/http/body-admission.js';
import { httpErrors } from '#api/http/errors.js';
import type { ReceivedBytes, ReceivedPart } from '#api/http/received-bytes.js';
import type { CancelSchedule, Clock } from '#kernel/clock.js';
import { KeyedCounts } from '#kernel/keyed-counts.js';
import { type Link, LinkedList } from '#kernel/linked-list.js';
import { TernError } from '#kernel/tern-error.js';

/** Bounds of request bodies while they are received. */
interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly maxBodiesPerAddress: number;
  readonly turnBytes: number;
  readonly minBytesPerSecond: number;
  readonly stallMs: number;
}

/**
 * How small the pieces of a body may be on average, in bytes, and how many are not counted: a piece of one byte costs a hundred
 * times as much as it carries.
 */
const LEAST_PIECE = 64;
const FREE_PIECES = 1_024;

/** Buffers from this size on are used again: garbage outside of the heap is collected late. */
const LARGE_BUFFER = 64 * 1024;

/** Buffers that are kept for it. */
const MOST_KEPT = 16;

/** What Node reads from a socket at a time, in bytes. */
const USUAL_PIECE = 64 * 1024;

/** A whole body. */
export interface ReceivedBody {
  readonly bytes: Buffer;
  /**
   * For a body that waits to be parsed: aborted with http/client-left when its client has gone, and with http/overloaded when there
   * is no room for it any more. Then the bytes must not be read.
   */
  waiting(): AbortSignal;
  /** To be called when the bytes are not used any more: they are used for other bodies. */
  release(): void;
}

/** A message, and its body while it is received, or why that will not be complete. */
interface ReadMessage extends IncomingMessage {
  [BODY]?: OpenBody | TernError | undefined;
  /** Its place among those that are read on in a later turn. */
  [PAUSED]?: Link<ReadMessage>;
}

const BODY = Symbol('body');
const PAUSED = Symbol('paused');

/** Reads request bodies within bounds of memory and time, for each, for each client address, and for all of them. */
export class BodyReader {
  readonly #limits: BodyLimits;
  #open = 0;
  readonly #perAddress = new KeyedCounts();
  readonly #kept: Buffer[] = [];
  /** Bytes taken in this turn of the event loop. */
  #taken = 0;
  #isTurnDue = false;
  /** Bodies that are read on in a later turn. */
  readonly #paused = new LinkedList<ReadMessage>();
  /** Bodies that began in this turn; most of them are whole at its end. */
  #begun: OpenBody[] = [];
  readonly #shared: SharedByBodies;

  /** @param received the room for what bodies hold, from their first byte until they are released */
  constructor(limits: BodyLimits, received: ReceivedBytes, clock: Clock) {
    this.#limits = limits;
    this.#shared = {
      limits,
      received,
      clock,
      onTaken: (message, bytes) => this.#take(message, bytes),
      take: (bytes) => this.#buffer(bytes),
      giveBack: (bytes) => this.#keep(bytes),
    };
  }

  /** Bodies that are being received. */
  get open(): number {
    return this.#open;
  }

  /**
   * The whole body.
   *
   * @param address what the bound per client is counted by
   * @throws http/body-too-large, http/body-in-pieces, http/overloaded when there are too many of the client, or no room for it, http/request-timeout when it does
   * not come on at `minBytesPerSecond`, http/client-left, and the error of {@link BodyReader.abort}
   */
  read(message: ReadMessage, address: string): Promise<ReceivedBody> {
    const { maxBodyBytes, maxBodiesPerAddress } = this.#limits;
    return new Promise((resolve, reject) => {
      if (message[BODY] instanceof TernError) {
        reject(message[BODY]);
        return;
      }
      if (Number(message.headers['content-length']) > maxBodyBytes) {
        reject(httpErrors['body-too-large']({ maxBytes: maxBodyBytes }));
        return;
      }
      const ofAddress = this.#perAddress.of(address);
      if (ofAddress >= maxBodiesPerAddress) {
        reject(httpErrors.overloaded({ limit: `${ofAddress} bodies of this client are being received` }));
        return;
      }
      this.#perAddress.begin(address);
      const onEnd = (outcome: ReceivedBody | TernError): void => {
        this.#paused.remove(message[PAUSED] ?? null);
        this.#open--;
        message[BODY] = undefined;
        this.#perAddress.end(address);
        if (outcome instanceof TernError) reject(outcome);
        else resolve(outcome);
      };
      const body = new OpenBody(message, this.#shared, onEnd);
      this.#open++;
      message[BODY] = body;
      this.#begun.push(body);
      this.#turnLater();
      body.start();
    });
  }

  #keep({ buffer, byteOffset }: Buffer): void {
    const { byteLength } = buffer;
    if (byteOffset !== 0 || byteLength < LARGE_BUFFER || this.#kept.length >= MOST_KEPT) return;
    this.#kept.push(Buffer.from(buffer as ArrayBuffer));
  }

  #buffer(bytes: number): Buffer {
    const at = this.#kept.findIndex(({ length }) => length >= bytes);
    return at < 0 ? Buffer.allocUnsafeSlow(bytes) : this.#kept.splice(at, 1)[0]!;
  }

  /** Gives up the body of a message that will not be complete, also if it is read later. */
  abort(message: ReadMessage, error: TernError): void {
    const body = message[BODY];
    if (body instanceof OpenBody) body.fail(error);
    message[BODY] = error;
  }

  /** Bodies beyond what one turn takes are paused, so that the kernel slows their clients down. */
  #take(message: ReadMessage, bytes: number): void {
    this.#taken += bytes;
    // Nothing more comes of a complete one.
    if (this.#taken >= this.#limits.turnBytes && !message.complete) {
      message.pause();
      if (message[PAUSED]?.isIn !== true) message[PAUSED] = this.#paused.add(message);
    }
    this.#turnLater();
  }

  #turnLater(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    setImmediate(this.#onTurn);
  }

  readonly #onTurn = (): void => {
    this.#isTurnDue = false;
    this.#taken = 0;
    for (const body of this.#begun) body.watch();
    this.#begun = [];
    let most = Math.ceil(this.#limits.turnBytes / USUAL_PIECE);
    while (this.#paused.size > 0 && most-- > 0) this.#paused.take()!.resume();
    if (this.#paused.size > 0) this.#turnLater();
  };
}

/** What all bodies of a reader use. */
interface SharedByBodies {
  readonly limits: BodyLimits;
  readonly received: ReceivedBytes;
  readonly clock: Clock;
  /** So many bytes came. */
  readonly onTaken: (message: IncomingMessage, bytes: number) => void;
  /** A buffer of at least so many bytes. */
  readonly take: (bytes: number) => Buffer;
  readonly giveBack: (bytes: Buffer) => void;
}

/** A body that is being received. */
class OpenBody {
  readonly #message: IncomingMessage;
  readonly #shared: SharedByBodies;
  readonly #onOutcome: (outcome: ReceivedBody | TernError) => void;
  /** Of which `#length` bytes are received. A body of one piece is that piece; others grow in place, so that pieces are not kept. */
  #bytes: Buffer = EMPTY;
  #length = 0;
  #pieces = 0;
  #hasEnded = false;
  readonly #held: ReceivedPart;
  /** Of a whole body that waits to be parsed. */
  #waiting: AbortController | null = null;
  #isReleased = false;
  #cancel: CancelSchedule | null = null;

  /** @param onOutcome called once */
  constructor(
    message: IncomingMessage,
    shared: SharedByBodies,
    onOutcome: (outcome: ReceivedBody | TernError) => void,
  ) {
    this.#message = message;
    this.#shared = shared;
    this.#onOutcome = onOutcome;
    this.#held = shared.received.begin((error) => {
      if (this.#hasEnded) this.#waiting?.abort(error);
      else this.fail(error);
    });
  }

  start(): void {
    this.#message.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onGone).on('close', this.#onGone);
  }

  fail(error: TernError): void {
    this.#end(error);
  }

  /** From now on compares the progress of each `stallMs` with the least rate. */
  watch(): void {
    if (this.#hasEnded) return;
    const before = this.#length;
    const { clock, limits } = this.#shared;
    const { stallMs, minBytesPerSecond } = limits;
    this.#cancel = clock.schedule(stallMs, () => {
      if ((this.#length - before) * 1000 < minBytesPerSecond * stallMs) this.#end(httpErrors['request-timeout']({}));
      else this.watch();
    });
  }

  readonly #onData = (piece: Buffer): void => {
    const { limits, take, giveBack, onTaken } = this.#shared;
    const { maxBodyBytes } = limits;
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
      const before = this.#bytes;
      const announced = Number(this.#message.headers['content-length']);
      const most = announced >= length ? announced : maxBodyBytes;
      // Who announces much and sends little does not get the room of what was announced.
      const isComing = announced >= length && length >= USUAL_PIECE / 2;
      const grown = take(isComing ? announced : Math.min(most, 2 * length));
      before.copy(grown, 0, 0, this.#length);
      piece.copy(grown, this.#length);
      this.#bytes = grown;
      giveBack(before);
    } else {
      piece.copy(this.#bytes, this.#length);
    }
    this.#length = length;
    onTaken(this.#message, piece.length);
    this.#held.hold(this.#bytes.length);
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
    this.#cancel?.();
    this.#message
      .off('data', this.#onData)
      .off('end', this.#onEnd)
      .off('error', this.#onGone)
      .off('close', this.#onGone);
    // What still comes of a small one is read and dropped, until the connection ends.
    if (outcome instanceof TernError) {
      if (hasLargeBody(this.#message)) this.#message.pause();
      else this.#message.resume();
    }
    const bytes = this.#bytes;
    this.#bytes = EMPTY;
    if (outcome instanceof TernError) {
      this.#release(bytes);
      this.#onOutcome(outcome);
      return;
    }
    this.#onOutcome({ bytes: outcome, waiting: () => this.#wait(), release: () => this.#release(bytes) });
  }

  #wait(): AbortSignal {
    if (this.#waiting !== null) return this.#waiting.signal;
    this.#waiting = new AbortController();
    const { socket } = this.#message;
    if (socket.destroyed) this.#onSocketClosed();
    else if (!this.#isReleased) socket.once('close', this.#onSocketClosed);
    return this.#waiting.signal;
  }

  readonly #onSocketClosed = (): void => {
    this.#waiting?.abort(httpErrors['client-left']({}));
  };

  #release(bytes: Buffer): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    if (this.#waiting !== null) this.#message.socket.off('close', this.#onSocketClosed);
    this.#held.release();
    this.#shared.giveBack(bytes);
  }
}

const EMPTY = Buffer.alloc(0);

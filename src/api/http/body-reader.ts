import type { IncomingMessage } from 'node:http';
import { httpErrors } from '#api/http/errors.js';
import type { ReceivedBytes, ReceivedPart } from '#api/http/received-bytes.js';
import { type TurnOf, TurnQueues } from '#api/http/turns.js';
import { bodyPrice, LARGE_BODY } from '#api/http/work-queue.js';
import type { CancelSchedule, Clock } from '#kernel/clock.js';
import { KeyedCounts } from '#kernel/keyed-counts.js';
import { type Link, LinkedList } from '#kernel/linked-list.js';
import { TernError } from '#kernel/tern-error.js';

/** Bounds of large bodies before they are read. */
interface AdmissionSettings {
  readonly maxBodyBytes: number;
  readonly maxBodiesBytes: number;
  readonly maxAdmittedBytes: number;
  readonly maxBodiesPerAddress: number;
  readonly deadlineMs: number;
}

/** Large bodies of all clients that wait to be read; further ones are refused. */
const MOST_UNREAD = 4_096;

/** A body of which not so much comes in so long, because its client sends it slowly, makes room for others. */
const PROGRESS = 1 / 4;
const PROGRESS_MS = 1_000;

/** What part of `maxBodiesBytes` is left to bodies that come slowly, and to messages of WebSockets. */
const LEFT_TO_OTHERS = 1 / 2;

/** A body that may be read. Both functions may be called again without effect. */
export interface AdmittedBody {
  /** It was received. */
  readonly whole: () => void;
  /** It was parsed, or will not be. */
  readonly done: () => void;
}

/**
 * How many bytes a request announces, if that is at least `LARGE_BODY`.
 *
 * @param most stands for the length of a body in chunks, which is not known
 * @returns null: its body is small, or longer than `most` and so refused, or it has none
 */
export function largeBodyBytes({ headers }: IncomingMessage, most: number): number | null {
  const length = headers['content-length'];
  if (length === undefined) return headers['transfer-encoding'] === undefined ? null : most;
  const bytes = Number(length);
  return bytes >= LARGE_BODY && bytes <= most ? bytes : null;
}

/** Whether a request has a body that is worth a connection not to be read. */
export function hasLargeBody(message: IncomingMessage): boolean {
  return largeBodyBytes(message, Number.MAX_SAFE_INTEGER) !== null;
}

/**
 * Lets large bodies be read while what was let in before is parsed soon. Without it a server that is offered more than it can
 * parse would read all of it, hold as much as it may, and drop most of it unparsed. The others wait in their sockets, where they
 * cost nothing, and take turns; a client that has none in here does not wait for those of others.
 */
export class BodyAdmission {
  readonly #settings: AdmissionSettings;
  readonly #clock: Clock;
  readonly #queues: TurnQueues<() => void>;
  #admittedBytes = 0;
  /** Bodies that are admitted, of each client. */
  readonly #admitted = new KeyedCounts();
  readonly #hasNone = (client: string): boolean => this.#admitted.of(client) === 0;

  constructor(settings: AdmissionSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.#queues = new TurnQueues(() => clock.now());
  }

  /** Bodies that wait to be read. */
  get waiting(): number {
    return this.#queues.size;
  }

  /**
   * Waits until a body may be read.
   *
   * @param bytes of {@link largeBodyBytes}
   * @throws http/overloaded when too many wait, or it would have to wait for longer than `deadlineMs`; http/client-left
   */
  async admit(turn: TurnOf, bytes: number, message: IncomingMessage): Promise<AdmittedBody> {
    const { maxBodiesPerAddress, deadlineMs } = this.#settings;
    const { socket } = message;
    if (this.#queues.sizeOf(turn) >= maxBodiesPerAddress) {
      throw httpErrors.overloaded({ limit: `${maxBodiesPerAddress} large bodies of this client wait to be read` });
    }
    if (this.waiting >= MOST_UNREAD) {
      throw httpErrors.overloaded({ limit: `${MOST_UNREAD} large bodies wait to be read` });
    }
    return await new Promise((resolve, reject) => {
      const release = (): void => {
        cancel();
        socket.off('close', onClosed);
      };
      const begin = (): void => {
        release();
        resolve(this.#begin(turn, bytes, message));
      };
      const giveUp = (error: TernError): void => {
        release();
        this.#queues.remove(turn, place);
        reject(error);
      };
      const onClosed = (): void => giveUp(httpErrors['client-left']({}));
      const cancel = this.#clock.schedule(deadlineMs, () =>
        giveUp(httpErrors.overloaded({ limit: 'no room for a large body came in time' })),
      );
      socket.once('close', onClosed);
      const place = this.#queues.add(turn, begin, bodyPrice(bytes));
      if (socket.destroyed) onClosed();
      else this.#serve();
    });
  }

  #begin(turn: TurnOf, bytes: number, message: IncomingMessage): AdmittedBody {
    const { client } = turn;
    const { socket } = message;
    let cancel: CancelSchedule;
    this.#queues.charge(turn, bodyPrice(bytes));
    this.#admittedBytes += bytes;
    this.#admitted.begin(client);
    let isCounted = true;
    const done = (): void => {
      if (!isCounted) return;
      isCounted = false;
      cancel();
      this.#admittedBytes -= bytes;
      this.#admitted.end(client);
      this.#serve();
    };
    const watch = (): void => {
      const before = socket.bytesRead;
      cancel = this.#clock.schedule(PROGRESS_MS, () => {
        // It may be the server that does not read on.
        if (message.isPaused() || socket.bytesRead - before >= bytes * PROGRESS) watch();
        else done();
      });
    };
    watch();
    return { whole: () => cancel(), done };
  }

  /** A single body may be larger than all that are admitted at once. */
  #serve(): void {
    const { maxAdmittedBytes, maxBodiesBytes } = this.#settings;
    for (;;) {
      const isFull = this.#admittedBytes >= maxAdmittedBytes;
      if (isFull && this.#admittedBytes >= maxBodiesBytes * LEFT_TO_OTHERS) return;
      const begin = this.#queues.take(isFull ? this.#hasNone : undefined);
      if (begin === undefined) return;
      begin();
    }
  }
}

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

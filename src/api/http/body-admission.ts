import type { IncomingMessage } from 'node:http';
import { httpErrors } from '#api/http/errors.js';
import { bodyPrice, LARGE_BODY } from '#api/http/price.js';
import { type TurnOf, TurnQueues } from '#api/http/turn-queues.js';
import type { CancelSchedule, Clock } from '#kernel/clock.js';
import { KeyedCounts } from '#kernel/keyed-counts.js';
import type { TernError } from '#kernel/tern-error.js';

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
  readonly #queues = new TurnQueues<() => void>();
  #admittedBytes = 0;
  /** Bodies that are admitted, of each client. */
  readonly #admitted = new KeyedCounts();
  readonly #hasNone = (client: string): boolean => this.#admitted.of(client) === 0;

  constructor(settings: AdmissionSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
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

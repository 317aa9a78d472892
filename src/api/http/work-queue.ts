import type { AnyEndpoint } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import type { Clock } from '#kernel/clock.js';
import { LinkedList } from '#kernel/linked-list.js';

// Prices are in work units: 1 unit is about 1 ms of CPU time of this process.

/** The price of a call whose endpoint declares none. */
const DEFAULT_PRICE = 1;

/** The price of finding a result in the cache and sending it, without its bytes. */
const CACHED_PRICE = 0.1;

/** How much of a result is sent by one unit: copied, compressed and written. Cheaper is no result. Receiving takes as much. */
const SENT_PER_UNIT = 40_000;

/** Bodies from this size on, in bytes, are priced, and parsed in a turn of their own. */
export const LARGE_BODY = 16 * 1024;

/** How much of a list is made by one unit, where its rows take the most work per byte: messages. */
const MADE_PER_UNIT = 9_000;

type Priced = Pick<AnyEndpoint<never>, 'price'>;

/**
 * The estimated work of a call before it runs.
 *
 * @param params as the endpoint gets them
 * @param profile of the answer: lists have another default length in each
 */
export function priceOf({ price }: Priced, params: never, profile: 'spec' | 'toncenter'): number {
  return price === undefined ? DEFAULT_PRICE : price(params, profile);
}

/** The price of receiving a body of at least {@link LARGE_BODY} bytes; smaller ones are free. */
export function bodyPrice(length: number): number {
  return length / SENT_PER_UNIT;
}

/** The price of a result from the cache. @param length of its text */
export function cachedPrice(length: number): number {
  return CACHED_PRICE + length / SENT_PER_UNIT;
}

/**
 * The work of a call after it ran. A list that is shorter than asked for costs less than its price, a longer text than the price
 * stands for costs more, and what the endpoint reported itself is added.
 */
export function workDone(
  endpoint: Priced,
  params: never,
  profile: 'spec' | 'toncenter',
  result: { readonly length: number; readonly worked: number },
): number {
  const { length } = result;
  const price = priceOf(endpoint, params, profile);
  const shortest = priceOf(endpoint, { ...(params as object), limit: 1, count: 1 } as never, profile);
  return Math.max(Math.min(price, shortest + length / MADE_PER_UNIT), cachedPrice(length)) + result.worked;
}

/** Bounds of the work under way; prices in work units, of which 1 is about 1 ms of CPU time. */
export interface WorkSettings {
  /** Price of all large calls under way at once; a single one may cost more. */
  readonly maxWork: number;
  /** Calls of at most this price never wait. */
  readonly smallWork: number;
  /** Calls above this price are large. */
  readonly largeWork: number;
  /** Large calls of one client at a time, until their answers are written. */
  readonly maxLargePerClient: number;
  /** Waiting calls of all clients. */
  readonly maxWaiting: number;
  /** Waiting calls of one client. */
  readonly maxWaitingPerClient: number;
}

/** What a call holds while it runs. Both functions may be called again without effect. */
export interface WorkPermit {
  /** The work is done. */
  done(): void;
  /** The answer is written, or the client has gone. */
  closed(): void;
}

/** How long a call may wait. */
interface WaitLimit {
  /** Time of the clock. */
  readonly until: number;
  readonly signal: AbortSignal;
}

/** The part of `maxWork` that calls between small and large have for themselves: those of this thread, and those of other threads. */
const MEDIUM_SHARE = 0.25;

/**
 * How a call gets its result:
 *
 * - `here`: on this thread
 * - `threads`: on another one, where it may wait for a processor
 * - `queued-elsewhere`: by threads with a fair queue of their own, where it waits instead
 * - `cached`: it is only sent
 */
export type WorkPlace = 'here' | 'threads' | 'queued-elsewhere' | 'cached';

const FREE: WorkPermit = { done: () => {}, closed: () => {} };

/**
 * Lets calls begin by their price. Small ones begin at once. The others wait in a lane until the work under way in it leaves room; the
 * next is one of the client that has had the least work, so that many calls of one client delay those of others by one call. Medium
 * calls do not wait for large ones, those of this thread not for those of others, and cached results for nothing that is made.
 */
export class WorkQueue {
  readonly #settings: WorkSettings;
  readonly #medium: Readonly<Record<'here' | 'threads', Lane>>;
  /** Of cached results only those of one client may be too many: sending is no work that stays under way. */
  readonly #large: Readonly<Record<'made' | 'cached', Lane>>;

  constructor(settings: WorkSettings, clock: Clock) {
    this.#settings = settings;
    const { maxWork, maxWaiting, maxWaitingPerClient, maxLargePerClient } = settings;
    const shared = { maxWaiting, maxWaitingPerClient };
    const maxAtOnce = Number.POSITIVE_INFINITY;
    const medium = () => new Lane({ ...shared, maxWork: maxWork * MEDIUM_SHARE, maxAtOnce }, clock);
    const large = () => new Lane({ ...shared, maxWork, maxAtOnce: maxLargePerClient }, clock);
    this.#medium = { here: medium(), threads: medium() };
    this.#large = { made: large(), cached: large() };
  }

  /** Price of the medium and large calls under way. */
  get underWay(): number {
    return this.#lanes.reduce((sum, { underWay }) => sum + underWay, 0);
  }

  /** Calls that wait. */
  get waiting(): number {
    return this.#lanes.reduce((sum, { waiting }) => sum + waiting, 0);
  }

  get #lanes(): readonly Lane[] {
    return [...Object.values(this.#medium), ...Object.values(this.#large)];
  }

  /**
   * Waits until a call may begin; at once, without a promise, when it need not wait.
   *
   * @throws http/overloaded, http/client-left; as a rejection when it waited
   */
  enter(client: string, units: number, limit: WaitLimit, place: WorkPlace = 'here'): WorkPermit | Promise<WorkPermit> {
    const { smallWork, largeWork } = this.#settings;
    if (units <= smallWork || place === 'queued-elsewhere') return FREE;
    if (units > largeWork) return this.#large[place === 'cached' ? 'cached' : 'made'].enter(client, units, limit);
    return place === 'cached' ? FREE : this.#medium[place].enter(client, units, limit);
  }
}

interface LaneSettings {
  readonly maxWork: number;
  /** Calls of one client at a time. */
  readonly maxAtOnce: number;
  readonly maxWaiting: number;
  readonly maxWaitingPerClient: number;
}

interface Waiting {
  readonly units: number;
  readonly begin: (permit: WorkPermit) => void;
}

interface LaneClient {
  readonly name: string;
  /** Work that it has had, counted from the least of those who waited when it came; see {@link Lane}. */
  served: number;
  /** Its calls whose answers are not written yet. */
  open: number;
  readonly waiting: LinkedList<Waiting>;
}

/** So many clients that have nothing here are known. */
const MOST_KNOWN = 256;

/** Start-time fair queueing: the next call is the oldest one of the client with the least `served`. */
class Lane {
  readonly #settings: LaneSettings;
  readonly #clock: Clock;
  readonly #clients = new Map<string, LaneClient>();
  /** `served` of the client that began last: newcomers start from there, not from nothing. */
  #served = 0;
  underWay = 0;
  waiting = 0;

  constructor(settings: LaneSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  enter(name: string, units: number, { until, signal }: WaitLimit): WorkPermit | Promise<WorkPermit> {
    const client = this.#clientOf(name);
    if (this.waiting === 0 && this.#hasRoom(client, units)) return this.#begin(client, units);
    const { maxWaiting, maxWaitingPerClient } = this.#settings;
    if (client.waiting.size >= maxWaitingPerClient || this.waiting >= maxWaiting) {
      const whose = client.waiting.size >= maxWaitingPerClient ? 'of this client ' : '';
      this.#forget(client);
      throw httpErrors.overloaded({ limit: `too many large requests ${whose}are waiting` });
    }
    return new Promise((resolve, reject) => {
      const give = (error: Error): void => {
        release();
        reject(error);
        this.#forget(client);
        // What it could not begin before may begin without it.
        this.#serve();
      };
      const waiting: Waiting = {
        units,
        begin: (permit) => {
          release();
          resolve(permit);
        },
      };
      const onAbort = (): void => give(httpErrors['client-left']({}));
      const cancel = this.#clock.schedule(Math.max(0, until - this.#clock.now()), () =>
        give(httpErrors.overloaded({ limit: 'no room for a large request came in time' })),
      );
      const release = (): void => {
        cancel();
        signal.removeEventListener('abort', onAbort);
        client.waiting.remove(place);
        this.waiting--;
      };
      signal.addEventListener('abort', onAbort);
      const place = client.waiting.add(waiting);
      this.waiting++;
      if (signal.aborted) onAbort();
      else this.#serve();
    });
  }

  #clientOf(name: string): LaneClient {
    const known = this.#clients.get(name);
    if (known !== undefined) {
      // What it has had matters only beside others.
      if (this.waiting === 0 && known.open === 0) known.served = this.#served;
      known.served = Math.max(known.served, known.waiting.size === 0 ? this.#served : 0);
      return known;
    }
    const client: LaneClient = { name, served: this.#served, open: 0, waiting: new LinkedList() };
    this.#clients.set(name, client);
    return client;
  }

  /** Forgets a client that has nothing here, or all such when nobody waits and there are many. */
  #forget(client: LaneClient): void {
    if (this.waiting > 0) {
      if (client.open === 0 && client.waiting.size === 0 && client.served <= this.#served) {
        this.#clients.delete(client.name);
      }
      return;
    }
    if (this.#clients.size <= MOST_KNOWN) return;
    for (const each of this.#clients.values()) if (each.open === 0) this.#clients.delete(each.name);
  }

  #hasRoom(client: LaneClient, units: number): boolean {
    const { maxWork, maxAtOnce } = this.#settings;
    return client.open < maxAtOnce && (this.underWay === 0 || this.underWay + units <= maxWork);
  }

  #begin(client: LaneClient, units: number): WorkPermit {
    this.#served = Math.max(this.#served, client.served);
    client.served += units;
    client.open++;
    this.underWay += units;
    let isDone = false;
    let isClosed = false;
    const done = (): void => {
      if (isDone) return;
      isDone = true;
      this.underWay -= units;
      this.#serve();
    };
    const closed = (): void => {
      if (isClosed) return;
      isClosed = true;
      client.open--;
      done();
      this.#forget(client);
      this.#serve();
    };
    return { done, closed };
  }

  /** Begins what there is room for, in order. */
  #serve(): void {
    while (this.waiting > 0) {
      const client = this.#next();
      if (client === null) return;
      const oldest = client.waiting.first;
      if (oldest === undefined || !this.#hasRoom(client, oldest.units)) return;
      oldest.begin(this.#begin(client, oldest.units));
    }
  }

  /** Of the clients that wait and may begin another call, the one that has had the least work. */
  #next(): LaneClient | null {
    let best: LaneClient | null = null;
    for (const client of this.#clients.values()) {
      if (client.waiting.size === 0 || client.open >= this.#settings.maxAtOnce) continue;
      if (best === null || client.served < best.served) best = client;
    }
    return best;
  }
}

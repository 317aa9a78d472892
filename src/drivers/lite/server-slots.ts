import type { Clock } from '#kernel/clock.js';
import { FairShare } from '#kernel/fair-share.js';
import { KeyedCounts } from '#kernel/keyed-counts.js';
import { type Link, LinkedList } from '#kernel/linked-list.js';

/** An execution is slow when it takes so many times as long as the quickest ones, and so many milliseconds longer. */
const SLOW_FACTOR = 1.5;
const SLOW_MS = 100;
/** By so much what counts as quick grows with each execution, so that a server that becomes slower for good is not held back. */
const QUICK_GROWTH = 1.01;

/**
 * How many executions of one kind of clients a server gets at a time. One that has more than it can execute answers each of them
 * later, and who comes last waits for all before: so the limit is halved when executions become slow, and grows by one while that
 * many in a row are not.
 */
class ExecutionLimit {
  readonly #most: number;
  #limit: number;
  /** Milliseconds that the quickest of the last executions took. */
  #quickMs = Number.POSITIVE_INFINITY;
  #halvedAt = Number.NEGATIVE_INFINITY;

  constructor(most: number) {
    this.#most = most;
    this.#limit = most;
  }

  get now(): number {
    return Math.floor(this.#limit);
  }

  /** An execution took from `since` to `now`. */
  took(since: number, now: number): void {
    const ms = now - since;
    this.#quickMs = Math.min(ms, this.#quickMs * QUICK_GROWTH);
    if (ms <= this.#quickMs * SLOW_FACTOR + SLOW_MS) {
      this.#limit = Math.min(this.#most, this.#limit + 1 / this.#limit);
    } else if (since >= this.#halvedAt) {
      // Those that were sent before the limit was halved say nothing about the new one.
      this.#limit = Math.max(1, this.#limit / 2);
      this.#halvedAt = now;
    }
  }
}

/** Reads that are looked at together: of reads of all sizes, the quickest tells whether they wait in the server. */
const WINDOW = 16;
/** Reads that a server always gets at a time; how long they take then is what it needs. */
const LEAST = 4;
const GROWTH = 4;
/** The quickest of a window has waited when it takes so many times as long as with few reads, and so many milliseconds longer. */
const WAITED_FACTOR = 2;
const WAITED_MS = 50;

/**
 * How many reads a server gets at a time. What it cannot work on at once waits there, first come first served, whoever it is for;
 * here, clients take turns. So the limit is halved while even the quickest reads wait, and grows while they do not.
 */
class ReadLimit {
  readonly #most: number;
  readonly #least: number;
  #limit: number;
  /** Milliseconds that the quickest of a window took when few were sent. */
  #quickMs = Number.POSITIVE_INFINITY;
  #changedAt = Number.NEGATIVE_INFINITY;
  #count = 0;
  #bestMs = Number.POSITIVE_INFINITY;

  constructor(most: number) {
    this.#most = most;
    this.#least = Math.min(most, LEAST);
    this.#limit = most;
  }

  get now(): number {
    return this.#limit;
  }

  /** A read took from `since` to `now`. */
  took(since: number, now: number): void {
    // Those that were sent before the limit was halved have waited for the others then.
    if (since < this.#changedAt) return;
    this.#bestMs = Math.min(this.#bestMs, now - since);
    if (++this.#count < WINDOW) return;
    const best = this.#bestMs;
    this.#count = 0;
    this.#bestMs = Number.POSITIVE_INFINITY;
    if (best < this.#quickMs || this.#limit === this.#least) this.#quickMs = best;
    if (best <= this.#quickMs * WAITED_FACTOR + WAITED_MS) {
      this.#limit = Math.min(this.#most, this.#limit + GROWTH);
    } else {
      this.#limit = Math.max(this.#least, Math.floor(this.#limit / 2));
      this.#changedAt = now;
    }
  }
}

/** Whose turn a query takes. */
export interface SlotTurn {
  /** Opaque: clients share the slots. Default: none, as for the work of Tern itself. */
  readonly client?: string | undefined;
  /** Clients with an API key are every other one whose turn it is, however many there are without one. Default: true. */
  readonly hasKey?: boolean | undefined;
  /** It follows the head, for which all clients wait: it goes first, and has slots of its own. */
  readonly isUrgent?: boolean | undefined;
  /** The server executes something before it answers, which may take long: such queries get a share of the slots. */
  readonly isExecution?: boolean | undefined;
}

/** Releases a slot; does nothing when called again. */
type ReleaseSlot = () => void;

interface Waiting {
  readonly turn: SlotTurn;
  readonly grant: (release: ReleaseSlot) => void;
}

/** Clients with an API key, the work of Tern itself among them, and those without. */
type ClientKind = 'keyed' | 'others';

/** Slots for urgent queries beside the others. */
export const URGENT_SLOTS = 8;

/** Most of the slots that one client has at a time, so that another one finds a free slot. */
const CLIENT_SHARE = 0.75;

/** Most of the slots for executions, and most of these for clients without an API key. */
const EXECUTION_SHARE = 0.125;
const SHARE_WITHOUT_KEY = 0.5;

/** Of the time of an execution, so much counts as much as a query does, in milliseconds. */
const MS_PER_TURN = 100;

/**
 * The queries in flight to one server: bounded, and shared fairly between clients. Executions of clients without an API key, some of
 * which may take seconds, have a limit of their own, and never all the slots for executions.
 */
export class ServerSlots {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #most: number;
  readonly #readLimit: ReadLimit;
  readonly #mostExecutions: number;
  readonly #executionLimits: Readonly<Record<ClientKind, ExecutionLimit>>;
  readonly #executing: Record<ClientKind, number> = { keyed: 0, others: 0 };
  readonly #urgent = new LinkedList<Waiting>();
  readonly #reads: KeyedShare;
  readonly #executions: KeyedShare;
  readonly #ofClient = new KeyedCounts();
  #taken = 0;
  #isExecutionNext = false;

  constructor(most: number, clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.#reads = new KeyedShare(clock);
    this.#executions = new KeyedShare(clock);
    this.#most = most;
    this.#readLimit = new ReadLimit(most);
    const executions = Math.max(1, Math.floor(most * EXECUTION_SHARE));
    // One of each kind at least.
    this.#mostExecutions = Math.max(2, executions);
    this.#executionLimits = {
      keyed: new ExecutionLimit(executions),
      others: new ExecutionLimit(Math.max(1, Math.floor(executions * SHARE_WITHOUT_KEY))),
    };
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#urgent.size + this.#reads.size + this.#executions.size;
  }

  /** A slot if one is free now, else null. */
  tryAcquire(turn: SlotTurn): ReleaseSlot | null {
    return this.#hasRoom(turn) ? this.#take(turn) : null;
  }

  /** A slot in its turn. @param signal removes the caller from the queue; the promise then rejects with its reason */
  acquire(turn: SlotTurn, signal: AbortSignal): Promise<ReleaseSlot> {
    const free = this.tryAcquire(turn);
    if (free !== null) return Promise.resolve(free);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#drop(turn, place);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        turn,
        grant: (release) => {
          signal.removeEventListener('abort', onAbort);
          resolve(release);
        },
      };
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      signal.addEventListener('abort', onAbort, { once: true });
      const place = turn.isUrgent ? this.#urgent.add(waiting) : this.#queueOf(turn).add(waiting);
    });
  }

  #queueOf({ isExecution }: SlotTurn): KeyedShare {
    return isExecution ? this.#executions : this.#reads;
  }

  #drop(turn: SlotTurn, place: Link<Waiting>): void {
    if (turn.isUrgent) this.#urgent.remove(place);
    else this.#queueOf(turn).remove(turn, place);
  }

  #hasRoom(turn: SlotTurn): boolean {
    if (turn.isUrgent) return this.#taken < this.#most + URGENT_SLOTS;
    if (this.#taken >= this.#most || !(turn.isExecution ? this.#mayExecute(kindOf(turn)) : this.#mayRead)) return false;
    return this.#mayHave(nameOf(turn));
  }

  readonly #mayExecute = (kind: ClientKind): boolean =>
    this.#executionCount < this.#mostExecutions && this.#executing[kind] < this.#executionLimits[kind].now;

  get #executionCount(): number {
    return this.#executing.keyed + this.#executing.others;
  }

  get #mayRead(): boolean {
    return this.#taken - this.#executionCount < this.#readLimit.now;
  }

  readonly #mayHave = (client: string): boolean =>
    this.#ofClient.of(client) < Math.max(1, Math.ceil(this.#readLimit.now * CLIENT_SHARE));

  #take(turn: SlotTurn): ReleaseSlot {
    const name = turn.isUrgent ? null : nameOf(turn);
    this.#taken++;
    if (turn.isExecution) this.#executing[kindOf(turn)]++;
    if (name !== null) this.#ofClient.begin(name);
    const since = this.#clock.now();
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#taken--;
      const now = this.#clock.now();
      if (!turn.isExecution) this.#readLimit.took(since, now);
      else {
        this.#executing[kindOf(turn)]--;
        this.#executionLimits[kindOf(turn)].took(since, now);
        this.#executions.charge(turn, (now - since) / MS_PER_TURN);
      }
      if (name !== null) this.#ofClient.end(name);
      this.#serve();
    };
  }

  #serve(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) next.grant(this.#take(next.turn));
  }

  #next(): Waiting | undefined {
    if (this.#taken >= this.#most + URGENT_SLOTS) return undefined;
    const urgent = this.#urgent.take();
    if (urgent !== undefined) return urgent;
    if (this.#taken >= this.#most) return undefined;
    // By turns: neither kind keeps the other out.
    this.#isExecutionNext = !this.#isExecutionNext;
    const execution = this.#isExecutionNext ? this.#executions.take(this.#mayHave, this.#mayExecute) : undefined;
    const read = execution ?? (this.#mayRead ? this.#reads.take(this.#mayHave) : undefined);
    return read ?? this.#executions.take(this.#mayHave, this.#mayExecute);
  }
}

/** Two fair queues, which take turns: of clients with an API key, and of those without. */
class KeyedShare {
  readonly #queues: Readonly<Record<ClientKind, FairShare<Waiting>>>;
  #next: ClientKind = 'keyed';

  constructor(clock: Pick<Clock, 'now'>) {
    const now = (): number => clock.now();
    this.#queues = { keyed: new FairShare({ now }), others: new FairShare({ now }) };
  }

  get size(): number {
    return this.#queues.keyed.size + this.#queues.others.size;
  }

  add(waiting: Waiting): Link<Waiting> {
    return this.#of(waiting.turn).add(nameOf(waiting.turn), waiting);
  }

  remove(turn: SlotTurn, place: Link<Waiting>): void {
    this.#of(turn).remove(nameOf(turn), place);
  }

  /** @param mayServe whether clients of a kind may get something now; default: all may */
  take(mayHave: (client: string) => boolean, mayServe = (_: ClientKind): boolean => true): Waiting | undefined {
    const first = this.#next;
    const second = first === 'keyed' ? 'others' : 'keyed';
    const taken = mayServe(first) ? this.#queues[first].take(mayHave) : undefined;
    if (taken === undefined) return mayServe(second) ? this.#queues[second].take(mayHave) : undefined;
    this.#next = second;
    return taken;
  }

  /** Counts more for what the client of a turn got. */
  charge(turn: SlotTurn, cost: number): void {
    this.#of(turn).charge(nameOf(turn), cost);
  }

  #of(turn: SlotTurn): FairShare<Waiting> {
    return this.#queues[kindOf(turn)];
  }
}

function kindOf({ hasKey = true }: SlotTurn): ClientKind {
  return hasKey ? 'keyed' : 'others';
}

/** Tern itself counts as one client. */
function nameOf({ client = '' }: SlotTurn): string {
  return client;
}

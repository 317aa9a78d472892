import type { CallThreads, ThreadAnswer, ThreadCall, ThreadCaller } from '#api/http/http-api.js';
import type { SwitchValues } from '#api/http/parameters.js';
import type { V3Switches } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import type { ReaderCall, ReaderContract, ReaderStart } from '#api/v3/reader-protocol.js';
import { v3IndexEndpoints } from '#api/v3/v3-api.js';
import type { IndexCoverage } from '#drivers/store/index-state.js';
import type { Clock } from '#kernel/clock.js';
import { FairShare } from '#kernel/fair-share.js';
import { LinkedList } from '#kernel/linked-list.js';
import type { Logger } from '#kernel/logger.js';
import { type MetricRow, rowsNamed } from '#kernel/metric-rows.js';
import { OpenEntries } from '#kernel/open-entries.js';
import { isTernError } from '#kernel/tern-error.js';
import { logMethods, WorkerThread } from '#kernel/worker-thread.js';
import type { LookUpReport, LookUps, NamedContracts } from '#services/lookups/named-contracts.js';

/** Settings of the reader threads of a network, with defaults. */
export interface ReaderSettings {
  /** Threads; each starts with the first call that it is needed for. Default: 1. */
  readonly threads: number;
  /** Calls of at least this price are answered by them. Default: 20. */
  readonly fromPrice: number;
  /**
   * Calls of at least this price are answered by a thread that has room for them, while the main thread works on several.
   * Default: 5; 3 for several threads, which includes a page of 10 transactions.
   */
  readonly sharedFromPrice: number;
  /** Large calls that a thread has at a time: while one waits for the database, it works on the other. Default: 2. */
  readonly largeCallsPerThread: number;
  /** Calls that a thread has beside so many large ones, which take seconds where processors are scarce. Default: 1. */
  readonly smallerCallsPerThread: number;
  /** Calls above this price are large. Default: 50. */
  readonly largeAbovePrice: number;
  /**
   * While threads have fewer calls than this each, waiting ones included, they have room for these smaller calls. Default: 2; 4
   * for several threads: where there are more processors, the main thread is the one that must not have too much to do.
   */
  readonly sharedCallsPerThread: number;
  /** Calls that wait for a thread, large ones and others apart; further ones are refused. Default: 64. */
  readonly maxWaiting: number;
  /** Heap of a thread; one that needs more ends, and its calls fail. Default: 384 MiB. */
  readonly heapMb: number;
  /** A thread that has not ended a call so long after it was called off is stuck, and replaced. Default: 5 s. */
  readonly stuckMs: number;
}

export const defaultReaderSettings: ReaderSettings = {
  threads: 1,
  fromPrice: 20,
  sharedFromPrice: 5,
  largeCallsPerThread: 2,
  smallerCallsPerThread: 1,
  largeAbovePrice: 50,
  sharedCallsPerThread: 2,
  maxWaiting: 64,
  heapMb: 384,
  stuckMs: 5_000,
};

const SEVERAL_THREADS = { sharedFromPrice: 3, sharedCallsPerThread: 4 } as const;

export interface ReaderModules {
  /** What threads are started with; awaited by the calls that need one. */
  readonly start: () => Promise<Omit<ReaderStart, 'connections' | 'looksUp'>>;
  /** What the index has of its chain; absent: all of it. */
  readonly coverage?: () => IndexCoverage;
  /** Reads from the chain what the index has never seen; absent: nothing can. */
  readonly lookUps?: LookUps;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Counts since the start; times in seconds. */
export interface ReaderMetrics {
  readonly threads: number;
  readonly running: number;
  readonly waiting: number;
  readonly answers: number;
  readonly answer_bytes: number;
  readonly answer_seconds: number;
  readonly refused: number;
  readonly replaced: number;
}

/** A thread and how many calls it has. */
interface Reader {
  readonly thread: WorkerThread<ReaderContract>;
  calls: number;
}

/** A call that waits for a thread. */
interface WaitingCall {
  readonly begin: () => void;
  readonly refuse: (reason: unknown) => void;
}

type CallSize = 'smaller' | 'large';

/** Smaller calls without help after which a thread is started for them: not for the first page of an explorer. */
export const UNHELPED = 32;

/** With a call that has lasted so long threads are busy, or get no processor: smaller calls are quicker without them. */
const SLOW_MS = 100;

/** Of the time of a call, so much counts as much as a call does, in milliseconds. */
const MS_PER_TURN = 100;

const INDEX_ENDPOINTS: ReadonlySet<string> = new Set(v3IndexEndpoints.map(({ name }) => name));

/** How long a thread may take to close its connections. */
const CLOSE_MS = 2_000;

/** Threads that answer large calls of API v3 as a whole: query, decoding and JSON. A lost thread is replaced when it is needed. */
export class ReaderPool implements CallThreads<SwitchValues<V3Switches>> {
  readonly #settings: ReaderSettings;
  readonly #modules: ReaderModules;
  readonly #waiting: Readonly<Record<CallSize, FairShare<WaitingCall>>>;
  readonly #running: Record<CallSize, number> = { smaller: 0, large: 0 };
  /** When those that are running began, the oldest first. */
  readonly #began = new LinkedList<number>();
  /** Of the calls that threads work on. */
  readonly #signals = new OpenEntries<number, AbortSignal>();
  #readers: Reader[] = [];
  #starting: Promise<void> | null = null;
  /** Smaller calls that no thread was there for. */
  #unhelped = 0;
  #closed = false;
  #nextId = 0;
  #answers = 0;
  #answerBytes = 0;
  #answerSeconds = 0;
  #refused = 0;
  #replaced = 0;

  constructor(options: Partial<ReaderSettings>, modules: ReaderModules) {
    const several = (options.threads ?? defaultReaderSettings.threads) > 1 ? SEVERAL_THREADS : {};
    this.#settings = { ...defaultReaderSettings, ...several, ...options };
    this.#modules = modules;
    const queue = () => new FairShare<WaitingCall>({ now: () => modules.clock.now() });
    this.#waiting = { smaller: queue(), large: queue() };
  }

  takes(endpoint: string, price: number): boolean {
    return !this.#closed && price >= this.#settings.fromPrice && INDEX_ENDPOINTS.has(endpoint);
  }

  helps(endpoint: string, price: number): boolean {
    const { sharedFromPrice, sharedCallsPerThread } = this.#settings;
    if (this.#closed || price < sharedFromPrice || !INDEX_ENDPOINTS.has(endpoint)) return false;
    const ready = this.#readers.filter(({ thread }) => thread.isAlive && thread.isReady).length;
    if (this.#runningCalls + this.#waitingCalls < ready * sharedCallsPerThread) return !this.#isSlow();
    // Nobody waits until it has started: it is for later calls.
    if (ready === 0 && ++this.#unhelped >= UNHELPED) this.#startEarly();
    return false;
  }

  get #runningCalls(): number {
    return this.#running.smaller + this.#running.large;
  }

  get #waitingCalls(): number {
    return this.#waiting.smaller.size + this.#waiting.large.size;
  }

  #isSlow(): boolean {
    const oldest = this.#began.first;
    return oldest !== undefined && this.#modules.clock.now() - oldest > SLOW_MS;
  }

  /** Starts the first thread, if none starts already. */
  #startEarly(): void {
    this.#starting ??= this.#modules
      .start()
      .then((start) => {
        if (!this.#closed) this.#freeReader(start);
      })
      // Who needs a thread is told.
      .catch(() => {})
      .finally(() => {
        this.#starting = null;
      });
  }

  /** The data have a new version. @param keys what changed with it; null: anything */
  noteChange(version: number, keys: readonly string[] | null): void {
    for (const { thread } of this.#readers) if (thread.isAlive) thread.notify.noteChange(version, keys);
  }

  /** @throws v3/readers-busy, v3/reader-lost, v3/reader-closed, the reason of the signal, and what the endpoint throws */
  async answer(call: ThreadCall<SwitchValues<V3Switches>>, caller: ThreadCaller): Promise<ThreadAnswer> {
    const { signal, client, price, late } = caller;
    const size = price > this.#settings.largeAbovePrice ? 'large' : 'smaller';
    await this.#enter(size, caller);
    const { clock } = this.#modules;
    const began = clock.now();
    const place = this.#began.add(began);
    try {
      const start = await this.#modules.start();
      signal.throwIfAborted();
      if (this.#closed) throw v3Errors['reader-closed']({});
      const coverage = this.#modules.coverage?.() ?? null;
      return await this.#answer(this.#freeReader(start), { ...call, coverage }, signal, late);
    } finally {
      this.#running[size]--;
      this.#began.remove(place);
      this.#waiting[size].charge(client, (clock.now() - began) / MS_PER_TURN);
      this.#next()?.begin();
    }
  }

  /**
   * Waits until a thread has room for a call of the client.
   *
   * @throws v3/readers-busy, v3/reader-closed, v3/reader-cancelled when the caller has stopped waiting, the reason of the signal
   */
  async #enter(size: CallSize, { client, signal, late }: ThreadCaller): Promise<void> {
    if (this.#hasRoom(size)) {
      this.#running[size]++;
      return;
    }
    const queue = this.#waiting[size];
    if (queue.size >= this.#settings.maxWaiting) {
      this.#refused++;
      throw v3Errors['readers-busy']({ waiting: queue.size });
    }
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const leave = (reason: unknown): void => {
        queue.remove(client, place);
        stopListening();
        reject(reason);
      };
      const onAbort = (): void => leave(signal.reason);
      const onLate = (): void => leave(v3Errors['reader-cancelled']({}));
      const stopListening = (): void => {
        signal.removeEventListener('abort', onAbort);
        late?.removeEventListener('abort', onLate);
      };
      const turn: WaitingCall = {
        begin: () => {
          stopListening();
          this.#running[size]++;
          resolve();
        },
        refuse: reject,
      };
      signal.addEventListener('abort', onAbort, { once: true });
      late?.addEventListener('abort', onLate, { once: true });
      const place = queue.add(client, turn);
    });
  }

  #hasRoom(size: CallSize): boolean {
    const { threads, largeCallsPerThread, smallerCallsPerThread } = this.#settings;
    if (this.#runningCalls >= threads * (largeCallsPerThread + smallerCallsPerThread)) return false;
    return size === 'smaller' || this.#running.large < threads * largeCallsPerThread;
  }

  /** Large calls first, as far as there is room for them: one place of each thread is for the others. */
  #next(): WaitingCall | undefined {
    const large = this.#hasRoom('large') ? this.#waiting.large.take() : undefined;
    return large ?? (this.#hasRoom('smaller') ? this.#waiting.smaller.take() : undefined);
  }

  metrics(): ReaderMetrics {
    return {
      threads: this.#readers.filter(({ thread }) => thread.isAlive).length,
      running: this.#runningCalls,
      waiting: this.#waitingCalls,
      answers: this.#answers,
      answer_bytes: this.#answerBytes,
      answer_seconds: this.#answerSeconds,
      refused: this.#refused,
      replaced: this.#replaced,
    };
  }

  /** Stops all threads; open calls fail with v3/reader-closed. */
  async close(): Promise<void> {
    this.#closed = true;
    const waiting = [...this.#waiting.large.clear(), ...this.#waiting.smaller.clear()];
    for (const { refuse } of waiting) refuse(v3Errors['reader-closed']({}));
    await Promise.all(this.#readers.map(({ thread }) => thread.close(CLOSE_MS)));
  }

  async #answer(reader: Reader, call: ReaderCall, signal: AbortSignal, late?: AbortSignal): Promise<ThreadAnswer> {
    const { clock } = this.#modules;
    const { stuckMs } = this.#settings;
    const { thread } = reader;
    const id = this.#nextId++;
    const began = clock.now();
    let stopWaiting = (): void => {};
    const onAbort = (): void => {
      thread.notify.cancel(id);
      const problem = `it did not end a call within ${stuckMs} ms after it was called off`;
      stopWaiting = clock.schedule(stuckMs, () => {
        this.#noteLoss(problem);
        void thread.terminate(v3Errors['reader-lost']({ problem }));
      });
    };
    // Where threads get no processor, a thread that does not end it at once is not stuck.
    const onLate = (): void => thread.notify.cancel(id);
    reader.calls++;
    this.#signals.set(id, signal);
    try {
      const answering = thread.call.answer(id, call);
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      if (late?.aborted) onLate();
      late?.addEventListener('abort', onLate, { once: true });
      const answer = await answering;
      this.#answers++;
      this.#answerBytes += answer.bytes.length;
      return answer;
    } finally {
      signal.removeEventListener('abort', onAbort);
      late?.removeEventListener('abort', onLate);
      stopWaiting();
      this.#signals.delete(id);
      reader.calls--;
      this.#answerSeconds += (clock.now() - began) / 1000;
    }
  }

  /** Of the readers that are ready, else of all, the one with the fewest calls. While it has some, another one is started. */
  #freeReader(start: Omit<ReaderStart, 'connections' | 'looksUp'>): Reader {
    const alive = this.#readers.filter(({ thread }) => thread.isAlive);
    this.#readers = alive;
    const [least] = alive.toSorted((a, b) => Number(b.thread.isReady) - Number(a.thread.isReady) || a.calls - b.calls);
    if (least !== undefined && (least.calls === 0 || alive.length >= this.#settings.threads)) return least;
    const reader = { thread: this.#startThread(start), calls: 0 };
    alive.push(reader);
    return least?.thread.isReady ? least : reader;
  }

  #startThread(start: Omit<ReaderStart, 'connections' | 'looksUp'>): WorkerThread<ReaderContract> {
    const { largeCallsPerThread, smallerCallsPerThread, heapMb } = this.#settings;
    const connections = largeCallsPerThread + smallerCallsPerThread;
    const { logger, lookUps } = this.#modules;
    const thread = new WorkerThread<ReaderContract>({
      entry: new URL('./reader-main.js', import.meta.url),
      start: { ...start, connections, looksUp: lookUps !== undefined },
      host: { ...logMethods(logger), lookUp: (id, named, deadlineMs) => this.#lookUp(id, named, deadlineMs) },
      lost: (problem) => v3Errors['reader-lost']({ problem }),
      closed: () => v3Errors['reader-closed']({}),
      unexpected: (problem, cause) => v3Errors['reader-unexpected']({ problem }, cause),
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
    });
    thread.ended.catch((error: unknown) => this.#noteLoss(isTernError(error) ? error.message : String(error)));
    return thread;
  }

  /** For a call of a thread. */
  #lookUp(id: number, named: NamedContracts, deadlineMs: number): Promise<LookUpReport> {
    const signal = this.#signals.get(id);
    const { lookUps } = this.#modules;
    if (signal === undefined || lookUps === undefined) throw v3Errors['reader-cancelled']({});
    return lookUps.lookUp(named, { deadlineMs, signal });
  }

  #noteLoss(problem: string): void {
    this.#replaced++;
    this.#modules.logger.warn('a reader thread was lost', { problem });
  }
}

/** Answers live as long as their call: in a small young generation they would be copied again and again. */
const YOUNG_MB = 32;

const row = rowsNamed<ReaderMetrics>('tern_reader_');

/** Metrics of reader threads. */
export const readerMetricRows: readonly MetricRow<ReaderMetrics>[] = [
  row('gauge', 'threads', 'Reader threads that run', ({ threads }) => threads),
  row('gauge', 'running', 'Calls that reader threads work on', ({ running }) => running),
  row('gauge', 'waiting', 'Calls that wait for a reader thread', ({ waiting }) => waiting),
  row('counter', 'answers_total', 'Answers that reader threads made', ({ answers }) => answers),
  row('counter', 'answer_bytes_total', 'Size of these answers', ({ answer_bytes }) => answer_bytes),
  row('counter', 'answer_seconds_total', 'Time of calls in reader threads', ({ answer_seconds }) => answer_seconds),
  row('counter', 'refused_total', 'Calls refused because too many waited', ({ refused }) => refused),
  row('counter', 'replaced_total', 'Reader threads lost and replaced', ({ replaced }) => replaced),
];

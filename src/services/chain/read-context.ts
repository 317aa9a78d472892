import type { LiteRequest, LiteSource } from '#drivers/lite/lite-source.js';
import type { Address } from '#formats/address/address.js';
import type { BlockId, BlockPosition } from '#formats/proofs/block-id.js';
import type { Clock } from '#kernel/clock.js';
import type { Deadline } from '#kernel/deadline.js';
import { TernError } from '#kernel/tern-error.js';
import { chainErrors } from '#services/chain/errors.js';

/**
 * The block of a read: the newest block, a masterchain block by seqno, or any block by position or id. In a position, an
 * account prefix selects the shard that contains it.
 */
export type BlockAt = 'head' | number | BlockPosition | BlockId;

/** Whom a read is for. */
export interface ReadClient {
  /** Opaque: equal for what shares limits, such as a key or an address. */
  readonly id: string;
  /** Whether the client has an API key. */
  readonly hasKey: boolean;
  /** Called after each request to the TVM with the gas (0 when unknown) and the CPU milliseconds that it took. */
  readonly onTvmCost?: (cost: { readonly gas: number; readonly cpuMs: number }) => void;
}

/** Options of every read. */
export interface ReadOptions {
  /** Deadline of the whole read, including all queries, in milliseconds. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  /** Whether to return the answer with its proofs. Default: false. */
  readonly proof?: boolean;
  /** Whether immutable answers may be cached. Default: true. Set to false for bulk reads without repetition. */
  readonly cache?: boolean;
  /** Clients take turns where work is queued. Default: none, as for the work of Tern itself. */
  readonly client?: ReadClient;
  /** Called for each account that is read, directly or indirectly, and does not exist. */
  readonly onAbsent?: (address: Address) => void;
}

/** Options of reads about one block. */
export interface ReadAt extends ReadOptions {
  /** Default: the newest block. */
  readonly at?: BlockAt;
}

/** Fields of every result. `Answer` is the TL type: `LiteServerAccountState`. */
export interface ReadResult<Answer> {
  /** The block of the value; proven to be in the chain. */
  readonly block: BlockId;
  /** Unix time of that block in seconds; `null` when unknown. */
  readonly gen_utime: number | null;
  /** The answer of a server if requested. `null`: not requested, or no query was needed. */
  readonly proof: Answer | null;
}

/**
 * A lite query of a read, with deadline and signal of the read. If it has a name (`verifiedAs`), its verification may only
 * depend on function, query and name, because reads share the value.
 */
export type LiteQuery<Query, Answer, Value> = Omit<
  LiteRequest<Query, Answer, Value>,
  'deadlineMs' | 'signal' | 'size' | 'client' | 'hasKey'
>;

/** A verified value with the answer that contained it. */
export interface CheckedAnswer<Value, Answer> {
  readonly value: Value;
  readonly answer: Answer;
}

/** Dependencies shared by the reads of a service. */
export interface ReadContextModules {
  readonly source: LiteSource;
  readonly clock: Clock;
}

/** Context of one read: deadline and options, shared by all of its lite queries. */
export class ReadContext {
  readonly #modules: ReadContextModules;
  readonly #options: ReadOptions;
  readonly #deadlineMs: number;
  readonly #end: number;

  constructor(options: ReadOptions, deadlineMs: number, modules: ReadContextModules) {
    this.#modules = modules;
    this.#options = options;
    this.#deadlineMs = options.deadlineMs ?? deadlineMs;
    this.#end = modules.clock.now() + this.#deadlineMs;
  }

  /** Whether the answers are requested as proof. */
  get wantsProof(): boolean {
    return this.#options.proof === true;
  }

  /** Whether answers may be cached. */
  get caches(): boolean {
    return this.#options.cache !== false;
  }

  get signal(): AbortSignal | undefined {
    return this.#options.signal;
  }

  get client(): ReadClient | undefined {
    return this.#options.client;
  }

  /** The deadline of the read, for waiting. */
  get deadline(): Deadline {
    return {
      until: this.#end,
      signal: this.signal,
      expired: () => chainErrors.deadline({ ms: this.#deadlineMs }),
      aborted: () => chainErrors.aborted({}),
    };
  }

  /** Options for a nested read with the remaining time. @throws chain/deadline, chain/aborted */
  remaining(): ReadOptions {
    const deadlineMs = this.remainingMs();
    const { signal } = this;
    const { cache = true, onAbsent, client } = this.#options;
    return {
      deadlineMs,
      ...(signal === undefined ? {} : { signal }),
      ...(cache ? {} : { cache }),
      ...(client === undefined ? {} : { client }),
      ...(onAbsent === undefined ? {} : { onAbsent }),
    };
  }

  /** Reports that a read account does not exist. */
  reportAbsent(address: Address): void {
    this.#options.onAbsent?.(address);
  }

  /** The answer if it is requested as proof. */
  proof<Answer>(answer: Answer): Answer | null {
    return this.wantsProof ? answer : null;
  }

  /** Remaining milliseconds. @throws chain/deadline, chain/aborted */
  remainingMs(): number {
    if (this.#options.signal?.aborted === true) throw chainErrors.aborted({});
    const left = this.#end - this.#modules.clock.now();
    if (left <= 0) throw chainErrors.deadline({ ms: this.#deadlineMs });
    return left;
  }

  /**
   * Sends a query. Any error in the answer is attributed to the server.
   * @throws chain/deadline, chain/aborted, lite/*
   */
  async query<Query, Answer, Value>(liteQuery: LiteQuery<Query, Answer, Value>): Promise<CheckedAnswer<Value, Answer>> {
    return this.#modules.source.query(this.#request(liteQuery));
  }

  /** As {@link ReadContext.query}, to several servers at once; the first success is returned. */
  async fanOut<Query, Answer, Value>(
    liteQuery: LiteQuery<Query, Answer, Value>,
    count: number,
  ): Promise<CheckedAnswer<Value, Answer>> {
    return this.#modules.source.fanOut(this.#request(liteQuery), count);
  }

  #request<Query, Answer, Value>(
    liteQuery: LiteQuery<Query, Answer, Value>,
  ): LiteRequest<Query, Answer, CheckedAnswer<Value, Answer>> {
    const { fn, query, need, verify, prepare, waitSeqno, verifiedAs, isUrgent, headOf } = liteQuery;
    const deadlineMs = this.remainingMs();
    const { signal, cache = true, client } = this.#options;
    const immutable = cache ? liteQuery.immutable : undefined;
    return {
      fn,
      query,
      need,
      verify: (answer) => ({ value: asUpstreamError(() => verify(answer)), answer }),
      ...(waitSeqno === undefined ? {} : { waitSeqno }),
      ...(immutable === undefined ? {} : { immutable }),
      ...(verifiedAs === undefined ? {} : { verifiedAs, size: cachedBytes }),
      ...(client === undefined ? {} : { client: client.id, hasKey: client.hasKey }),
      ...(isUrgent === undefined ? {} : { isUrgent }),
      ...(prepare === undefined ? {} : { prepare }),
      ...(headOf === undefined ? {} : { headOf: ({ value }) => headOf(value) }),
      deadlineMs,
      ...(signal === undefined ? {} : { signal }),
    };
  }

  /**
   * As {@link ReadContext.query} for data of unknown age: archive servers are queried if others fail.
   * @throws chain/deadline, chain/aborted, lite/*
   */
  async queryAnyAge<Query, Answer, Value>(
    liteQuery: Omit<LiteQuery<Query, Answer, Value>, 'need'>,
  ): Promise<CheckedAnswer<Value, Answer>> {
    try {
      return await this.query({ ...liteQuery, need: { kind: 'head' } });
    } catch (error) {
      // Without remaining time, the failures are more informative than an expired deadline.
      if (!isServersFailure(error) || this.#modules.clock.now() >= this.#end) throw error;
      return this.query({ ...liteQuery, need: { kind: 'archive' } });
    }
  }
}

/** Memory of a cached value relative to its answer: cell tables, hashes and decoded values. */
const CACHED_FACTOR = 4;

function cachedBytes(_: unknown, answerBytes: number): number {
  return answerBytes * CACHED_FACTOR;
}

const SERVERS_FAILURES = new Set(['lite/answer-error', 'lite/not-available', 'lite/unanswered']);

/** Whether the queried servers returned no valid answer, so that other servers may. */
export function isServersFailure(error: unknown): error is TernError {
  return error instanceof TernError && SERVERS_FAILURES.has(error.code);
}

/** Whether servers report that they do not have the data. */
export function isNotAvailable(error: unknown): boolean {
  return error instanceof TernError && (error.code === 'lite/not-available' || error.data.code === NOT_READY);
}

/** Error code for missing data. */
const NOT_READY = 651;

/** Runs a verification; its typed errors become errors of class `upstream`. */
function asUpstreamError<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof TernError) || error.class === 'upstream') throw error;
    throw chainErrors.answer({ problem: error.message, code: error.code }, error);
  }
}

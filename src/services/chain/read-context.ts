import type { LiteRequest, LiteSource } from '#drivers/lite/lite-source.js';
import type { Address } from '#formats/address/address.js';
import type { BlockId, BlockPosition } from '#formats/proofs/block-id.js';
import type { Clock } from '#kernel/clock.js';
import type { Deadline } from '#kernel/deadline.js';
import { TernError } from '#kernel/tern-error.js';
import { chainErrors } from '#services/chain/errors.js';

/**
 * Which block a read is about: the newest one, a masterchain block by its number, or any block by its place in the chain or
 * by its id. In a place, a prefix stands for the shard that contains it.
 */
export type BlockAt = 'head' | number | BlockPosition | BlockId;

/** What every read can be told. */
export interface ReadOptions {
  /** For the whole read, however many questions it takes; milliseconds. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  /** Whether the answer, with the bytes of its proofs, is wanted back. Default: no. */
  readonly proof?: boolean;
  /** Whether answers that stay true may be kept for others. Default: yes. No for who reads much, and each thing once. */
  readonly keep?: boolean;
  /** Is told of each account that is read, also as a part of something else, and is not there. */
  readonly onAbsent?: (address: Address) => void;
}

/** For reads about one block. */
export interface ReadAt extends ReadOptions {
  /** Default: the newest block. */
  readonly at?: BlockAt;
}

/** What every answer carries. `Answer` is the TL form: `LiteServerAccountState`. */
export interface ReadResult<Answer> {
  /** The block that the value is about; proven to be in the chain. */
  readonly block: BlockId;
  /** When that block was made, in unix seconds; `null` where nothing that was read tells it. */
  readonly gen_utime: number | null;
  /** What a server answered, if it was asked for. `null`: not asked for, or known without asking. */
  readonly proof: Answer | null;
}

/**
 * A question of a read; deadline and signal are those of the read. Where it has a name (`verifiedAs`), its check may depend
 * on nothing but function, query and name: reads share the value.
 */
export type LiteQuery<Query, Answer, Value> = Omit<LiteRequest<Query, Answer, Value>, 'deadlineMs' | 'signal' | 'size'>;

/** A verified value, and the answer that it was in. */
export interface CheckedAnswer<Value, Answer> {
  readonly value: Value;
  readonly answer: Answer;
}

/** What the calls of a service share. */
export interface ReadContextModules {
  readonly source: LiteSource;
  readonly clock: Clock;
}

/** One read on its way: all questions that it takes share a deadline. */
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

  /** Whether the answers are wanted back. */
  get wantsProof(): boolean {
    return this.#options.proof === true;
  }

  get signal(): AbortSignal | undefined {
    return this.#options.signal;
  }

  /** For waiting until the time of the read is over. */
  get deadline(): Deadline {
    return {
      until: this.#end,
      signal: this.signal,
      expired: () => chainErrors.deadline({ ms: this.#deadlineMs }),
      aborted: () => chainErrors.aborted({}),
    };
  }

  /** For a read that is a part of this one. @throws chain/deadline, chain/aborted */
  remaining(): ReadOptions {
    const deadlineMs = this.remainingMs();
    const { signal } = this;
    const { keep = true, onAbsent } = this.#options;
    return {
      deadlineMs,
      ...(signal === undefined ? {} : { signal }),
      ...(keep ? {} : { keep }),
      ...(onAbsent === undefined ? {} : { onAbsent }),
    };
  }

  /** An account that was read is not there. */
  reportAbsent(address: Address): void {
    this.#options.onAbsent?.(address);
  }

  /** The answer if it is wanted back. */
  proof<Answer>(answer: Answer): Answer | null {
    return this.wantsProof ? answer : null;
  }

  /** Milliseconds that are left. @throws chain/deadline, chain/aborted */
  remainingMs(): number {
    if (this.#options.signal?.aborted === true) throw chainErrors.aborted({});
    const left = this.#end - this.#modules.clock.now();
    if (left <= 0) throw chainErrors.deadline({ ms: this.#deadlineMs });
    return left;
  }

  /**
   * Asks one question. Whatever is wrong with the answer is taken for the server's fault.
   * @throws chain/deadline, chain/aborted, lite/*
   */
  async query<Query, Answer, Value>(question: LiteQuery<Query, Answer, Value>): Promise<CheckedAnswer<Value, Answer>> {
    return this.#modules.source.query(this.#request(question));
  }

  /** As {@link ReadContext.query}, to several servers at once; the first success wins. */
  async fanOut<Query, Answer, Value>(
    question: LiteQuery<Query, Answer, Value>,
    count: number,
  ): Promise<CheckedAnswer<Value, Answer>> {
    return this.#modules.source.fanOut(this.#request(question), count);
  }

  #request<Query, Answer, Value>(
    question: LiteQuery<Query, Answer, Value>,
  ): LiteRequest<Query, Answer, CheckedAnswer<Value, Answer>> {
    const { fn, query, need, verify, waitSeqno, verifiedAs } = question;
    const deadlineMs = this.remainingMs();
    const { signal, keep = true } = this.#options;
    const immutable = keep ? question.immutable : undefined;
    return {
      fn,
      query,
      need,
      verify: (answer) => ({ value: asUpstreamError(() => verify(answer)), answer }),
      ...(waitSeqno === undefined ? {} : { waitSeqno }),
      ...(immutable === undefined ? {} : { immutable }),
      ...(verifiedAs === undefined ? {} : { verifiedAs, size: cachedBytes }),
      deadlineMs,
      ...(signal === undefined ? {} : { signal }),
    };
  }

  /**
   * As {@link ReadContext.query} about something of unknown age: servers that hold everything are asked where others fail.
   * @throws chain/deadline, chain/aborted, lite/*
   */
  async queryAnyAge<Query, Answer, Value>(
    question: Omit<LiteQuery<Query, Answer, Value>, 'need'>,
  ): Promise<CheckedAnswer<Value, Answer>> {
    try {
      return await this.query({ ...question, need: { kind: 'head' } });
    } catch (error) {
      // Without time for more, what was tried says more than that the time is over.
      if (!isServersFailure(error) || this.#modules.clock.now() >= this.#end) throw error;
      return this.query({ ...question, need: { kind: 'archive' } });
    }
  }
}

/** What a value takes with the answer that it was read from: tables of cells, hashes, and what was decoded of them. */
const CACHED_FACTOR = 4;

function cachedBytes(_: unknown, answerBytes: number): number {
  return answerBytes * CACHED_FACTOR;
}

const SERVERS_FAILURES = new Set(['lite/answer-error', 'lite/not-available', 'lite/unanswered']);

/** Whether servers were asked and none gave a true answer, so that others may. */
export function isServersFailure(error: unknown): error is TernError {
  return error instanceof TernError && SERVERS_FAILURES.has(error.code);
}

/** Whether servers say that they do not have what was asked for. */
export function isNotAvailable(error: unknown): boolean {
  return error instanceof TernError && (error.code === 'lite/not-available' || error.data.code === NOT_READY);
}

/** Code of a server that does not have what is asked for. */
const NOT_READY = 651;

/** Runs a check of an answer; every typed error in it becomes one of class `upstream`. */
function asUpstreamError<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof TernError) || error.class === 'upstream') throw error;
    throw chainErrors.answer({ problem: error.message, code: error.code }, error);
  }
}

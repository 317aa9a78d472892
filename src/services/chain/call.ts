import type { LiteRequest, LiteSource } from '#drivers/lite/lite-source.js';
import type { Address } from '#formats/address/address.js';
import type { Patience } from '#kernel/async/wait-until.js';
import type { Clock } from '#kernel/clock/clock.js';
import { TernError } from '#kernel/errors/tern-error.js';
import { chainErrors } from '#services/chain/errors.js';
import type { ReadOptions } from '#services/chain/read-options.js';

/**
 * A question of a read; deadline and signal are those of the read. Where it has a name (`verifiedAs`), its check may depend
 * on nothing but function, query and name: reads share the value.
 */
export type Question<Query, Answer, Value> = Omit<LiteRequest<Query, Answer, Value>, 'deadlineMs' | 'signal' | 'size'>;

/** A verified value, and the answer that it was in. */
export interface Checked<Value, Answer> {
  readonly value: Value;
  readonly answer: Answer;
}

/** What the calls of a service share. */
export interface CallModules {
  readonly source: LiteSource;
  readonly clock: Clock;
}

/** One read on its way: all questions that it takes share a deadline. */
export class Call {
  readonly #modules: CallModules;
  readonly #options: ReadOptions;
  readonly #deadlineMs: number;
  readonly #end: number;

  constructor(options: ReadOptions, deadlineMs: number, modules: CallModules) {
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
  get patience(): Patience {
    return {
      until: this.#end,
      signal: this.signal,
      expired: () => chainErrors.deadline({ ms: this.#deadlineMs }),
      aborted: () => chainErrors.aborted({}),
    };
  }

  /** For a read that is a part of this one. @throws chain/deadline, chain/aborted */
  rest(): ReadOptions {
    const deadlineMs = this.left();
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
  tellAbsent(address: Address): void {
    this.#options.onAbsent?.(address);
  }

  /** The answer if it is wanted back. */
  proof<Answer>(answer: Answer): Answer | null {
    return this.wantsProof ? answer : null;
  }

  /** Milliseconds that are left. @throws chain/deadline, chain/aborted */
  left(): number {
    if (this.#options.signal?.aborted === true) throw chainErrors.aborted({});
    const left = this.#end - this.#modules.clock.now();
    if (left <= 0) throw chainErrors.deadline({ ms: this.#deadlineMs });
    return left;
  }

  /**
   * Asks one question. Whatever is wrong with the answer is taken for the server's fault.
   * @throws chain/deadline, chain/aborted, lite/*
   */
  async ask<Query, Answer, Value>(question: Question<Query, Answer, Value>): Promise<Checked<Value, Answer>> {
    return this.#modules.source.ask(this.#request(question));
  }

  /** As {@link Call.ask}, to several servers at once; the first success wins. */
  async fanOut<Query, Answer, Value>(
    question: Question<Query, Answer, Value>,
    count: number,
  ): Promise<Checked<Value, Answer>> {
    return this.#modules.source.fanOut(this.#request(question), count);
  }

  #request<Query, Answer, Value>(
    question: Question<Query, Answer, Value>,
  ): LiteRequest<Query, Answer, Checked<Value, Answer>> {
    const { fn, query, need, verify, waitSeqno, verifiedAs } = question;
    const deadlineMs = this.left();
    const { signal, keep = true } = this.#options;
    const immutable = keep ? question.immutable : undefined;
    return {
      fn,
      query,
      need,
      verify: (answer) => ({ value: checking(() => verify(answer)), answer }),
      ...(waitSeqno === undefined ? {} : { waitSeqno }),
      ...(immutable === undefined ? {} : { immutable }),
      ...(verifiedAs === undefined ? {} : { verifiedAs, size: keptBytes }),
      deadlineMs,
      ...(signal === undefined ? {} : { signal }),
    };
  }

  /**
   * As {@link Call.ask} about something of unknown age: servers that hold everything are asked where others fail.
   * @throws chain/deadline, chain/aborted, lite/*
   */
  async askAnyAge<Query, Answer, Value>(
    question: Omit<Question<Query, Answer, Value>, 'need'>,
  ): Promise<Checked<Value, Answer>> {
    try {
      return await this.ask({ ...question, need: { kind: 'head' } });
    } catch (error) {
      // Without time for more, what was tried says more than that the time is over.
      if (!isServersFailure(error) || this.#modules.clock.now() >= this.#end) throw error;
      return this.ask({ ...question, need: { kind: 'archive' } });
    }
  }
}

/** What a value takes with the answer that it was read from: tables of cells, hashes, and what was decoded of them. */
const KEPT_FACTOR = 4;

function keptBytes(_: unknown, answerBytes: number): number {
  return answerBytes * KEPT_FACTOR;
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
function checking<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof TernError) || error.class === 'upstream') throw error;
    throw chainErrors.answer({ problem: error.message, code: error.code }, error);
  }
}

import type { TlConstructor, TlFunction } from '#formats/tl/constructor.js';

/**
 * What a server must have to answer.
 *
 * - `head`: the newest state, or nothing of the past at all
 * - `state`: the states of the masterchain block with this seqno, and of the shard blocks that it lists
 * - `block`: the blocks of the time of the masterchain block with this seqno
 * - `archive`: everything from the first block on
 */
export type Need =
  | { readonly kind: 'head' }
  | { readonly kind: 'state'; readonly seqno: number }
  | { readonly kind: 'block'; readonly seqno: number }
  | { readonly kind: 'archive' };

/** One question to some server that can answer it, and how to tell whether the answer is true. */
export interface LiteRequest<Query, Answer, Value> {
  /** The function, as formats/tl has it: `LiteServerGetAccountState`. */
  readonly fn: TlFunction<string, Query, TlConstructor<string, Answer>>;
  readonly query: Query;
  readonly need: Need;
  /**
   * Turns the answer into a verified value. A TernError of class `upstream` that is thrown here means that the server lied or
   * is broken: it is quarantined, and another one is asked. Any other error ends the request.
   */
  readonly verify: (answer: Answer) => Value;
  /** Wait until the server knows the masterchain block with this seqno, without asking again and again. */
  readonly waitSeqno?: number;
  /** The value stays true for ever: it may be kept and given to whoever asks the same again. */
  readonly immutable?: boolean;
  /**
   * A name for what `verify` makes. Requests with equal function, query and name share one value, under way and in the
   * cache; the name must tell apart whatever else `verify` depends on. Without a name they share the answer, and each
   * verifies it for itself.
   */
  readonly verifiedAs?: string;
  /** How many bytes an immutable value takes while it is kept; by default the size of the answer is taken. Only with `verifiedAs`. */
  readonly size?: (value: Value, answerBytes: number) => number;
  /** For everything together, waiting and asking again included. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

/** Where verified answers come from: servers of the lite protocol, chosen for each request. */
export interface LiteSource {
  /**
   * Asks the server that fits best, and others where it fails.
   *
   * @throws lite/answer-error what the server said, when another server would say the same
   * @throws lite/unanswered when no server gave a true answer; tells which were asked and why each failed
   * @throws lite/overloaded when too many requests wait already
   */
  query<Query, Answer, Value>(request: LiteRequest<Query, Answer, Value>): Promise<Value>;
  /** The same query to up to `count` servers at once; the first success wins. For `sendMessage`. */
  fanOut<Query, Answer, Value>(request: LiteRequest<Query, Answer, Value>, count: number): Promise<Value>;
  /** The newest masterchain seqno that any healthy server has claimed; 0 before the first answer. */
  readonly headSeqno: number;
}

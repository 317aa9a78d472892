import type { TlConstructor, TlFunction } from '#formats/tl/constructor.js';

/**
 * The data a server must have to answer.
 *
 * - `head`: the newest state, or no historical data
 * - `state`: the states of the masterchain block with this seqno and of the shard blocks that it lists
 * - `block`: the blocks at the time of the masterchain block with this seqno
 * - `archive`: everything from the first block
 */
export type Need =
  | { readonly kind: 'head' }
  | { readonly kind: 'state'; readonly seqno: number }
  | { readonly kind: 'block'; readonly seqno: number }
  | { readonly kind: 'archive' };

/** A query for any suitable server, with the verification of its answer. */
export interface LiteRequest<Query, Answer, Value> {
  /** The TL function, as in formats/tl: `LiteServerGetAccountState`. */
  readonly fn: TlFunction<string, Query, TlConstructor<string, Answer>>;
  readonly query: Query;
  readonly need: Need;
  /**
   * Converts the answer into a verified value. A TernError of class `upstream` means that the server lied or is broken: it
   * is quarantined, and another server is queried. Any other error ends the request.
   */
  readonly verify: (answer: Answer) => Value;
  /**
   * The newest block that the server has, as far as the value shows it; null: it does not. A server that is further behind than it
   * claims is passed over while there are others.
   */
  readonly headOf?: (value: Value) => number | null;
  /** Work on a large answer that is divided, and makes `verify` quick; must not reject. Undefined: none is needed. */
  readonly prepare?: (answer: Answer) => Promise<void> | undefined;
  /** Makes the server wait for the masterchain block with this seqno (`liteServer.waitMasterchainSeqno`), instead of polling. */
  readonly waitSeqno?: number;
  /** The value never changes: it may be cached and returned for equal requests. */
  readonly immutable?: boolean;
  /**
   * A name for the result of `verify`. Requests with equal function, query and name share one value, in flight and in the
   * cache; the name must distinguish everything else that `verify` depends on. Requests without a name share the answer,
   * and each verifies it separately.
   */
  readonly verifiedAs?: string;
  /** Size of a cached immutable value in bytes; default: the size of the answer. Only with `verifiedAs`. */
  readonly size?: (value: Value, answerBytes: number) => number;
  /** Whose turn it takes where queries wait for a server. Default: none, as for the work of Tern itself. */
  readonly client?: string;
  /** Whether this client has an API key: those with and those without take turns. Default: true. */
  readonly hasKey?: boolean;
  /** Others wait for it, whoever began it: it goes first. */
  readonly isUrgent?: boolean;
  /** Deadline of the request in milliseconds, including waits and retries. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

/** A source of verified answers: liteservers, chosen for each request. */
export interface LiteSource {
  /**
   * Queries the most suitable server, and others if it fails.
   *
   * @throws lite/answer-error the error of the server, when other servers would return the same
   * @throws lite/unanswered when no server returned a valid answer; lists the queried servers and their failures
   * @throws lite/overloaded when too many requests are queued
   */
  query<Query, Answer, Value>(request: LiteRequest<Query, Answer, Value>): Promise<Value>;
  /** Sends the query to up to `count` servers at once; the first success is returned. For `sendMessage`. */
  fanOut<Query, Answer, Value>(request: LiteRequest<Query, Answer, Value>, count: number): Promise<Value>;
  /**
   * The newest masterchain seqno claimed by a healthy server; 0 before the first answer. With three or more servers, the claim of a
   * single one does not count when it is far ahead of all others.
   */
  readonly headSeqno: number;
}

import type { AnswerErrorKind } from '#drivers/lite/answer-error.js';
import type { TernError } from '#kernel/errors/tern-error.js';

/**
 * Why a query brought nothing: what the server said, or
 *
 * - `lied`: the answer is not true, or no answer at all
 * - `busy`: no turn was free
 * - `dropped`: the one who asked does not want to know any more
 */
export type FailureKind = AnswerErrorKind | 'lied' | 'busy' | 'dropped';

export interface Failure {
  readonly kind: FailureKind;
  /** For people: `error 651: block handle not in db`. */
  readonly text: string;
  /** The code of `liteServer.error`, when that was the answer. */
  readonly code?: number;
  readonly error?: TernError;
}

/** How one query to one server ended. */
export type Outcome<Answer> =
  | { readonly ok: true; readonly answer: Answer; readonly bytes: number }
  | { readonly ok: false; readonly failure: Failure };

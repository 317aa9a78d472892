/**
 * Whose problem an error is. Retry loops and HTTP statuses look at the class, never at the text.
 *
 * - `caller`: the input is wrong; the same call fails again
 * - `not-found`: well-formed, but there is no such thing
 * - `upstream`: another party failed or lied; another one may answer
 * - `overloaded`: a limit was reached; later it works
 * - `internal`: Tern itself is wrong
 * - `shutting-down`: the process is going away
 */
export type ErrorClass = 'caller' | 'not-found' | 'upstream' | 'overloaded' | 'internal' | 'shutting-down';

/** What an error knows: plain values, so that it crosses threads and prints as JSON. */
export type ErrorData = Readonly<Record<string, string | number | bigint | boolean | null | undefined>>;

/** An error as plain data; see {@link TernError.toPlain}. */
export interface PlainError {
  readonly code: string;
  readonly class: ErrorClass;
  readonly message: string;
  readonly remedy: string;
  readonly path: string;
  readonly data: ErrorData;
}

/**
 * The one error of this code base: a code to branch on, typed data, a sentence, and what to do about it.
 * Made by the factories of a module's `errors.ts` (see {@link defineErrors}).
 */
export class TernError<Data extends ErrorData = ErrorData> extends Error {
  override readonly name = 'TernError';
  readonly code: string;
  readonly class: ErrorClass;
  readonly data: Data;
  readonly remedy: string;
  readonly #sentence: string;
  #path = '';

  constructor(code: string, errorClass: ErrorClass, sentence: string, remedy: string, data: Data, cause?: unknown) {
    super(sentence, cause === undefined ? undefined : { cause });
    this.code = code;
    this.class = errorClass;
    this.data = data;
    this.remedy = remedy;
    this.#sentence = sentence;
  }

  /** Where in the structure it went wrong, outermost field first: `extra.custom.config`. Empty when not known. */
  get path(): string {
    return this.#path;
  }

  /** Puts `field` in front of the path, as the error leaves the decoder of that field; returns the error itself. */
  within(field: string): this {
    const rest = this.#path;
    this.#path = rest === '' ? field : rest.startsWith('[') ? `${field}${rest}` : `${field}.${rest}`;
    this.message = `${this.#sentence} (at ${this.#path})`;
    return this;
  }

  toPlain(): PlainError {
    const { code, message, remedy, path, data } = this;
    return { code, class: this.class, message, remedy, path, data };
  }

  /** The inverse of {@link TernError.toPlain}, for an error that came from another thread or process. */
  static fromPlain(plain: PlainError): TernError {
    const suffix = plain.path === '' ? '' : ` (at ${plain.path})`;
    const sentence = plain.message.endsWith(suffix)
      ? plain.message.slice(0, plain.message.length - suffix.length)
      : plain.message;
    const error = new TernError(plain.code, plain.class, sentence, plain.remedy, plain.data);
    return plain.path === '' ? error : error.within(plain.path);
  }
}

/** `catch` helper: is this one of ours, and if a code is given, that one? */
export function isTernError(error: unknown, code?: string): error is TernError {
  return error instanceof TernError && (code === undefined || error.code === code);
}

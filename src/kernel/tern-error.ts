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

/** One line of a module's error table. */
export interface ErrorDescriptor<Data extends ErrorData> {
  readonly class: ErrorClass;
  /** The sentence: what was wrong and where. */
  readonly message: (data: Data) => string;
  /** What the reader of the message can do about it; also the "How to solve" of docs/errors.md. */
  readonly remedy: string;
}

/** Makes an error; its `code` is readable without making one. */
export interface ErrorFactory<Data extends ErrorData> {
  (data: Data, cause?: unknown): TernError<Data>;
  readonly code: string;
  readonly class: ErrorClass;
  readonly remedy: string;
}

type DataOf<Descriptor> = Descriptor extends { message: (data: infer Data extends ErrorData) => string } ? Data : never;

/** A module's errors, by their short names. */
export type ErrorFactories<Table> = { readonly [Name in keyof Table]: ErrorFactory<DataOf<Table[Name]>> };

/**
 * Declares the errors of a module. The code of each is `module/short-name`; short names are kebab-case.
 *
 * @example
 * const errors = defineErrors('cells', { 'slice-underflow': { class: 'caller', message: (d: { bit: number }) => `…`, remedy: '…' } });
 * throw errors['slice-underflow']({ bit: 12 });
 */
// biome-ignore lint/suspicious/noExplicitAny: the data type of each line is inferred from its own message function
export function defineErrors<const Table extends Readonly<Record<string, ErrorDescriptor<any>>>>(
  module: string,
  table: Table,
): ErrorFactories<Table> {
  const factories: Record<string, ErrorFactory<ErrorData>> = {};
  for (const [name, descriptor] of Object.entries(table)) {
    const code = `${module}/${name}`;
    const make = (data: ErrorData, cause?: unknown) =>
      new TernError(code, descriptor.class, descriptor.message(data), descriptor.remedy, data, cause);
    factories[name] = Object.assign(make, { code, class: descriptor.class, remedy: descriptor.remedy });
  }
  return factories as unknown as ErrorFactories<Table>;
}

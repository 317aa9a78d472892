/**
 * Who can act on an error. Retries and HTTP statuses depend on the class, never on the text.
 *
 * - `caller`: the input is wrong; the same call fails again
 * - `not-found`: well-formed, but there is no such thing
 * - `upstream`: another party failed or sent wrong data; another one may succeed
 * - `overloaded`: a limit was reached; retry later
 * - `internal`: a defect in Tern
 * - `shutting-down`: the process is stopping
 */
export type ErrorClass = 'caller' | 'not-found' | 'upstream' | 'overloaded' | 'internal' | 'shutting-down';

/** Data of an error: plain values, so that it can cross threads and be printed as JSON. */
export type ErrorData = Readonly<Record<string, string | number | bigint | boolean | null | undefined>>;

/** An error as plain data; see {@link TernError.toPlain}. */
export interface PlainError {
  readonly code: string;
  readonly class: ErrorClass;
  readonly message: string;
  readonly remedy: string;
  readonly path: string;
  readonly data: ErrorData;
  /** Absent where it is `message`. */
  readonly publicMessage?: string;
}

/**
 * The error type of Tern: a code to branch on, typed data, a sentence and a remedy.
 * Created by the factories of a module's `errors.ts` (see {@link defineErrors}).
 */
export class TernError<Data extends ErrorData = ErrorData> extends Error {
  override readonly name = 'TernError';
  readonly code: string;
  readonly class: ErrorClass;
  readonly data: Data;
  readonly remedy: string;
  readonly #sentence: string;
  readonly #publicSentence: string;
  #path = '';

  /** @param publicSentence the sentence for strangers, where it differs */
  constructor(
    code: string,
    errorClass: ErrorClass,
    sentence: string,
    remedy: string,
    data: Data,
    cause?: unknown,
    publicSentence = sentence,
  ) {
    super(sentence, cause === undefined ? undefined : { cause });
    this.code = code;
    this.class = errorClass;
    this.data = data;
    this.remedy = remedy;
    this.#sentence = sentence;
    this.#publicSentence = publicSentence;
  }

  /** The message for clients of a public service: without what is for its operator only, such as addresses of servers. */
  get publicMessage(): string {
    return this.#path === '' ? this.#publicSentence : `${this.#publicSentence} (at ${this.#path})`;
  }

  /** Path of the field at fault, outermost field first: `extra.custom.config`. Empty when unknown. */
  get path(): string {
    return this.#path;
  }

  /** Prepends `field` to the path as the error leaves the decoder of that field; returns the error itself. */
  within(field: string): this {
    const rest = this.#path;
    this.#path = rest === '' ? field : rest.startsWith('[') ? `${field}${rest}` : `${field}.${rest}`;
    this.message = `${this.#sentence} (at ${this.#path})`;
    return this;
  }

  /** The error as plain data, for another thread or for JSON. */
  toPlain(): PlainError {
    const { code, message, remedy, path, data } = this;
    const publicMessage = this.#publicSentence === this.#sentence ? {} : { publicMessage: this.#publicSentence };
    return { code, class: this.class, message, remedy, path, data, ...publicMessage };
  }

  /** The inverse of {@link TernError.toPlain}, for an error from another thread or process. */
  static fromPlain(plain: PlainError): TernError {
    const suffix = plain.path === '' ? '' : ` (at ${plain.path})`;
    const sentence = plain.message.endsWith(suffix)
      ? plain.message.slice(0, plain.message.length - suffix.length)
      : plain.message;
    const { code, remedy, data, publicMessage } = plain;
    const error = new TernError(code, plain.class, sentence, remedy, data, undefined, publicMessage ?? sentence);
    return plain.path === '' ? error : error.within(plain.path);
  }
}

/** Whether `error` is a {@link TernError}, and has this code if one is given. */
export function isTernError(error: unknown, code?: string): error is TernError {
  return error instanceof TernError && (code === undefined || error.code === code);
}

/** One entry of a module's error table. */
export interface ErrorDescriptor<Data extends ErrorData> {
  readonly class: ErrorClass;
  /** The sentence: what was wrong and where. */
  readonly message: (data: Data) => string;
  /** The sentence for clients of a public service, where the other one is for its operator only. */
  readonly publicMessage?: (data: Data) => string;
  /** What the reader of the message can do about it; also the "How to solve" of docs/errors.md. */
  readonly remedy: string;
}

/** Creates an error; its `code` can be read without creating one. */
export interface ErrorFactory<Data extends ErrorData> {
  (data: Data, cause?: unknown): TernError<Data>;
  readonly code: string;
  readonly class: ErrorClass;
  readonly remedy: string;
}

type DataOf<Descriptor> = Descriptor extends { message: (data: infer Data extends ErrorData) => string } ? Data : never;

/** Error factories of a module by short name. */
export type ErrorFactories<Table> = { readonly [Name in keyof Table]: ErrorFactory<DataOf<Table[Name]>> };

/**
 * Declares the errors of a module. The code of each is `module/short-name`; short names are kebab-case. Those of the class `overloaded`
 * have no stack trace: whoever has too much to do refuses often, and a trace keeps all that its functions refer to.
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
    const make = (data: ErrorData, cause?: unknown) => {
      const { stackTraceLimit } = Error;
      if (descriptor.class === 'overloaded') Error.stackTraceLimit = 0;
      try {
        return new TernError(
          ...([code, descriptor.class, descriptor.message(data), descriptor.remedy, data, cause] as const),
          descriptor.publicMessage?.(data),
        );
      } finally {
        Error.stackTraceLimit = stackTraceLimit;
      }
    };
    factories[name] = Object.assign(make, { code, class: descriptor.class, remedy: descriptor.remedy });
  }
  return factories as unknown as ErrorFactories<Table>;
}

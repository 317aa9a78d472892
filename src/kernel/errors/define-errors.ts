import { type ErrorClass, type ErrorData, TernError } from '#kernel/errors/tern-error.js';

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

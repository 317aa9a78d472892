import { contractDataErrors } from '#domain/contracts/errors.js';
import type { GetMethod } from '#domain/contracts/get-method.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** A contract as its account has it. */
export interface NativeAccount {
  readonly address: Address;
  /** A library reference stays one. */
  readonly code: Cell;
  readonly data: Cell;
}

/** What one get method of a known code answers, read from the data. */
export interface NativeAnswer {
  readonly method: string;
  /** As the get method; or throws a TernError when the data is of another form than that code writes. */
  readonly read: (account: NativeAccount, ...given: never[]) => unknown;
}

/** Get methods of a known code without running it. What is not among them must be run. */
export interface NativeCode {
  /** Of the code, or of the library that it refers to: lower-case hexadecimal. */
  readonly hashes: readonly string[];
  readonly answers: readonly NativeAnswer[];
  /** Names of get methods that are asked for by kinds, and that this code does not have. */
  readonly lacks?: readonly string[];
}

/** An answer to a get method, of the types that it declares. */
export function nativeAnswer<Arguments extends readonly unknown[], Result>(
  { name }: GetMethod<Arguments, Result>,
  read: (account: NativeAccount, ...given: Arguments) => Result,
): NativeAnswer {
  return { method: name, read: read as unknown as NativeAnswer['read'] };
}

/** Exit code of a contract that has no such get method. */
const NO_METHOD = 11;

/**
 * What a get method of a known code answers, boxed; null when that is only known by running it.
 *
 * @throws contract-data/method-failed when the code has no such get method
 */
export function askNatively<Arguments extends readonly unknown[], Result>(
  code: NativeCode | null,
  account: NativeAccount,
  { name: method }: GetMethod<Arguments, Result>,
  given: Arguments,
): { readonly result: Result } | null {
  if (code === null) return null;
  const answer = code.answers.find((one) => one.method === method);
  if (answer === undefined) {
    if (code.lacks?.includes(method) !== true) return null;
    throw contractDataErrors['method-failed']({ address: account.address.toRaw(), method, exit_code: NO_METHOD });
  }
  const read = answer.read as unknown as (account: NativeAccount, ...given: Arguments) => Result;
  return tryNative(() => ({ result: read(account, ...given) }));
}

/** What a native reader gives; null when the data is of another form, so that only running the code tells. */
function tryNative<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

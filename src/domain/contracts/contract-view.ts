import { contractDataErrors } from '#domain/contracts/errors.js';
import type { GetMethod } from '#domain/contracts/get-method.js';
import type { NativeAccount, NativeCode } from '#domain/contracts/native-code.js';
import type { Address } from '#formats/address/address.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/** A contract that can be asked. */
export interface ViewedContract {
  readonly address: Address;
  /** Null: there is no such account, or it has no code. */
  readonly account: NativeAccount | null;
}

/** Contracts as they are at one moment. */
export interface ContractView {
  /** Another contract, at the same moment. */
  contract(address: Address): Promise<ViewedContract>;
  /**
   * What a get method answers: read natively where the code is known and its data is as that code writes it, else by running it.
   *
   * @throws contract-data/method-failed with the exit code; as `GetMethod.parse`; and what only tells that nothing could be
   *   asked (then nothing is known of the contract)
   */
  runGetMethod<Arguments extends readonly unknown[], Result>(
    contract: ViewedContract,
    method: GetMethod<Arguments, Result>,
    ...given: Arguments
  ): Promise<Result>;
}

const CONTRACT_ERROR = /^(contract-data|cells|tlb|address)\//;

/** Whether an error says something of the contract that was asked, not that it could not be asked. */
export function isContractError(error: unknown): error is Error {
  return isTernError(error) && CONTRACT_ERROR.test(error.code);
}

/** What was read; null when the contract answers in another way, or not at all. */
export async function nullOnContractError<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (isContractError(error)) return null;
    throw error;
  }
}

/** What was read; null when the contract has no such get method, or that ends with an error. */
export async function nullOnMethodFailure<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (isTernError(error, 'contract-data/method-failed')) return null;
    throw error;
  }
}

/** What a contract says of itself, and who has to agree. */
export interface InterfaceClaim {
  /** `jetton_wallet` */
  readonly kind: string;
  /** Raw addresses. */
  readonly address: string;
  readonly by: string;
}

/**
 * Whether another contract agrees with what one says of itself.
 *
 * @throws contract-data/not-verified when it does not, or does not answer
 */
export async function verifyClaim(claim: InterfaceClaim, agrees: () => Promise<boolean>): Promise<void> {
  let problem = 'says something else';
  try {
    if (await agrees()) return;
  } catch (error) {
    if (!isContractError(error)) throw error;
    problem = `does not answer: ${error.message}`;
  }
  throw contractDataErrors['not-verified']({ ...claim, problem });
}

/**
 * For kinds of which anybody's code could say the same: only the code tells.
 *
 * @throws contract-data/unknown-code when the code of the contract is none of these
 */
export function requireKnownCode(
  kind: string,
  codes: readonly NativeCode[],
  { address, account }: ViewedContract,
): void {
  if (account !== null) {
    const hash = toHex(account.code.hash());
    if (codes.some(({ hashes }) => hashes.includes(hash))) return;
  }
  throw contractDataErrors['unknown-code']({ kind, address: address.toRaw() });
}

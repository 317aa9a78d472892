import { contractDataErrors } from '#domain/contracts/errors.js';
import type { GetMethod } from '#domain/contracts/get-method.js';
import type { NativeAccount, NativeCode } from '#domain/contracts/native-code.js';
import type { Address } from '#formats/address/address.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/** A contract in a {@link ContractView}. */
export interface ViewedContract {
  readonly address: Address;
  /** Null: the account does not exist, or has no code. */
  readonly account: NativeAccount | null;
}

/** Contracts in their states after one masterchain block. */
export interface ContractView {
  /** Another contract, in its state after the same block. */
  contract(address: Address): Promise<ViewedContract>;
  /**
   * Result of a get-method: from a native reader if the code is known and the data has the layout of that code, else from the TVM.
   *
   * @throws contract-data/method-failed with the exit code; as `GetMethod.parse`; other errors if it could not be run at all, which
   *   says nothing about the contract
   */
  runGetMethod<Arguments extends readonly unknown[], Result>(
    contract: ViewedContract,
    method: GetMethod<Arguments, Result>,
    ...given: Arguments
  ): Promise<Result>;
}

const CONTRACT_ERROR = /^(contract-data|cells|tlb|address)\//;

/** Whether an error is a fault of the contract, and not a failure to run its get-method. */
export function isContractError(error: unknown): error is Error {
  return isTernError(error) && CONTRACT_ERROR.test(error.code);
}

/** The result of `read`; null if the contract has no such get-method, or its result has another form. */
export async function nullOnContractError<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (isContractError(error)) return null;
    throw error;
  }
}

/** The result of `read`; null if the contract has no such get-method, or that ends with an error exit code. */
export async function nullOnMethodFailure<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (isTernError(error, 'contract-data/method-failed')) return null;
    throw error;
  }
}

/** The interface that a contract claims to have, and the contract that has to confirm it. */
export interface InterfaceClaim {
  /** `jetton_wallet` */
  readonly kind: string;
  /** Raw addresses. */
  readonly address: string;
  readonly by: string;
}

/**
 * Requires that another contract confirms a claim.
 *
 * @throws contract-data/not-verified if it does not, or its get-method fails
 */
export async function verifyClaim(claim: InterfaceClaim, confirms: () => Promise<boolean>): Promise<void> {
  let problem = 'does not confirm that';
  try {
    if (await confirms()) return;
  } catch (error) {
    if (!isContractError(error)) throw error;
    problem = `cannot confirm that: ${error.message}`;
  }
  throw contractDataErrors['not-verified']({ ...claim, problem });
}

/**
 * For interfaces that no other contract confirms, and that any code could claim: only known codes count.
 *
 * @throws contract-data/unknown-code if the contract has none of these codes
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

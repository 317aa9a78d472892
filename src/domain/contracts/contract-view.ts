import type { GetMethod } from '#domain/contracts/get-method.js';
import type { NativeAccount } from '#domain/contracts/native-code.js';
import type { Address } from '#formats/address/address.js';

/** A contract that can be asked. */
export interface AskedContract {
  readonly address: Address;
  /** Null: there is no such account, or it has no code. */
  readonly account: NativeAccount | null;
}

/** Contracts as they are at one moment. */
export interface ContractView {
  /** Another contract, at the same moment. */
  contract(address: Address): Promise<AskedContract>;
  /**
   * What a get method answers: read natively where the code is known and its data is as that code writes it, else by running it.
   *
   * @throws contract-data/method-failed with the exit code; as `GetMethod.parse`; and what only tells that nothing could be
   *   asked (then nothing is known of the contract)
   */
  ask<Arguments extends readonly unknown[], Result>(
    contract: AskedContract,
    method: GetMethod<Arguments, Result>,
    ...given: Arguments
  ): Promise<Result>;
}

import { contractDataErrors } from '#domain/contracts/errors.js';
import type { NativeAccount, NativeContract } from '#domain/contracts/native-contract.js';
import { libraryHashOf, nativeContractOf, tryNative } from '#domain/contracts/native-contracts.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { AccountStateRead } from '#services/chain/account-state.js';
import type { ReadAt } from '#services/chain/read-options.js';
import type { GetMethodRead } from '#services/contracts/contracts.js';

/** What reading tokens and domains takes. All of it is about the block that the options name. */
export interface TokenReads {
  runGetMethod(address: Address, method: string, stack: VmStack, options: ReadAt): Promise<GetMethodRead>;
  account(address: Address, options: ReadAt): Promise<AccountStateRead>;
  /** The library that the masterchain publishes under a hash; null when there is none. */
  library(hash: Uint8Array, options: ReadAt): Promise<Cell | null>;
}

/** A contract that can be asked: natively where its code is known and its data is as that code writes it, else by running it. */
export interface AskedContract {
  readonly address: Address;
  /** Null: its code is not known, or not there. */
  readonly native: { readonly account: NativeAccount; readonly contract: NativeContract } | null;
}

/** Code and data of an account that can run. */
export function nativeAccountOf(address: Address, { account }: AccountStateRead): NativeAccount | null {
  if (account?.kind !== 'account' || account.storage.state.kind !== 'account_active') return null;
  const { code, data } = account.storage.state.state_init;
  return code === null || data === null ? null : { address, code, data };
}

/** Contracts at one block. */
export class ContractsAt {
  readonly #reads: TokenReads;
  readonly #options: ReadAt;

  constructor(reads: TokenReads, options: ReadAt) {
    this.#reads = reads;
    this.#options = options;
  }

  async contract(address: Address): Promise<AskedContract> {
    return this.known(address, nativeAccountOf(address, await this.#reads.account(address, this.#options)));
  }

  /** A contract whose account was read. */
  async known(address: Address, account: NativeAccount | null): Promise<AskedContract> {
    const contract = account === null ? null : nativeContractOf(account.code);
    if (account === null || contract === null) return { address, native: null };
    // A contract whose library nobody has published cannot run, whatever its data says.
    const library = libraryHashOf(account.code);
    if (library !== null && (await this.#reads.library(library, this.#options)) === null) {
      return { address, native: null };
    }
    return { address, native: { account, contract } };
  }

  /**
   * The result of a get method.
   *
   * @param natively reads it, or gives null when this reader has no such method
   * @throws contract-data/method-failed, and what `parse` and the reads throw
   */
  async ask<T>(
    { address, native }: AskedContract,
    natively: (contract: NativeContract, account: NativeAccount) => T | null,
    method: string,
    stack: VmStack,
    parse: (stack: VmStack) => T,
  ): Promise<T> {
    const read = native === null ? null : tryNative(() => natively(native.contract, native.account));
    if (read !== null) return read;
    const { exit_code, stack: result } = await this.#reads.runGetMethod(address, method, stack, this.#options);
    if (exit_code !== 0 && exit_code !== 1) {
      throw contractDataErrors['method-failed']({ address: address.toRaw(), method, exit_code });
    }
    return parse(result);
  }
}

/** What says that a contract is not of a kind, not that it could not be read. */
const ABOUT_CONTRACT = /^(contract-data|cells|tlb|address)\/|^(contracts\/no-workchain|tvm\/refused)$/;

/** The result of `read`; null when the contract is not what `read` takes it for. */
export async function ifItIs<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (isTernError(error) && ABOUT_CONTRACT.test(error.code)) return null;
    throw error;
  }
}

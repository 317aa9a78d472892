import type { AskedContract, ContractView } from '#domain/contracts/contract-view.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import type { GetMethod } from '#domain/contracts/get-method.js';
import { libraryHashOf, nativeCodeOf } from '#domain/contracts/kinds/contract-kinds.js';
import { askNatively, type NativeAccount, type NativeCode } from '#domain/contracts/native-code.js';
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

/** Code and data of an account that can run. */
export function nativeAccountOf(address: Address, { account }: AccountStateRead): NativeAccount | null {
  if (account?.kind !== 'account' || account.storage.state.kind !== 'account_active') return null;
  const { code, data } = account.storage.state.state_init;
  return code === null || data === null ? null : { address, code, data };
}

/** What tells of a contract that it cannot be run, not that a run failed. */
const NOTHING_TO_RUN = /^(contracts\/no-workchain|tvm\/refused)$/;

/** Contracts at one block. */
export class ContractsAt implements ContractView {
  readonly #reads: TokenReads;
  readonly #options: ReadAt;
  readonly #contracts = new Map<string, Promise<AskedContract>>();
  readonly #natives = new Map<NativeAccount, Promise<NativeCode | null>>();

  constructor(reads: TokenReads, options: ReadAt) {
    this.#reads = reads;
    this.#options = options;
  }

  contract(address: Address): Promise<AskedContract> {
    const key = address.toRaw();
    const known = this.#contracts.get(key) ?? this.#read(address);
    this.#contracts.set(key, known);
    return known;
  }

  async #read(address: Address): Promise<AskedContract> {
    return { address, account: nativeAccountOf(address, await this.#reads.account(address, this.#options)) };
  }

  async ask<Arguments extends readonly unknown[], Result>(
    { address, account }: AskedContract,
    method: GetMethod<Arguments, Result>,
    ...given: Arguments
  ): Promise<Result> {
    if (account !== null) {
      const native = askNatively(await this.#nativeCode(account), account, method, given);
      if (native !== null) return native.result;
    }
    const { exit_code, stack } = await this.#run(address, method.name, method.stack(...given));
    if (exit_code === 0 || exit_code === 1) return method.parse(stack);
    throw contractDataErrors['method-failed']({ address: address.toRaw(), method: method.name, exit_code });
  }

  async #run(address: Address, method: string, stack: VmStack): Promise<GetMethodRead> {
    try {
      return await this.#reads.runGetMethod(address, method, stack, this.#options);
    } catch (error) {
      if (!isTernError(error) || !NOTHING_TO_RUN.test(error.code)) throw error;
      throw contractDataErrors['method-not-run']({ address: address.toRaw(), method, problem: error.message });
    }
  }

  #nativeCode(account: NativeAccount): Promise<NativeCode | null> {
    const known = this.#natives.get(account) ?? this.#readNativeCode(account);
    this.#natives.set(account, known);
    return known;
  }

  /** A contract whose library nobody has published cannot run, whatever its data says. */
  async #readNativeCode({ code }: NativeAccount): Promise<NativeCode | null> {
    const native = nativeCodeOf(code);
    const library = native === null ? null : libraryHashOf(code);
    const published = library === null || (await this.#reads.library(library, this.#options)) !== null;
    return published ? native : null;
  }
}

import type { AskedContract, ContractView } from '#domain/contracts/contract-view.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import type { GetMethod } from '#domain/contracts/get-method.js';
import { nativeCodeOf } from '#domain/contracts/kinds/contract-kinds.js';
import { askNatively } from '#domain/contracts/native-code.js';
import { addressBytes } from '#drivers/store/keys.js';
import type { Address } from '#formats/address/address.js';
import { methodIdOf } from '#formats/tlb/method-id.js';
import type { ContractRuns } from '#services/indexer/contracts/contract-runs.js';
import type { ContractState } from '#services/indexer/contracts/contract-state.js';
import type { ContractStates } from '#services/indexer/contracts/contract-states.js';
import type { PublishedLibraries } from '#services/indexer/contracts/published-libraries.js';
import { indexerErrors } from '#services/indexer/errors.js';

export interface StoredViewModules {
  readonly states: ContractStates;
  readonly runs: ContractRuns;
  readonly libraries: PublishedLibraries;
  /** Told of each get method that was read from data. */
  readonly onNative: () => void;
}

const NO_METHOD = 11;
const NO_CODE = -13;

/** Contracts in their newest known states, for who looks at one of them. */
export class StoredView implements ContractView {
  readonly #subject: ContractState;
  readonly #modules: StoredViewModules;
  readonly #states = new WeakMap<AskedContract, ContractState>();
  readonly #named = new Map<string, Uint8Array>();

  constructor(subject: ContractState, modules: StoredViewModules) {
    this.#subject = subject;
    this.#modules = modules;
  }

  /** The contract that is looked at. */
  subject(): AskedContract {
    return this.#asked(this.#subject);
  }

  /** Addresses of the other contracts that were asked. */
  get named(): readonly Uint8Array[] {
    return [...this.#named.values()];
  }

  async contract(address: Address): Promise<AskedContract> {
    if (address.equals(this.#subject.address)) return this.subject();
    this.#named.set(address.toRaw(), addressBytes(address));
    const state = await this.#modules.states.get(address);
    return state === null ? { address, account: null } : this.#asked(state);
  }

  async ask<Arguments extends readonly unknown[], Result>(
    contract: AskedContract,
    method: GetMethod<Arguments, Result>,
    ...given: Arguments
  ): Promise<Result> {
    const { account, address } = contract;
    const state = this.#states.get(contract);
    const failed = (exit_code: number) =>
      contractDataErrors['method-failed']({ address: address.toRaw(), method: method.name, exit_code });
    if (state?.incomplete === true) throw indexerErrors['contract-incomplete']({ address: address.toRaw() });
    if (account === null || state === undefined || state.running === null) throw failed(NO_CODE);
    const { library, methods } = state.running.code;
    const { runs, libraries, onNative } = this.#modules;
    // A contract whose library nobody has published cannot run, whatever its data says.
    const canRun = library === null || (await libraries.find(library)) !== null;
    const read = canRun ? askNatively(nativeCodeOf(account.code), account, method, given) : null;
    if (read !== null) {
      onNative();
      return read.result;
    }
    if (methods !== null && !methods.includes(methodIdOf(method.name))) throw failed(NO_METHOD);
    const isSubject = state === this.#subject;
    const now = Math.max(this.#subject.gen_utime, state.gen_utime);
    const stack = method.stack(...given);
    return method.parse(await runs.run({ state, method: method.name, stack, now, steady: !isSubject }));
  }

  #asked(state: ContractState): AskedContract {
    const { address, running } = state;
    const account = running === null ? null : { address, code: running.code.cell, data: running.data };
    const asked = { address, account };
    this.#states.set(asked, state);
    return asked;
  }
}

import { EMULATOR } from '#drivers/tvm/emulator-version.js';
import type { Address } from '#formats/address/address.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { Call } from '#services/chain/call.js';
import type { ReadAt } from '#services/chain/read-options.js';
import type { ContractModules } from '#services/contracts/contract-modules.js';
import type { GetMethodRead } from '#services/contracts/contracts.js';
import { GetMethods } from '#services/contracts/get-methods.js';
import { PublishedLibraries } from '#services/contracts/libraries.js';
import { NetworkConfigs } from '#services/contracts/network-config.js';
import { type ContractOptions, type ContractSettings, checkContractOptions } from '#services/contracts/options.js';
import { PrevBlocks } from '#services/contracts/prev-blocks.js';
import type { ContractsMetrics, ContractsStatus } from '#services/contracts/status.js';

/** Runs contracts of a network, on proven state. */
export class ContractService {
  readonly #settings: ContractSettings;
  readonly #modules: ContractModules;
  readonly #configs: NetworkConfigs;
  readonly #libraries: PublishedLibraries;
  readonly #prevBlocks = new PrevBlocks();
  readonly #getMethods: GetMethods;

  /** @throws contracts/option */
  constructor(options: ContractOptions, modules: ContractModules) {
    const settings = checkContractOptions(options);
    this.#settings = settings;
    this.#modules = modules;
    this.#configs = new NetworkConfigs(settings.configs, modules);
    this.#libraries = new PublishedLibraries(settings.libraryBytes, modules.chain);
    const shared = { configs: this.#configs, libraries: this.#libraries, prevBlocks: this.#prevBlocks };
    this.#getMethods = new GetMethods(settings, { ...modules, ...shared });
  }

  /** @throws contracts/*, tvm/*, chain/*, lite/* */
  runGetMethod(
    address: Address,
    method: string | number,
    stack: VmStack,
    options: ReadAt = {},
  ): Promise<GetMethodRead> {
    return this.#getMethods.run(this.#call(options), { address, method, stack, at: options.at });
  }

  metrics(): ContractsMetrics {
    return {
      local_runs: this.#getMethods.localRuns,
      node_runs: this.#getMethods.nodeRuns,
      config_fetches: this.#configs.fetches,
      library_fetches: this.#libraries.fetches,
      prev_blocks_fetches: this.#prevBlocks.fetches,
    };
  }

  status(): ContractsStatus {
    const { newest } = this.#configs;
    const { getMethods } = this.#settings;
    return {
      mode: getMethods,
      network_version: newest?.global_version ?? null,
      emulator_version: EMULATOR.global_version,
      ...this.#getMethods.place(newest),
    };
  }

  #call(options: ReadAt): Call {
    const { askNode: source, clock } = this.#modules;
    return new Call(options, this.#settings.deadlineMs, { source, clock });
  }
}

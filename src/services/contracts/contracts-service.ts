import type { DnsRecords } from '#domain/contracts/dns-records.js';
import { EMULATOR } from '#drivers/tvm/emulator-version.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { Call } from '#services/chain/call.js';
import type { ReadAt } from '#services/chain/read-options.js';
import type { ContractModules } from '#services/contracts/contract-modules.js';
import type {
  Contracts,
  FeeEstimate,
  FeeQuestion,
  GetMethodRead,
  SendDiagnosis,
  TokenRead,
} from '#services/contracts/contracts.js';
import { estimateFee } from '#services/contracts/estimate-fee.js';
import { explainRefusal } from '#services/contracts/explain-refusal.js';
import { GetMethods } from '#services/contracts/get-methods.js';
import { PublishedLibraries } from '#services/contracts/libraries.js';
import { NetworkConfigs } from '#services/contracts/network-config.js';
import { type ContractOptions, type ContractSettings, checkContractOptions } from '#services/contracts/options.js';
import { PrevBlocks } from '#services/contracts/prev-blocks.js';
import { resolveDns } from '#services/contracts/resolve-dns.js';
import type { RunModules } from '#services/contracts/run-view.js';
import type { ContractsMetrics, ContractsStatus } from '#services/contracts/status.js';
import { readTokenData } from '#services/contracts/token-data.js';
import type { TokenReads } from '#services/contracts/token-reads.js';

/** The contracts of a network: get methods, tokens, domains, fees, on proven state. */
export class ContractService implements Contracts {
  readonly #settings: ContractSettings;
  readonly #modules: RunModules;
  readonly #getMethods: GetMethods;
  #feeEstimates = 0;

  /** @throws contracts/option */
  constructor(options: ContractOptions, modules: ContractModules) {
    const settings = checkContractOptions(options);
    this.#settings = settings;
    const configs = new NetworkConfigs(settings.configs, modules);
    const libraries = new PublishedLibraries(settings.libraryBytes, modules.chain);
    this.#modules = { ...modules, configs, libraries, prevBlocks: new PrevBlocks() };
    this.#getMethods = new GetMethods(settings, this.#modules);
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

  /** @throws contracts/*, tvm/*, chain/*, lite/* */
  estimateFee(question: FeeQuestion, options: ReadAt = {}): Promise<FeeEstimate> {
    this.#feeEstimates++;
    return estimateFee(this.#call(options), question, options.at, this.#settings, this.#modules);
  }

  /** @throws contracts/*, contract-data/*, tvm/*, chain/*, lite/* */
  tokenData(address: Address, options: ReadAt = {}): Promise<TokenRead> {
    return readTokenData(address, this.#reads(options), atOf(options));
  }

  /** @throws contracts/*, contract-data/*, tvm/*, chain/*, lite/* */
  resolveDns(resolver: Address, name: string, depth: number, options: ReadAt = {}): Promise<DnsRecords> {
    return resolveDns(resolver, name, depth, this.#reads(options), atOf(options));
  }

  explainRefusal(message: Cell, nodeText: string, options: ReadAt = {}): Promise<SendDiagnosis> {
    return explainRefusal(this.#call(options), { message, nodeText, at: options.at }, this.#settings, this.#modules);
  }

  metrics(): ContractsMetrics {
    const { configs, libraries, prevBlocks } = this.#modules;
    return {
      local_runs: this.#getMethods.localRuns,
      node_runs: this.#getMethods.nodeRuns,
      fee_estimates: this.#feeEstimates,
      config_fetches: configs.fetches,
      library_fetches: libraries.fetches,
      prev_blocks_fetches: prevBlocks.fetches,
    };
  }

  status(): ContractsStatus {
    const { newest } = this.#modules.configs;
    const { getMethods } = this.#settings;
    return {
      mode: getMethods,
      network_version: newest?.global_version ?? null,
      emulator_version: EMULATOR.global_version,
      ...this.#getMethods.place(newest),
    };
  }

  /** Reads that share one deadline. */
  #reads(options: ReadAt): TokenReads {
    const { chain, libraries } = this.#modules;
    const call = this.#call(options);
    return {
      runGetMethod: (address, method, stack, { at }) => this.#getMethods.run(call, { address, method, stack, at }),
      account: (address, { at = 'head' }) => chain.account(address, { at, ...call.rest() }),
      library: async (hash, { at = 'head' }) => {
        const block = await chain.blockId(at, call.rest());
        return (await libraries.resolver(call, block)([hash]))[0] ?? null;
      },
    };
  }

  #call(options: ReadAt): Call {
    const { askNode: source, clock } = this.#modules;
    return new Call(options, this.#settings.deadlineMs, { source, clock });
  }
}

/** The block that a question is about; its deadline and signal are those of the reads. */
function atOf({ at }: ReadAt): ReadAt {
  return at === undefined ? {} : { at };
}

import type { ContractView } from '#domain/contracts/contract-view.js';
import type { DnsRecords } from '#domain/contracts/dns-records.js';
import { EMULATOR } from '#drivers/tvm/emulator-binary.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { Account } from '#formats/tlb/account.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { type ReadAt, ReadContext, type ReadOptions } from '#services/chain/read-context.js';
import {
  type ContractStateReads,
  ContractsAtBlock,
  readTokenData,
  resolveDns,
} from '#services/emulation/contract-data.js';
import type {
  ContractReads,
  ContractViews,
  FeeEstimate,
  FeeRequest,
  GetMethodRead,
  SendDiagnosis,
  TokenRead,
} from '#services/emulation/contract-reads.js';
import type { EmulatedTrace, TraceEmulation, TraceRequest } from '#services/emulation/emulated-trace.js';
import { emulationErrors } from '#services/emulation/errors.js';
import { estimateFee } from '#services/emulation/estimate-fee.js';
import { explainRefusal } from '#services/emulation/explain-refusal.js';
import { FairGate, GetMethodRunner } from '#services/emulation/get-methods.js';
import type { ContractsMetrics, ContractsStatus } from '#services/emulation/metrics.js';
import {
  type ContractModules,
  type ContractOptions,
  type ContractSettings,
  checkContractOptions,
} from '#services/emulation/options.js';
import {
  type EmulationModules,
  MasterchainLibraryCache,
  NetworkConfigCache,
  PrevBlocksCache,
} from '#services/emulation/run-environment.js';
import { emulateTrace } from '#services/emulation/trace-emulator.js';
import type { StatedContracts } from '#services/emulation/trace-meanings.js';

/** {@link ContractReads} of a network: get methods, emulated traces, tokens, DNS, fees and send diagnosis on proven state. */
export class ContractService implements ContractReads, ContractViews, TraceEmulation {
  readonly #settings: ContractSettings;
  readonly #modules: EmulationModules;
  readonly #getMethods: GetMethodRunner;
  readonly #traceGate: FairGate;
  #feeEstimates = 0;
  #traces = 0;
  #emulated = 0;

  /** @throws contracts/option */
  constructor(options: ContractOptions, modules: ContractModules) {
    const settings = checkContractOptions(options);
    this.#settings = settings;
    const configs = new NetworkConfigCache(settings.configs, modules);
    const libraries = new MasterchainLibraryCache(settings.libraryBytes, modules.chain);
    this.#modules = { ...modules, configs, libraries, prevBlocks: new PrevBlocksCache() };
    this.#getMethods = new GetMethodRunner(settings, this.#modules);
    this.#traceGate = new FairGate(settings.traces, modules.clock, (waiting) =>
      emulationErrors.overloaded({ waiting }),
    );
  }

  /** @throws contracts/*, tvm/*, chain/*, lite/* */
  runGetMethod(
    address: Address,
    method: string | number,
    stack: VmStack,
    options: ReadAt = {},
  ): Promise<GetMethodRead> {
    return this.#getMethods.run(this.#context(options), { address, method, stack, at: options.at });
  }

  /** @throws contracts/*, tvm/*, chain/*, lite/* */
  estimateFee(request: FeeRequest, options: ReadAt = {}): Promise<FeeEstimate> {
    this.#feeEstimates++;
    return estimateFee(this.#context(options), request, options.at, this.#settings, this.#modules);
  }

  emulateTrace(request: TraceRequest, options: ReadOptions): Promise<EmulatedTrace> {
    this.#traces++;
    const context = this.#context(options);
    const turn = { client: context.client?.id ?? '', contract: '' };
    return this.#traceGate.run(turn, context.deadline, async () => {
      const trace = await emulateTrace(context, request, this.#settings, this.#modules);
      this.#emulated += trace.transactions.length;
      return trace;
    });
  }

  /** @throws contracts/*, contract-data/*, tvm/*, chain/*, lite/* */
  tokenData(address: Address, options: ReadAt = {}): Promise<TokenRead> {
    return readTokenData(address, this.#reads(options), atOf(options));
  }

  /** @throws contracts/*, contract-data/*, tvm/*, chain/*, lite/* */
  resolveDns(resolver: Address, name: string, depth: number, options: ReadAt = {}): Promise<DnsRecords> {
    return resolveDns(resolver, name, depth, this.#reads(options), atOf(options));
  }

  contractsAt(options: ReadAt): ContractView {
    return new ContractsAtBlock(this.#reads(options), atOf(options));
  }

  /** Contracts after a block, some of them in other states. @param states by raw address */
  contractsWith(states: ReadonlyMap<string, Account>, options: ReadAt): StatedContracts {
    const reads = this.#reads(options, states);
    const at = atOf(options);
    return Object.assign(new ContractsAtBlock(reads, at), { library: (hash: Uint8Array) => reads.library(hash, at) });
  }

  async explainRefusal(message: Cell, nodeText: string, options: ReadAt = {}): Promise<SendDiagnosis> {
    const refused = { message, nodeText, at: options.at };
    const found = await explainRefusal(this.#context(options), refused, this.#settings, this.#modules);
    // Whoever runs the network has moved its clock; the client may show no explanations.
    if (found.reason === 'network-ahead') {
      this.#modules.logger.warn('a message was refused since the network is ahead of the clock', {
        problem: found.explanation,
      });
    }
    return found;
  }

  metrics(): ContractsMetrics {
    const { configs, libraries, prevBlocks } = this.#modules;
    return {
      local_runs: this.#getMethods.localRuns,
      node_runs: this.#getMethods.nodeRuns,
      fee_estimates: this.#feeEstimates,
      traces: this.#traces,
      emulated_transactions: this.#emulated,
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

  /** Contract state reads that share one deadline. */
  #reads(options: ReadAt, states?: ReadonlyMap<string, Account>): ContractStateReads {
    const { chain, libraries } = this.#modules;
    const context = this.#context(options);
    return {
      runGetMethod: (address, method, stack, { at }) =>
        this.#getMethods.run(context, { address, method, stack, at, state: states?.get(address.toRaw()) }),
      account: async (address, { at = 'head' }) => {
        const read = await chain.account(address, { at, ...context.remaining() });
        const account = states?.get(address.toRaw());
        return account === undefined ? read : { ...read, account };
      },
      library: async (hash, { at = 'head' }) => {
        const block = await chain.blockId(at, context.remaining());
        return (await libraries.resolver(context, block)([hash]))[0] ?? null;
      },
    };
  }

  #context(options: ReadAt): ReadContext {
    const { lite: source, clock } = this.#modules;
    return new ReadContext(options, this.#settings.deadlineMs, { source, clock });
  }
}

/** Only the block of the options; deadline and signal are those of the context. */
function atOf({ at }: ReadAt): ReadAt {
  return at === undefined ? {} : { at };
}

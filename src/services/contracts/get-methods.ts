import { EMULATOR } from '#drivers/tvm/emulator-version.js';
import type { Address } from '#formats/address/address.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import type { Call } from '#services/chain/call.js';
import type { BlockAt } from '#services/chain/read-options.js';
import type { GetMethodRead } from '#services/contracts/contracts.js';
import { contractsErrors } from '#services/contracts/errors.js';
import type { NetworkConfig } from '#services/contracts/network-config.js';
import { runOnNode } from '#services/contracts/node-run.js';
import type { ContractSettings } from '#services/contracts/options.js';
import {
  accountView,
  checkWorkchain,
  type RunModules,
  type RunView,
  runOptions,
  runView,
} from '#services/contracts/run-view.js';
import type { GetMethodsPlace } from '#services/contracts/status.js';

/** A get method that somebody asks for. */
export interface GetMethodQuestion {
  readonly address: Address;
  /** A name, or an id as number or decimal text. */
  readonly method: string | number;
  /** Arguments, the last one on top. */
  readonly stack: VmStack;
  readonly at: BlockAt | undefined;
}

/** Runs get methods on proven state, or has a node run them. */
export class GetMethods {
  readonly #settings: ContractSettings;
  readonly #modules: RunModules;
  /** Network versions that were logged as too new. */
  readonly #warned = new Set<number>();
  #localRuns = 0;
  #nodeRuns = 0;

  constructor(settings: ContractSettings, modules: RunModules) {
    this.#settings = settings;
    this.#modules = modules;
  }

  get localRuns(): number {
    return this.#localRuns;
  }

  get nodeRuns(): number {
    return this.#nodeRuns;
  }

  /** Where get methods run on a network with this configuration; `null`: it is not known yet. */
  place(config: NetworkConfig | null): GetMethodsPlace {
    const { getMethods } = this.#settings;
    if (getMethods === 'node') return { ran_on: 'node', reason: 'nodes are set to run all get methods' };
    if (config === null || config.emulator_knows) return { ran_on: 'local', reason: null };
    const { global_version: network } = config;
    const reason = `the network has global version ${network}, the emulator knows ${EMULATOR.global_version}`;
    return { ran_on: getMethods === 'local' ? 'nowhere' : 'node', reason };
  }

  /** @throws contracts/*, tvm/*, chain/*, lite/* */
  async run(call: Call, question: GetMethodQuestion): Promise<GetMethodRead> {
    const view = await runView(call, question.at, this.#modules);
    const { config } = view;
    const { ran_on, reason } = this.place(config);
    if (ran_on === 'local') return this.#runHere(call, question, view);
    const { global_version: network } = config;
    const { global_version: emulator } = EMULATOR;
    if (ran_on === 'nowhere') throw contractsErrors['emulator-too-old']({ network, emulator });
    if (!config.emulator_knows) this.#warn(network);
    return this.#runOnNode(call, question, view, reason);
  }

  async #runHere(call: Call, { address, method, stack }: GetMethodQuestion, view: RunView): Promise<GetMethodRead> {
    const { chain, tvm, libraries, prevBlocks } = this.#modules;
    const { block, config } = view;
    const { account, shard_utime, last_transaction } = await accountView(call, address, view, chain);
    const storage = account?.kind === 'account' ? account.storage : null;
    const init = storage?.state.kind === 'account_active' ? storage.state.state_init : null;
    this.#localRuns++;
    const {
      exit_code,
      gas_used,
      stack: result,
    } = await tvm.runGetMethod(
      {
        code: init?.code ?? null,
        data: init?.data ?? null,
        method,
        stack,
        address,
        now: shard_utime,
        balance: storage?.balance.grams ?? 0n,
        extra_currencies: storage?.balance.other ?? [],
        config: config.root,
        prev_blocks_info: () => prevBlocks.at(call, block, config),
        gas_limit: this.#settings.getMethodGas,
        // Its own, as in transactions; those of the masterchain come when they are needed.
        libraries: init?.library.root ?? null,
        resolveLibrary: libraries.resolver(call, block),
      },
      runOptions(call, this.#settings),
    );
    return { exit_code, gas_used, stack: result, block, last_transaction, ran_on: 'local', ran_on_reason: null };
  }

  async #runOnNode(
    call: Call,
    { address, method, stack }: GetMethodQuestion,
    view: RunView,
    ran_on_reason: string,
  ): Promise<GetMethodRead> {
    checkWorkchain(address, view);
    const { block } = view;
    this.#nodeRuns++;
    const run = await runOnNode(call, { address, method, stack, block });
    return { ...run, gas_used: 0, block, ran_on: 'node', ran_on_reason };
  }

  #warn(network_version: number): void {
    if (this.#warned.has(network_version)) return;
    this.#warned.add(network_version);
    this.#modules.logger.warn('the network is newer than the emulator: nodes run the get methods', {
      network_version,
      emulator_version: EMULATOR.global_version,
    });
  }
}

import { EMULATOR } from '#drivers/tvm/emulator-binary.js';
import { FairQueue, type Turn } from '#drivers/tvm/fair-queue.js';
import { getMethodId, NO_CODE } from '#drivers/tvm/get-method.js';
import type { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { verifyAccount } from '#formats/proofs/account.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { TransactionRef } from '#formats/proofs/transactions.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import { LiteServerRunSmcMethod } from '#formats/tl/lite-api.js';
import type { Account } from '#formats/tlb/account.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { VmStack, vmInt } from '#formats/tlb/vm-stack.js';
import type { Clock } from '#kernel/clock.js';
import { type Deadline, withDeadline } from '#kernel/deadline.js';
import { chainErrors } from '#services/chain/errors.js';
import { copyBlockId, expectBlock } from '#services/chain/proven-blocks.js';
import type { BlockAt, ReadContext } from '#services/chain/read-context.js';
import type { GetMethodRead } from '#services/emulation/contract-reads.js';
import { contractsErrors } from '#services/emulation/errors.js';
import type { GetMethodLocation } from '#services/emulation/metrics.js';
import type { ContractSettings } from '#services/emulation/options.js';
import {
  accountView,
  checkWorkchain,
  type EmulationModules,
  type NetworkConfig,
  type NetworkView,
  networkView,
  runOptions,
} from '#services/emulation/run-environment.js';

interface Waiting extends Turn {
  readonly enter: () => void;
  readonly refuse: (error: Error) => void;
}

const MOST_WAITING = { most: 1_024, mostOfClient: 128, mostOfContract: 32 };

/** Lets a bounded number of works run at once; clients, and contracts of a client, take turns. */
export class FairGate {
  readonly #most: number;
  readonly #clock: Clock;
  readonly #full: (waiting: number) => Error;
  readonly #queue = new FairQueue<Waiting>(MOST_WAITING);
  #running = 0;

  /** @param full the error of a work for which the queue has no room */
  constructor(most: number, clock: Clock, full: (waiting: number) => Error) {
    this.#most = most;
    this.#clock = clock;
    this.#full = full;
  }

  /** @throws as `work`; `full`; the errors of the deadline */
  async run<T>({ client, contract }: Turn, deadline: Deadline, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#most) await this.#wait({ client, contract }, deadline);
    else this.#running++;
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  #leave(): void {
    const next = this.#queue.take();
    if (next === undefined) this.#running--;
    else next.enter();
  }

  async #wait(turn: Turn, deadline: Deadline): Promise<void> {
    let waiting: Waiting | undefined;
    let isIn = false;
    const turned = new Promise<void>((resolve, refuse) => {
      const enter = (): void => {
        isIn = true;
        resolve();
      };
      waiting = { ...turn, enter, refuse };
      this.#queue.add(waiting)?.refuse(this.#full(this.#queue.size));
    });
    try {
      await withDeadline(turned, deadline, this.#clock);
    } catch (error) {
      this.#queue.remove(waiting!);
      if (isIn) this.#leave();
      throw error;
    }
  }
}

/** A requested get method call. */
export interface GetMethodCall {
  readonly address: Address;
  /** A name, or an id as number or decimal string. */
  readonly method: string | number;
  /** Arguments, last one on top. */
  readonly stack: VmStack;
  readonly at: BlockAt | undefined;
  /** State of the account in place of the proven one: after emulated transactions. It runs locally. */
  readonly state?: Account | undefined;
}

/** Runs get methods locally on proven state, or on a node. */
export class GetMethodRunner {
  readonly #settings: ContractSettings;
  readonly #modules: EmulationModules;
  readonly #nodeGate: FairGate;
  /** Network versions already logged as too new. */
  readonly #warned = new Set<number>();
  #localRuns = 0;
  #nodeRuns = 0;

  constructor(settings: ContractSettings, modules: EmulationModules) {
    this.#settings = settings;
    this.#modules = modules;
    this.#nodeGate = new FairGate(settings.nodeRuns, modules.clock, (waiting) =>
      contractsErrors['node-overloaded']({ waiting }),
    );
  }

  get localRuns(): number {
    return this.#localRuns;
  }

  get nodeRuns(): number {
    return this.#nodeRuns;
  }

  /** Where get methods run with this network configuration; `null` while it is unknown. */
  place(config: NetworkConfig | null): GetMethodLocation {
    const { getMethods } = this.#settings;
    if (getMethods === 'node') return { ran_on: 'node', reason: 'get methods are configured to run on nodes' };
    if (config === null || config.emulator_knows) return { ran_on: 'local', reason: null };
    const { global_version: network } = config;
    const reason = `the network has global version ${network}, the emulator supports ${EMULATOR.global_version}`;
    return { ran_on: getMethods === 'local' ? 'nowhere' : 'node', reason };
  }

  /** @throws contracts/*, tvm/*, chain/*, lite/* */
  async run(context: ReadContext, methodCall: GetMethodCall): Promise<GetMethodRead> {
    const view = await networkView(context, methodCall.at, this.#modules);
    const { config } = view;
    const { ran_on, reason } = this.place(config);
    if (ran_on === 'local' || methodCall.state !== undefined) return this.#runHere(context, methodCall, view);
    const { global_version: network } = config;
    const { global_version: emulator } = EMULATOR;
    if (ran_on === 'nowhere') throw contractsErrors['emulator-too-old']({ network, emulator });
    if (!config.emulator_knows) this.#warn(network);
    return this.#runOnNode(context, methodCall, view, reason);
  }

  async #runHere(
    context: ReadContext,
    { address, method, stack, state }: GetMethodCall,
    view: NetworkView,
  ): Promise<GetMethodRead> {
    const { chain, tvm, libraries, prevBlocks } = this.#modules;
    const { block, config } = view;
    const read = await accountView(context, address, view, chain);
    const { shard_utime, last_transaction } = read;
    const account = state ?? read.account;
    const storage = account?.kind === 'account' ? account.storage : null;
    const init = storage?.state.kind === 'account_active' ? storage.state.state_init : null;
    this.#localRuns++;
    const {
      exit_code,
      gas_used,
      stack: result,
      remembered_ms,
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
        prev_blocks_info: () => prevBlocks.at(context, block, config),
        gas_limit: this.#settings.getMethodGas,
        // The account's own libraries, as in transactions; masterchain libraries are resolved on demand.
        libraries: init?.library.root ?? null,
        resolveLibrary: libraries.resolver(context, block),
      },
      runOptions(context, this.#settings),
    );
    return {
      exit_code,
      gas_used,
      stack: result,
      remembered_ms,
      block,
      last_transaction,
      ran_on: 'local',
      ran_on_reason: null,
    };
  }

  async #runOnNode(
    context: ReadContext,
    { address, method, stack }: GetMethodCall,
    view: NetworkView,
    ran_on_reason: string,
  ): Promise<GetMethodRead> {
    checkWorkchain(address, view);
    const { block } = view;
    this.#nodeRuns++;
    const run = await this.#nodeGate.run(
      { client: context.client?.id ?? '', contract: address.toRaw() },
      context.deadline,
      () => runOnNode(context, { address, method, stack, block }),
    );
    return { ...run, ...{ gas_used: 0, remembered_ms: null }, block, ran_on: 'node', ran_on_reason };
  }

  #warn(network_version: number): void {
    if (this.#warned.has(network_version)) return;
    this.#warned.add(network_version);
    this.#modules.logger.warn('the network is newer than the emulator: get methods run on nodes', {
      network_version,
      emulator_version: EMULATOR.global_version,
    });
  }
}

/** A get method call to run on a node. */
interface NodeGetMethodCall {
  readonly address: Address;
  readonly method: string | number;
  readonly stack: VmStack;
  /** The masterchain block of the state. */
  readonly block: BlockId;
}

/** Result of a node. The result is not proven; the account state is. */
interface NodeGetMethodResult {
  readonly exit_code: number;
  readonly stack: VmStack;
  readonly last_transaction: TransactionRef | null;
}

/** Mode bits: proofs of the account state, and the stack. */
const WITH_PROOFS = 1;
const WITH_RESULT = 4;

/** Exit code of nodes for an account without code. */
const NOT_ACTIVE = -256;

/**
 * Runs a get method on a liteserver (`liteServer.runSmcMethod`). An account without code returns {@link NO_CODE} and the
 * initial stack, as in a local run.
 *
 * @throws chain/*, lite/*
 */
async function runOnNode(
  context: ReadContext,
  { address, method, stack, block }: NodeGetMethodCall,
): Promise<NodeGetMethodResult> {
  const method_id = getMethodId(method);
  const { value } = await context.query({
    fn: LiteServerRunSmcMethod,
    query: {
      mode: WITH_PROOFS | WITH_RESULT,
      id: blockIdToTl(block),
      account: { workchain: address.workchain, id: address.hash },
      method_id: BigInt(method_id),
      params: serializeBoc(encodeCell(VmStack, stack)),
    },
    need: { kind: 'state', seqno: block.seqno },
    verify: (answer) => {
      expectBlock(answer.id, block);
      const { shard_proof, proof, exit_code, result } = answer;
      if (shard_proof === null || proof === null || result === null) {
        throw chainErrors['incomplete-answer']({ problem: 'the proof or the result of a get method is missing' });
      }
      const shard_block = copyBlockId(answer.shardblk);
      const { shard_account } = verifyAccount(block, address, { shard_block, shard_proof, proof });
      const { last_trans_lt = 0n, last_trans_hash } = shard_account ?? {};
      const last_transaction = last_trans_lt === 0n ? null : { lt: last_trans_lt, hash: last_trans_hash! };
      const hasCode = exit_code !== NOT_ACTIVE || result.length > 0;
      return { exit_code, result: hasCode ? parseBocRoot(result) : null, last_transaction };
    },
  });
  const { exit_code, result, last_transaction } = value;
  if (result === null) return { exit_code: NO_CODE, stack: [...stack, vmInt(method_id)], last_transaction };
  // A stack that is nested too deep to be read is what the contract left, not a lie of the server.
  return { exit_code, stack: decodeCell(VmStack, result), last_transaction };
}

import { contractDataErrors } from '#domain/contracts/errors.js';
import type { PrevBlocksInfo } from '#drivers/tvm/prev-blocks-info.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { VmStack } from '#formats/tlb/vm-stack.js';
import { bytesEqual } from '#kernel/bytes/bytes.js';
import type { ContractState } from '#services/indexer/contracts/contract-state.js';
import type { PublishedLibraries } from '#services/indexer/contracts/published-libraries.js';
import { indexerErrors } from '#services/indexer/errors.js';

/** The rules and the past that a run sees. */
export interface RunConfig {
  /** Root of `Hashmap 32 ^Cell` */
  readonly config: Cell;
  readonly prevBlocks: () => Promise<PrevBlocksInfo | null>;
}

export interface ContractRunsModules {
  /** Starts when the first contract is run. */
  readonly tvm: () => Promise<Pick<TvmPool, 'runGetMethod'>>;
  readonly libraries: PublishedLibraries;
  /** In force at the state of a contract. */
  readonly configAt: (state: ContractState) => Promise<RunConfig>;
}

/** A get method of a contract. */
export interface ContractRun {
  readonly state: ContractState;
  readonly method: string;
  readonly stack: VmStack;
  /** Unix seconds. */
  readonly now: number;
  /** Whether it has to answer the same at another time and by other dice. */
  readonly steady: boolean;
}

/** What a result may take, as a bag of cells. No token needs so much, and all that is told of contracts is kept. */
const MOST_RESULT_BYTES = 64 * 1024;

const OUT_OF_GAS = -14;
const NO_CODE = -13;
/** The other time is a day and a bit later, the other dice are not all zero. */
const LATER = 100_000;
const DICE = new Uint8Array(32).fill(0xa5);

/** Runs get methods for who wants to know what contracts are. */
export class ContractRuns {
  readonly #modules: ContractRunsModules;
  #count = 0;

  constructor(modules: ContractRunsModules) {
    this.#modules = modules;
  }

  /** How many were run. */
  get count(): number {
    return this.#count;
  }

  /**
   * The stack that a get method leaves.
   *
   * @throws contract-data/method-failed; indexer/contract-out-of-gas, indexer/contract-too-large, indexer/contract-unsteady, and
   *   tvm/* for what the machine will not do
   */
  async run(run: ContractRun): Promise<VmStack> {
    const first = await this.#once(run, run.now, null);
    if (!run.steady) return first.stack;
    const second = await this.#once(run, run.now + LATER, DICE);
    if (bytesEqual(first.bytes, second.bytes)) return first.stack;
    throw indexerErrors['contract-unsteady']({ address: run.state.address.toRaw(), method: run.method });
  }

  async #once({ state, method, stack }: ContractRun, now: number, rand_seed: Uint8Array | null) {
    const { tvm, libraries, configAt } = this.#modules;
    const { running, balance, extra_currencies } = state;
    const address = state.address.toRaw();
    if (running === null) throw contractDataErrors['method-failed']({ address, method, exit_code: NO_CODE });
    const { config, prevBlocks } = await configAt(state);
    const pool = await tvm();
    this.#count++;
    const result = await pool.runGetMethod({
      ...{ code: running.code.cell, data: running.data, method, stack, now, balance, extra_currencies, config },
      address: state.address,
      prev_blocks_info: prevBlocks,
      ...(rand_seed === null ? {} : { rand_seed }),
      resolveLibrary: (hashes) => Promise.all(hashes.map((hash) => libraries.find(hash))),
    });
    const { exit_code } = result;
    if (exit_code === OUT_OF_GAS) throw indexerErrors['contract-out-of-gas']({ address, method });
    if (exit_code !== 0 && exit_code !== 1) {
      throw contractDataErrors['method-failed']({ address, method, exit_code });
    }
    return { stack: result.stack, bytes: boundedBytes(result.stack, address, method) };
  }
}

function boundedBytes(stack: VmStack, address: string, method: string): Uint8Array {
  const bytes = serializeBoc(encodeCell(VmStack, stack));
  if (bytes.length <= MOST_RESULT_BYTES) return bytes;
  throw indexerErrors['contract-too-large']({ address, method, bytes: bytes.length, most: MOST_RESULT_BYTES });
}

import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { type BlockRules, blockRules } from '#localnet/producer/block-rules.js';
import type { ValidatorKey } from '#localnet/producer/masterchain/sign-block.js';
import type { MasterchainView } from '#localnet/producer/masterchain-view.js';
import type { MessageFaults } from '#localnet/producer/message-faults.js';
import type { ProducerModules } from '#localnet/producer/round-request.js';
import { TransactionRunner } from '#localnet/producer/transaction-runner.js';

/** What all blocks of a round are made with. */
export interface RoundContext {
  readonly modules: ProducerModules;
  readonly key: ValidatorKey;
  readonly view: MasterchainView;
  /** Unix seconds. */
  readonly gen_utime: number;
  readonly full: () => boolean;
  readonly faults: MessageFaults;
  readonly foreignAccount: ((address: Address) => Promise<Cell | null>) | null;
}

/** lt of blocks are multiples of it. */
const LT_STEP = 1_000_000n;

/** Where a block begins: after all of these. */
export function startLt(...ends: readonly bigint[]): bigint {
  const latest = ends.reduce((a, b) => (a > b ? a : b), 1n);
  return ((latest + LT_STEP - 1n) / LT_STEP) * LT_STEP;
}

/** The rules of a workchain's blocks on the newest masterchain block. */
export function rulesOf({ view }: RoundContext, workchain: number): BlockRules {
  return blockRules(view.extra.config.config, workchain);
}

/** What runs the transactions of a block. */
export function runnerOf(
  { modules, view, gen_utime }: RoundContext,
  rules: BlockRules,
  start_lt: bigint,
  rand_seed: Uint8Array,
): TransactionRunner {
  const { foreignLibrary } = modules;
  return new TransactionRunner(
    modules.emulation,
    {
      config: rules.root,
      gen_utime,
      start_lt,
      rand_seed,
      prev_blocks_info: view.previousBlocks(rules.version.version),
      libraries: view.state.totals.value.libraries.root,
      ...(foreignLibrary === undefined
        ? {}
        : { resolveLibrary: (hashes) => Promise.all(hashes.map((hash) => foreignLibrary(hash))) }),
    },
    modules.now,
  );
}

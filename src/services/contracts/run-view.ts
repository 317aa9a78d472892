import type { RunOptions } from '#drivers/tvm/worker-pool.js';
import type { Address } from '#formats/address/address.js';
import { type BlockId, isMasterchain, MASTERCHAIN_SHARD, printPosition } from '#formats/proofs/block-id.js';
import type { AccountStateRead } from '#services/chain/account-state.js';
import type { Call } from '#services/chain/call.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { chainErrors } from '#services/chain/errors.js';
import type { BlockAt } from '#services/chain/read-options.js';
import type { ContractModules } from '#services/contracts/contract-modules.js';
import { contractsErrors } from '#services/contracts/errors.js';
import type { PublishedLibraries } from '#services/contracts/libraries.js';
import type { NetworkConfig, NetworkConfigs } from '#services/contracts/network-config.js';
import type { ContractSettings } from '#services/contracts/options.js';
import type { PrevBlocks } from '#services/contracts/prev-blocks.js';

/** What runs are made of. */
export interface RunModules extends ContractModules {
  readonly configs: NetworkConfigs;
  readonly libraries: PublishedLibraries;
  readonly prevBlocks: PrevBlocks;
}

/** What a contract sees of the network: a masterchain block and the configuration after it. */
export interface RunView {
  readonly block: BlockId;
  readonly config: NetworkConfig;
}

/** An account as a run begins with it. */
export interface AccountView extends AccountStateRead {
  /** Unix seconds: the time of the account's shard block, which contracts see as now. */
  readonly shard_utime: number;
}

/**
 * The block that a question is about, with its configuration. Contracts see the configuration of the block that was asked
 * for. The references take that of the newest block also for the past, which mixes two moments: nothing that once ran on
 * the chain ran so.
 *
 * @throws chain/*, lite/*
 */
export async function runView(
  call: Call,
  at: BlockAt = 'head',
  { chain, configs }: Pick<RunModules, 'chain' | 'configs'>,
): Promise<RunView> {
  if (at === 'head') {
    const { block, header } = await chain.head(call.rest());
    return { block, config: await configs.at(call, block, header) };
  }
  if (typeof at === 'object') {
    if (!isMasterchain(at)) throw chainErrors['masterchain-only']({ block: printPosition(at) });
    const block = await chain.blockId(at, call.rest());
    return { block, config: await configs.at(call, block, null) };
  }
  const known = configs.covers(at);
  if (known !== null) return { block: await chain.blockId(at, call.rest()), config: known };
  const { block, header } = await chain.findBlock({ ...MASTERCHAIN_SHARD, by: 'seqno', seqno: at }, call.rest());
  return { block, config: await configs.at(call, block, header) };
}

/** Nobody can have an account in a workchain that there is not. @throws contracts/no-workchain */
export function checkWorkchain({ workchain }: Address, { block, config }: RunView): void {
  if (config.workchains.has(workchain)) return;
  throw contractsErrors['no-workchain']({ workchain, block: printPosition(block) });
}

/** The account at the block of a view. @throws contracts/no-workchain, chain/*, lite/* */
export async function accountView(
  call: Call,
  address: Address,
  view: RunView,
  chain: ChainReads,
): Promise<AccountView> {
  checkWorkchain(address, view);
  const read = await chain.account(address, { at: view.block, ...call.rest() });
  const { shard_utime } = read;
  if (shard_utime !== null) return { ...read, shard_utime };
  throw contractsErrors['no-workchain']({ workchain: address.workchain, block: printPosition(view.block) });
}

/** How long a run may take, and what calls it off. @throws chain/deadline, chain/aborted */
export function runOptions(call: Call, { runTimeoutMs }: ContractSettings): RunOptions {
  const { deadlineMs = runTimeoutMs, signal } = call.rest();
  const timeoutMs = Math.ceil(Math.min(runTimeoutMs, deadlineMs));
  return signal === undefined ? { timeoutMs } : { timeoutMs, signal };
}

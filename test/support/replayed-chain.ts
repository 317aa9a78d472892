import type { BlockId } from '#formats/proofs/block-id.js';
import type { Clock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { answerLiteQuery } from '#localnet/liteserver/answer.js';
import type { ReplayLedger } from '#localnet/replay/replay-ledger.js';
import { Chain, type ChainOptions } from '#services/chain/chain.js';
import { KeyBlockMemory } from '#services/chain/key-blocks.js';
import { type DirectServer, DirectSource } from '#test/support/direct-source.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { keptReplay } from '#test/support/kept-replay.js';

/** A server of a recorded chain. */
export function replayServer(ledger: ReplayLedger, clock: Clock = new FakeClock()): DirectServer {
  return async (query) => (await answerLiteQuery(query, { ledger, clock, unixTime: () => 1_800_000_000 }))!;
}

/** Reads of a recorded chain, straight from the files. */
export interface ReplayedChain {
  readonly ledger: ReplayLedger;
  readonly chain: Chain;
  readonly source: DirectSource;
  readonly clock: FakeClock;
  readonly zerostate: BlockId;
}

export function replayedChain(folder: string, head: number | null = null): ReplayedChain {
  const ledger = keptReplay(folder, { to: null, head });
  return { ledger, ...chainOver(ledger.zerostate, [replayServer(ledger)]) };
}

/** Reads over servers. */
export function chainOver(
  zero_state: BlockId,
  servers: readonly DirectServer[],
  options: Partial<ChainOptions> = {},
): Omit<ReplayedChain, 'ledger'> {
  const clock = new FakeClock();
  const source = new DirectSource(...servers);
  const modules = { source, clock, keyBlocks: new KeyBlockMemory(), logger: silentLogger };
  const chain = new Chain({ zero_state, ...options }, modules);
  return { chain, source, clock, zerostate: zero_state };
}

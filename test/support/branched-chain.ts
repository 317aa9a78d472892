import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BlockId } from '#formats/proofs/block-id.js';
import { systemClock } from '#kernel/clock.js';
import { LiveLedger } from '#localnet/ledger/live-ledger.js';
import { answerLiteQuery } from '#localnet/liteserver/answer.js';
import type { DirectServer } from '#test/support/direct-source.js';
import { ProducerChain } from '#test/support/producer-chain.js';
import { startTvm } from '#test/support/tvm-pool.js';

/** A branch of a chain: a network of its own, which grows on demand. */
interface ChainBranch {
  readonly server: DirectServer;
  /** Produces masterchain blocks until the head has this seqno. */
  growTo(seqno: number): Promise<void>;
  id(seqno: number): BlockId;
}

/** Two networks from one genesis with the same validators, equal up to a block and different after it. */
export interface BranchedChain {
  readonly zerostate: BlockId;
  readonly first: ChainBranch;
  readonly second: ChainBranch;
  close(): Promise<void>;
}

/** @param common the last masterchain block that both have */
export async function branchedChain(common: number): Promise<BranchedChain> {
  const tvm = await startTvm({ workers: 1 });
  const folder = await mkdtemp(join(tmpdir(), 'tern-branches-'));
  const ledgers: LiveLedger[] = [];
  const branch = async (name: string, lateSeconds: number): Promise<ChainBranch> => {
    const chain = new ProducerChain(tvm);
    const ledger = LiveLedger.create(join(folder, name), chain.genesis);
    ledgers.push(ledger);
    const growTo = async (seqno: number): Promise<void> => {
      while ((ledger.head?.id.seqno ?? 0) < seqno) ledger.append((await chain.round()).bundle);
    };
    await growTo(common);
    chain.now += lateSeconds;
    return {
      growTo,
      server: async (query) =>
        (await answerLiteQuery(query, { ledger, clock: systemClock, unixTime: () => chain.now }))!,
      id: (seqno) => ledger.lookup({ workchain: -1, shard: 1n << 63n, by: 'seqno', seqno })!.id,
    };
  };
  const [first, second] = [await branch('first', 0), await branch('second', 100)];
  return {
    ...{ zerostate: ledgers[0]!.zerostate, first, second },
    close: async () => {
      for (const ledger of ledgers) ledger.close();
      await tvm.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

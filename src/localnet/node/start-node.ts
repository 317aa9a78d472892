import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { Faucet } from '#localnet/faucet/faucet.js';
import { LiveLedger } from '#localnet/ledger/live-ledger.js';
import { startLiteserver } from '#localnet/liteserver/server.js';
import { ForkedAccounts } from '#localnet/node/forked-accounts.js';
import { LiveNode } from '#localnet/node/live-node.js';
import { MessageCheck } from '#localnet/node/message-check.js';
import { MessageIntake } from '#localnet/node/message-intake.js';
import { MessagePool } from '#localnet/node/message-pool.js';
import { NetworkTime } from '#localnet/node/network-time.js';
import type { LiveNodeModules, LiveNodeOptions, NodeAddress } from '#localnet/node/options.js';
import { RoundLoop } from '#localnet/node/round-loop.js';
import { RoundProducer } from '#localnet/producer/round-producer.js';

/** A node that runs: its chain grows, and its liteserver listens. */
export interface StartedNode {
  readonly node: LiveNode;
  readonly address: NodeAddress;
  /** Ends it; no block is lost. */
  readonly close: () => Promise<void>;
}

/** Clients find no workchain before. */
const FIRST_BLOCKS = 2;

/**
 * Opens the chain in a folder, or makes a new one there, and begins to make blocks.
 * @throws ledger/*, genesis/*, adnl/listen-failed, tvm/not-started
 */
export async function startNode(options: LiveNodeOptions, modules: LiveNodeModules): Promise<StartedNode> {
  const { clock, logger } = modules;
  const ledger = LiveLedger.exists(options.folder)
    ? LiveLedger.open(options.folder)
    : LiveLedger.create(options.folder, modules.makeGenesis());
  const tvm = new TvmPool({ workers: options.tvmWorkers, spares: 0 }, { clock, logger });
  try {
    await tvm.start();
    return await serve(ledger, tvm, options, modules);
  } catch (error) {
    await tvm.close();
    ledger.close();
    throw error;
  }
}

async function serve(
  ledger: LiveLedger,
  tvm: TvmPool,
  options: LiveNodeOptions,
  modules: LiveNodeModules,
): Promise<StartedNode> {
  const { clock, unixTimeMs, random, randomBytes, logger } = modules;
  const time = new NetworkTime(unixTimeMs);
  time.continueFrom(decodeCell(ShardStateUnsplit, ledger.tip.masterchain.state).gen_utime);
  const now = (): number => time.now();
  const foreign =
    modules.foreign === undefined
      ? null
      : new ForkedAccounts({ folder: options.folder, ledger, source: modules.foreign, logger });
  const pool = new MessagePool(clock);
  const producer = new RoundProducer({
    emulation: tvm,
    validatorSeed: ledger.genesis.validatorSeed,
    signatureKind: options.signatureKind,
    randomBytes,
    now: () => clock.now(),
    ...foreign?.forRuns,
  });
  const loop = new RoundLoop(options, {
    clock,
    time,
    pool,
    zerostates: ledger.zerostates,
    tip: () => ledger.tip,
    produce: (request) => producer.produce(request),
    append: (round) => {
      foreign?.note(round);
      ledger.append(round);
    },
    onProduced: (produced) => {
      modules.onProduced(produced);
      foreign?.publishLent();
    },
    onDropped: (messages) => {
      logger.warn('messages from outside were given up: no round could be made with them', { messages });
    },
    onTrouble: (error) => {
      const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
      logger.warn('a round of the local network failed', { problem });
    },
  });
  foreign?.use(loop);
  const check = new MessageCheck({ emulation: tvm, tip: () => ledger.tip, now, ...foreign?.forRuns });
  const intake = new MessageIntake(check, pool, loop);
  const faucet = new Faucet(ledger.genesis.wallets[0]!, { now, random });
  while (ledger.tip.masterchain.id.seqno < FIRST_BLOCKS) await loop.round();
  const { host, port } = options.liteserver;
  const server = await startLiteserver(
    { host, port, seed: ledger.genesis.validatorSeed },
    {
      ledger,
      clock,
      unixTime: now,
      randomBytes,
      runGetMethod: (run) => tvm.runInContext(run),
      sendMessage: (body) => intake.take(body),
      ...foreign?.forReads,
      onFault: (error) => {
        if (!isTernError(error)) logger.warn('a query failed', { problem: String(error) });
      },
    },
  );
  if (!options.paused) loop.start();
  const { zerostate, incarnation } = ledger;
  return {
    node: new LiveNode({ ledger, time, loop, intake, faucet, foreign }),
    address: { host, port: server.port, publicKey: server.publicKey, zerostate, incarnation },
    close: async () => {
      await loop.close();
      await server.close();
      await tvm.close();
      ledger.close();
    },
  };
}

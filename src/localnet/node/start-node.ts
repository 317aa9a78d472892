import type { RandomBytes } from '#drivers/adnl/keys.js';
import type { TvmOptions } from '#drivers/tvm/options.js';
import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { isTernError } from '#kernel/tern-error.js';
import type { ForkSource } from '#localnet/fork/fork-source.js';
import type { Genesis } from '#localnet/ledger/genesis.js';
import { LiveLedger } from '#localnet/ledger/live-ledger.js';
import { startLiteserver } from '#localnet/liteserver/server.js';
import { BlockLoop, type BlockLoopOptions } from '#localnet/node/block-loop.js';
import { ExternalMessageIntake } from '#localnet/node/external-intake.js';
import { ExternalMessageCheck, ExternalMessagePool, hasQueuedMessages } from '#localnet/node/external-messages.js';
import { Faucet } from '#localnet/node/faucet.js';
import { ForkedAccounts } from '#localnet/node/forked-accounts.js';
import { LiveNode } from '#localnet/node/live-node.js';
import { NetworkTime } from '#localnet/node/network-time.js';
import { BlockProducer } from '#localnet/producer/block-producer.js';
import type { ProducedBundle, ProducerModules } from '#localnet/producer/block-request.js';

/** A started node: its chain grows, and its liteserver listens. */
export interface StartedNode {
  readonly node: LiveNode;
  readonly address: NodeAddress;
  /** Stops it; no block is lost. */
  readonly close: () => Promise<void>;
}

/** Before that, clients find no workchain. */
const FIRST_BLOCKS = 2;

/** How long the node remembers which codes take long. */
const REMEMBER_MS = 600_000;

/** The transactions in blocks have a thread of their own, so that no message or get method that waits for one delays a block. */
const FOR_BLOCKS: TvmOptions = { workers: 1, nice: 0, spares: 0 };
/** A message that was not checked in this time is refused, before its sender gives up and does not know what became of it. */
const QUEUE_TIMEOUT_MS = 5_000;

const FOR_CLIENTS: TvmOptions = {
  workers: 1,
  spares: 0,
  slowWorkers: 1,
  rememberMs: REMEMBER_MS,
  queueTimeoutMs: QUEUE_TIMEOUT_MS,
};

/**
 * Opens the chain in a folder, or creates one, and starts to produce blocks.
 * @throws ledger/*, genesis/*, adnl/listen-failed, tvm/not-started
 */
export async function startNode(options: LiveNodeOptions, modules: LiveNodeModules): Promise<StartedNode> {
  const { clock, logger } = modules;
  const { folder, replacesChain } = options;
  const ledger =
    !replacesChain && LiveLedger.exists(folder)
      ? LiveLedger.open(folder, { logger })
      : LiveLedger.create(folder, modules.makeGenesis(), { replacesChain, logger });
  const tvm: NodeTvm = {
    blocks: new TvmPool(FOR_BLOCKS, { clock, logger }),
    clients: new TvmPool(FOR_CLIENTS, { clock, logger }),
  };
  try {
    await Promise.all([tvm.blocks.start(), tvm.clients.start()]);
    return await serve(ledger, tvm, options, modules);
  } catch (error) {
    await closeTvm(tvm);
    ledger.close();
    throw error;
  }
}

interface NodeTvm {
  /** Executes the transactions of blocks. */
  readonly blocks: TvmPool;
  /** Executes get methods, and checks external-in messages. */
  readonly clients: TvmPool;
}

async function closeTvm({ blocks, clients }: NodeTvm): Promise<void> {
  await Promise.all([blocks.close(), clients.close()]);
}

async function serve(
  ledger: LiveLedger,
  tvm: NodeTvm,
  options: LiveNodeOptions,
  modules: LiveNodeModules,
): Promise<StartedNode> {
  const { clock, unixTimeMs, random, randomBytes, logger } = modules;
  const time = new NetworkTime(unixTimeMs);
  time.continueFrom(decodeCell(ShardStateUnsplit, ledger.tip.masterchain.state).gen_utime);
  const now = (): number => time.now();
  const forked =
    modules.forkSource === undefined
      ? null
      : new ForkedAccounts({ folder: options.folder, ledger, source: modules.forkSource, logger });
  const pool = new ExternalMessagePool(clock);
  const producer = new BlockProducer({
    emulation: {
      emulateTransaction: (request) => tvm.blocks.emulateTransaction(request),
      emulateTickTock: (request) => tvm.blocks.emulateTickTock(request),
    },
    validatorSeed: ledger.genesis.validatorSeed,
    signatureKind: options.signatureKind,
    randomBytes,
    now: () => clock.now(),
    ...forked?.forExecution,
  });
  const loop = new BlockLoop(options.production, {
    clock,
    time,
    pool,
    zerostates: ledger.zerostates,
    tip: () => ledger.tip,
    produce: (request) => producer.produce(request),
    append: (bundle) => {
      forked?.recordDeleted(bundle);
      ledger.append(bundle);
    },
    hasQueued: () => hasQueuedMessages(ledger.tip),
    onProduced: (produced) => {
      modules.onProduced(produced);
      forked?.publishLentLibraries();
    },
    onDropped: (messages) => {
      logger.warn('external-in messages were dropped: no block could be produced with them', { messages });
    },
    onTrouble: (error) => {
      const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
      logger.warn('block production failed', { problem });
    },
  });
  forked?.setBlockLoop(loop);
  const check = new ExternalMessageCheck({
    // Messages to contracts that take long delay no others.
    execute: (request, { dest }) => tvm.clients.emulateTransaction(request, { client: dest.toRaw() }),
    ...{ tip: () => ledger.tip, now, ...forked?.forExecution },
  });
  const intake = new ExternalMessageIntake(check, pool, loop, modules.onPooled);
  const faucet = new Faucet(ledger.genesis.wallets[0]!, { now, random });
  while (ledger.tip.masterchain.id.seqno < FIRST_BLOCKS) await loop.makeBlock();
  const { host, port } = options.liteserver;
  const server = await startLiteserver(
    { host, port, seed: ledger.genesis.validatorSeed },
    {
      ledger,
      clock,
      unixTime: now,
      randomBytes,
      runGetMethod: (run) => tvm.clients.runInContext(run, { client: toHex(run.code.hash()) }),
      sendMessage: (body) => intake.accept(body),
      ...forked?.forLiteserver,
      onFault: (error) => {
        if (!isTernError(error)) logger.warn('a liteserver query failed', { problem: String(error) });
      },
    },
  );
  if (!options.production.paused) loop.start();
  const { zerostate, incarnation } = ledger;
  return {
    node: new LiveNode({ ledger, time, loop, intake, faucet, forked }),
    address: { host, port: server.port, publicKey: server.publicKey, zerostate, incarnation },
    close: async () => {
      await loop.close();
      await server.close();
      await closeTvm(tvm);
      ledger.close();
    },
  };
}

/** Options of a node; plain data. */
export interface LiveNodeOptions {
  /** Folder of the chain. */
  readonly folder: string;
  /** Whether a new chain takes the place of one that is there; else that one continues. */
  readonly replacesChain: boolean;
  readonly production: BlockLoopOptions;
  readonly liteserver: { readonly host: string; readonly port: number };
  readonly signatureKind: ProducerModules['signatureKind'];
}

/** Dependencies of a node. */
export interface LiveNodeModules {
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly unixTimeMs: () => number;
  /** [0, 1), not necessarily secret. */
  readonly random: () => number;
  readonly randomBytes: RandomBytes;
  readonly logger: Logger;
  /** Creates the genesis of a new chain. */
  readonly makeGenesis: () => Genesis;
  readonly onProduced: (produced: ProducedBundle) => void;
  /** An external-in message was accepted, and waits for a block. @param message BoC */
  readonly onPooled?: (message: Uint8Array) => void;
  /** The network that this one is a fork of. */
  readonly forkSource?: ForkSource;
}

/** Where a node listens, and the identity of its chain; plain data. */
export interface NodeAddress {
  readonly host: string;
  readonly port: number;
  /** 32 bytes */
  readonly publicKey: Uint8Array;
  /** Of the masterchain. */
  readonly zerostate: BlockId;
  /** Of the chain; changes after a reset or when a snapshot is restored. */
  readonly incarnation: string;
}

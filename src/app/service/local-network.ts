import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NamedNetwork } from '#app/config/networks.js';
import { startTogether } from '#app/service/closers.js';
import type { OpenFork } from '#app/service/open-fork.js';
import type { Surroundings } from '#app/service/surroundings.js';
import { parseGlobalConfig } from '#drivers/lite/global-config.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { ForkQuestions } from '#localnet/fork/fork-source.js';
import { globalConfig } from '#localnet/liteserver/global-config.js';
import type { RunningNode } from '#localnet/node/local-node.js';
import type { ForeignQuestion, ForkPlan, RoundCounts } from '#localnet/node/node-messages.js';
import { NodeThread } from '#localnet/node/node-thread.js';
import type { NodeAddress } from '#localnet/node/options.js';

export interface LocalNetworkOptions {
  /** What it is called in metrics and the log. */
  readonly name: string;
  /** Where the chain is kept. */
  readonly folder: string;
  readonly blockTimeMs: number;
  readonly paused: boolean;
  /** Of the liteserver; 0 for one that is free. */
  readonly liteserverPort: number;
  /** What the validator signs. */
  readonly signatures: 'simplex' | 'ordinary';
  /** The network of which this one is a fork, opened. */
  readonly fork: OpenFork | null;
}

/** A local network that runs in a thread of this process. */
export interface RunningLocalNetwork {
  readonly network: NamedNetwork;
  readonly node: RunningNode;
  readonly address: NodeAddress;
  /** The global.config.json for lite clients of others. */
  readonly configFile: string;
  readonly counts: () => RoundCounts;
  /** Rejects when it ends by itself. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';

/** One for blocks, one for what clients ask. */
const TVM_WORKERS = 2;

/**
 * Starts a local network: a chain that grows, in the folder, and a liteserver on this machine.
 * @throws ledger/*, genesis/*, adnl/listen-failed, localnet/thread-lost
 */
export function startLocalNetwork(options: LocalNetworkOptions, modules: Surroundings): Promise<RunningLocalNetwork> {
  return startTogether(async (closers) => {
    const { name, folder, blockTimeMs, paused, liteserverPort, signatures, fork } = options;
    const { logger, unixTimeMs } = modules;
    await mkdir(folder, { recursive: true });
    let counts: RoundCounts = { rounds: 0, transactions: 0, emulateMs: 0, totalMs: 0 };
    const thread = new NodeThread(
      {
        options: {
          folder,
          blockTimeMs,
          paused,
          liteserver: { host: HOST, port: liteserverPort },
          signatureKind: signatures,
          tvmWorkers: TVM_WORKERS,
        },
        genesis: {
          now: Math.max(Math.floor(unixTimeMs() / 1000), fork?.start?.gen_utime ?? 0),
          fork: fork === null ? null : forkPlan(fork),
        },
        hasForeign: fork !== null,
      },
      {
        logger,
        foreign: fork === null ? null : (question) => answerOf(fork.questions, question),
        onProduced: (more) => {
          counts = {
            rounds: counts.rounds + more.rounds,
            transactions: counts.transactions + more.transactions,
            emulateMs: counts.emulateMs + more.emulateMs,
            totalMs: counts.totalMs + more.totalMs,
          };
        },
      },
    );
    closers.add(() => thread.close());
    const address = await thread.started();
    const config = globalConfig(address, address.zerostate);
    const configFile = join(folder, 'global.config.json');
    await writeFile(configFile, config);
    return {
      network: { name, source: configFile, config: parseGlobalConfig(config, configFile) },
      node: thread.node,
      address,
      configFile,
      counts: () => counts,
      ended: thread.ended,
      close: () => closers.close(),
    };
  });
}

/** Whether there is a chain in a folder already. */
export function hasLocalChain(folder: string): boolean {
  return existsSync(join(folder, 'genesis.json'));
}

/** How a fork begins; null where it goes on. */
function forkPlan({ origin, start }: OpenFork): ForkPlan | null {
  if (start === null) return null;
  const { config, end_lt: startLt, global_id: globalId } = start;
  return { origin, config: serializeBoc(config), startLt, globalId };
}

function answerOf(questions: ForkQuestions, question: ForeignQuestion): Promise<Uint8Array | null> {
  switch (question.name) {
    case 'account':
      return questions.account(question.address);
    case 'library':
      return questions.library(question.hash);
    case 'transactions':
      return questions.transactions(question.address, question.from, question.count);
  }
}

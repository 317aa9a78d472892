// The node thread: a node of a local network with its ledger, producer and liteserver.
import { randomBytes } from 'node:crypto';
import { wholeCell } from '#formats/cells/boc-parse.js';
import { systemClock } from '#kernel/clock.js';
import { forwardedLogger, WorkerSide } from '#kernel/worker-side.js';
import { makeGenesis } from '#localnet/genesis/make-genesis.js';
import type { Genesis } from '#localnet/ledger/genesis.js';
import { localnetErrors } from '#localnet/node/errors.js';
import { type NodeThreadContract, type ProducedCounts, plainValues } from '#localnet/node/node-thread.js';
import { producedTransactions } from '#localnet/node/produced-transactions.js';
import { startNode } from '#localnet/node/start-node.js';

const side = new WorkerSide<NodeThreadContract>({
  unexpected: (problem, cause) => localnetErrors['round-failed']({ problem }, cause),
  values: plainValues,
});
const { options, genesis, isFork, reportsTransactions } = side.start;
const random = (size: number): Uint8Array => randomBytes(size);

/** Counts are reported in sums. */
const REPORT_MS = 1_000;

const NO_COUNTS: ProducedCounts = { mcBlocks: 0, transactions: 0, emulateMs: 0, totalMs: 0 };
let counts = NO_COUNTS;

function reportCounts(): void {
  if (counts.mcBlocks > 0) side.notify.produced(counts);
  counts = NO_COUNTS;
}

function makePlannedGenesis(): Genesis {
  const { now, fork } = genesis;
  if (fork === null) return makeGenesis({ now, randomBytes: random });
  const { config, startLt, globalId, origin } = fork;
  const made = makeGenesis({ now, randomBytes: random, config: wholeCell(config), startLt, globalId });
  return { ...made, fork: origin };
}

void side.serve(async () => {
  const { node, address, close } = await startNode(options, {
    clock: systemClock,
    unixTimeMs: Date.now,
    random: Math.random,
    randomBytes: random,
    logger: forwardedLogger(side.notify),
    makeGenesis: makePlannedGenesis,
    onProduced: (produced) => {
      const { transactions, emulateMs, totalMs } = produced.counts;
      counts = {
        mcBlocks: counts.mcBlocks + 1,
        transactions: counts.transactions + transactions,
        emulateMs: counts.emulateMs + emulateMs,
        totalMs: counts.totalMs + totalMs,
      };
      const reported = reportsTransactions ? producedTransactions(produced) : null;
      if (reported !== null) side.notify.reported(reported);
    },
    onPooled: (message) => side.notify.pooled(message),
    ...(isFork ? { forkSource: side.host } : {}),
  });
  const reporting = setInterval(reportCounts, REPORT_MS);
  return {
    ready: address,
    methods: node,
    close: () => {
      clearInterval(reporting);
      return close();
    },
  };
});

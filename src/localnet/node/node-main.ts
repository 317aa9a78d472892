// What the thread of a node runs.
import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { wholeCell } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { systemClock } from '#kernel/clock.js';
import { isTernError, type PlainError, TernError } from '#kernel/tern-error.js';
import type { ForkSource } from '#localnet/fork/fork-source.js';
import { makeGenesis } from '#localnet/genesis/make-genesis.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type { LiveNode } from '#localnet/node/live-node.js';
import {
  type ForkQuery,
  type FromNode,
  fromPlainValue,
  type NodeStart,
  type ProducedCounts,
  type ToNode,
  toPlainValue,
} from '#localnet/node/node-protocol.js';
import { type LiveNodeModules, type StartedNode, startNode } from '#localnet/node/start-node.js';

const { options, genesis, hasForeign } = workerData as NodeStart;
const port = parentPort!;

/** Counts go out in sums. */
const COUNTS_MS = 1_000;

interface Waiting {
  readonly resolve: (bytes: Uint8Array | null) => void;
  readonly reject: (error: Error) => void;
}

const waiting = new Map<number, Waiting>();
let asked = 0;

function say(message: FromNode): void {
  port.postMessage(message);
}

function ask(question: ForkQuery): Promise<Uint8Array | null> {
  return new Promise((resolve, reject) => {
    const id = asked++;
    waiting.set(id, { resolve, reject });
    say({ kind: 'question', id, question });
  });
}

async function askForCell(question: ForkQuery): Promise<Cell | null> {
  const boc = await ask(question);
  return boc === null ? null : wholeCell(boc);
}

const foreign: ForkSource = {
  account: ({ workchain, hash }) => askForCell({ name: 'account', address: { workchain, hash } }),
  library: (hash) => askForCell({ name: 'library', hash }),
  transactions: async ({ workchain, hash }, from, count) =>
    (await ask({ name: 'transactions', address: { workchain, hash }, from, count }))!,
};

function plainOf(error: unknown): PlainError {
  const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return (isTernError(error) ? error : localnetErrors['round-failed']({ problem }, error)).toPlain();
}

const none: ProducedCounts = { rounds: 0, transactions: 0, emulateMs: 0, totalMs: 0 };
let counts = none;

function tellCounts(): void {
  if (counts.rounds > 0) say({ kind: 'produced', counts });
  counts = none;
}

const modules: LiveNodeModules = {
  clock: systemClock,
  unixTimeMs: Date.now,
  random: Math.random,
  randomBytes: (size) => randomBytes(size),
  logger: {
    info: (message, fields = {}) => say({ kind: 'log', level: 'info', message, fields }),
    warn: (message, fields = {}) => say({ kind: 'log', level: 'warn', message, fields }),
  },
  makeGenesis: () => {
    const { now, fork } = genesis;
    const { randomBytes: random } = modules;
    if (fork === null) return makeGenesis({ now, randomBytes: random });
    const { config, startLt, globalId, origin } = fork;
    const made = makeGenesis({ now, randomBytes: random, config: wholeCell(config), startLt, globalId });
    return { ...made, fork: origin };
  },
  onProduced: (produced) => {
    counts = {
      rounds: counts.rounds + 1,
      transactions: counts.transactions + produced.counts.transactions,
      emulateMs: counts.emulateMs + produced.counts.emulateMs,
      totalMs: counts.totalMs + produced.counts.totalMs,
    };
  },
  ...(hasForeign ? { foreign } : {}),
};

async function main(): Promise<void> {
  const early: ToNode[] = [];
  let receive = (message: ToNode): void => void early.push(message);
  port.on('message', (message: ToNode) => {
    if (message.kind === 'answer') waiting.get(message.id)?.resolve(message.bytes);
    else if (message.kind === 'refused') waiting.get(message.id)?.reject(TernError.fromPlain(message.error));
    else receive(message);
    if ('id' in message && message.kind !== 'call') waiting.delete(message.id);
  });
  let started: StartedNode;
  try {
    started = await startNode(options, modules);
  } catch (error) {
    say({ kind: 'failed', error: plainOf(error) });
    port.close();
    return;
  }
  const { node, address, close } = started;
  const telling = setInterval(tellCounts, COUNTS_MS);
  receive = (message) => {
    if (message.kind === 'call') void answer(node, message);
    else if (message.kind === 'close') {
      clearInterval(telling);
      void close().finally(() => port.close());
    }
  };
  say({ kind: 'started', address });
  for (const message of early.splice(0)) receive(message);
}

async function answer(node: LiveNode, { id, method, args }: Extract<ToNode, { kind: 'call' }>): Promise<void> {
  try {
    const call = node[method].bind(node) as (...values: readonly unknown[]) => Promise<unknown>;
    say({ kind: 'result', id, value: toPlainValue(await call(...args.map(fromPlainValue))) });
  } catch (error) {
    say({ kind: 'error', id, error: plainOf(error) });
  }
}

await main();

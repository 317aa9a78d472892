import { Worker } from 'node:worker_threads';
import type { Logger } from '#kernel/logger.js';
import { isTernError, TernError } from '#kernel/tern-error.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type { RunningNode } from '#localnet/node/local-node.js';
import {
  type ForkQuery,
  type FromNode,
  fromPlainValue,
  type NodeStart,
  type ProducedCounts,
  type ToNode,
  toPlainValue,
} from '#localnet/node/node-protocol.js';
import type { NodeAddress } from '#localnet/node/start-node.js';

/** What the thread of a node needs from outside. */
export interface NodeThreadModules {
  readonly logger: Logger;
  readonly onProduced: (counts: ProducedCounts) => void;
  /** Answers from the network that this one is a fork of, cells as BoCs; null: there is no such thing. */
  readonly foreign: ((question: ForkQuery) => Promise<Uint8Array | null>) | null;
}

// In a published package this file is .js and so is the thread's beside it.
const fromSources = import.meta.url.endsWith('.ts');
const entry = new URL(fromSources ? './node-main-source.mjs' : './node-main.js', import.meta.url);
const conditions = fromSources ? ['--conditions=source'] : [];

/** A round may be under way, and the states are written when the chain is closed. */
const GIVE_UP_MS = 2_500;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A node in a thread of its own. */
export class NodeThread {
  readonly #worker: Worker;
  readonly #modules: NodeThreadModules;
  readonly #waiting = new Map<number, Waiting>();
  readonly #started: Promise<NodeAddress>;
  #settleStart: { resolve: (address: NodeAddress) => void; reject: (error: Error) => void } | null = null;
  #asked = 0;
  #closing = false;
  /** Resolves when the thread has ended as it was told to; rejects when it ended by itself. */
  readonly ended: Promise<void>;
  /** The node, from here. */
  readonly node: RunningNode;

  constructor(start: NodeStart, modules: NodeThreadModules) {
    this.#modules = modules;
    this.node = this.#proxy();
    this.#started = new Promise((resolve, reject) => {
      this.#settleStart = { resolve, reject };
    });
    this.#started.catch(() => {});
    this.#worker = new Worker(entry, { workerData: start, execArgv: conditions });
    this.#worker.on('message', (message: FromNode) => this.#receive(message));
    let problem: string | null = null;
    this.#worker.on('error', (error) => {
      problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
    });
    this.ended = new Promise((resolve, reject) => {
      this.#worker.once('exit', (code) => {
        const lost = localnetErrors['thread-lost']({ problem: problem ?? `its thread ended with code ${code}` });
        const reason = this.#closing ? localnetErrors.closing({}) : lost;
        this.#settleStart?.reject(reason);
        for (const { reject: refuse } of this.#waiting.values()) refuse(reason);
        this.#waiting.clear();
        if (this.#closing) resolve();
        else reject(lost);
      });
    });
    this.ended.catch(() => {});
  }

  /** Resolves when the liteserver listens. @throws ledger/*, genesis/*, adnl/*, localnet/thread-lost */
  started(): Promise<NodeAddress> {
    return this.#started;
  }

  /** Ends it: no block is lost, nor any message that is in one. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#say({ kind: 'close' });
    const giveUp = setTimeout(() => void this.#worker.terminate(), GIVE_UP_MS);
    await this.ended.catch(() => {});
    clearTimeout(giveUp);
  }

  #proxy(): RunningNode {
    const call = (method: keyof RunningNode, args: readonly unknown[]): Promise<unknown> => {
      if (this.#closing) return Promise.reject(localnetErrors.closing({}));
      return new Promise((resolve, reject) => {
        const id = this.#asked++;
        this.#waiting.set(id, { resolve, reject });
        this.#say({ kind: 'call', id, method, args: args.map(toPlainValue) });
      });
    };
    return new Proxy({} as RunningNode, {
      get: (_, method) =>
        method === 'then' ? undefined : (...args: readonly unknown[]) => call(method as keyof RunningNode, args),
    });
  }

  #receive(message: FromNode): void {
    const { logger, onProduced } = this.#modules;
    switch (message.kind) {
      case 'started':
        this.#settleStart?.resolve(message.address);
        this.#settleStart = null;
        return;
      case 'failed':
        this.#settleStart?.reject(TernError.fromPlain(message.error));
        this.#settleStart = null;
        return;
      case 'result':
        this.#take(message.id)?.resolve(fromPlainValue(message.value));
        return;
      case 'error':
        this.#take(message.id)?.reject(TernError.fromPlain(message.error));
        return;
      case 'question':
        void this.#answer(message.id, message.question);
        return;
      case 'produced':
        onProduced(message.counts);
        return;
      case 'log':
        logger[message.level](message.message, message.fields);
    }
  }

  async #answer(id: number, question: ForkQuery): Promise<void> {
    try {
      this.#say({ kind: 'answer', id, bytes: (await this.#modules.foreign?.(question)) ?? null });
    } catch (error) {
      const known = isTernError(error) ? error : localnetErrors['round-failed']({ problem: String(error) }, error);
      this.#say({ kind: 'refused', id, error: known.toPlain() });
    }
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #say(message: ToNode): void {
    this.#worker.postMessage(message);
  }
}

// What a thread runs that looks at contracts, over connections and with virtual machines of its own.
import { parentPort, workerData } from 'node:worker_threads';
import { DNS_ROOTS } from '#domain/contracts/dns-domain.js';
import { CandidateInterfaces, contractInterfaces } from '#domain/contracts/interface-registry.js';
import { Database } from '#drivers/store/database.js';
import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { parseAddress } from '#formats/address/address.js';
import { systemClock } from '#kernel/clock.js';
import { isTernError, TernError } from '#kernel/tern-error.js';
import { ContractCodes, PublishedLibraryCache } from '#services/indexer/contracts/contract-accounts.js';
import { ConfigsAtBlock, ContractMethodRunner } from '#services/indexer/contracts/contract-methods.js';
import { DetectLoop } from '#services/indexer/contracts/detect-loop.js';
import type {
  DetectionChain,
  DetectionQuery,
  DetectStart,
  FromDetector,
  ToDetector,
} from '#services/indexer/contracts/detect-protocol.js';
import { ContractDetector } from '#services/indexer/contracts/detector.js';
import { indexerErrors } from '#services/indexer/errors.js';

const { url, tvmWorkers, selected, dnsRoots } = workerData as DetectStart;
const port = parentPort!;

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

function say(message: FromDetector): void {
  port.postMessage(message);
}

const waiting = new Map<number, Waiting>();
let asked = 0;

function ask<Answer>(question: DetectionQuery): Promise<Answer> {
  return new Promise<Answer>((resolve, reject) => {
    const id = asked++;
    waiting.set(id, { resolve, reject });
    say({ kind: 'question', id, question });
  });
}

const chain: DetectionChain = {
  config: (of) => ask({ name: 'config', of }),
  library: (of) => ask({ name: 'library', of }),
  account: (of) => ask({ name: 'account', of }),
};

/** One that waits for long waits behind others; each of them has its own time. */
const QUEUE_MS = 3_600_000;

let tvm: Promise<TvmPool> | null = null;

/** 60 MB for each worker, which an index without code that must be run does not need. */
function startTvm(): Promise<TvmPool> {
  tvm ??= (async () => {
    const pool = new TvmPool({ workers: tvmWorkers, queueTimeoutMs: QUEUE_MS }, { clock: systemClock });
    await pool.start();
    return pool;
  })();
  tvm.catch(() => {
    tvm = null;
  });
  return tvm;
}

function plainOf(error: unknown) {
  const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return (isTernError(error) ? error : indexerErrors.unexpected({ problem })).toPlain();
}

const clock = systemClock;
const unixTime = () => Math.floor(Date.now() / 1000);
const logger = {
  info: (message: string, fields = {}) => say({ kind: 'log', level: 'info', message, fields }),
  warn: (message: string, fields = {}) => say({ kind: 'log', level: 'warn', message, fields }),
};

/** The database need not be there when the thread starts: connections are made when they are used. */
async function main(): Promise<void> {
  const early: ToDetector[] = [];
  let receive = (message: ToDetector): void => void early.push(message);
  port.on('message', (message: ToDetector) => receive(message));
  say({ kind: 'started' });
  let database: Database;
  try {
    database = await Database.open({ url, writeConnections: 3, readConnections: 1 }, { clock });
  } catch (error) {
    say({ kind: 'ended', error: plainOf(error) });
    port.close();
    return;
  }
  const libraries = new PublishedLibraryCache(chain, clock);
  const codes = new ContractCodes(libraries);
  const configs = new ConfigsAtBlock(database, chain, clock);
  const runs = new ContractMethodRunner({ tvm: startTvm, libraries, configAt: (state) => configs.at(state) });
  const roots = dnsRoots.map(({ collection, zone }) => ({ zone, collection: parseAddress(collection).address }));
  const kinds = new CandidateInterfaces(contractInterfaces([...DNS_ROOTS, ...roots]));
  const detector = new ContractDetector({
    ...{ database, clock, unixTime, chain, codes, libraries, runs, logger },
    kindsOf: (codeHash, methodIds) => kinds.of(codeHash, methodIds),
    keepsForeign: !selected,
    onPostponed: (error) => say({ kind: 'postponed', error: plainOf(error) }),
  });
  const loop = new DetectLoop({
    ...{ detector, database, clock, unixTime },
    onLooked: (sums) => say({ kind: 'looked', sums }),
    onQueued: (queued) => say({ kind: 'queued', queued }),
    onIdle: (number, queued, soon) => say({ kind: 'idle', number, queued, soon }),
    onTrouble: (error) => say({ kind: 'trouble', error: plainOf(error) }),
  });
  receive = (message) => {
    switch (message.kind) {
      case 'pace':
        loop.setPace(message.pace);
        return;
      case 'wake':
        loop.wake(message.number);
        return;
      case 'answer':
        waiting.get(message.id)?.resolve(message.value as never);
        waiting.delete(message.id);
        return;
      case 'refused':
        waiting.get(message.id)?.reject(TernError.fromPlain(message.error));
        waiting.delete(message.id);
        return;
      case 'stop':
        loop.stop();
    }
  };
  for (const message of early.splice(0)) receive(message);
  await loop.run();
  await Promise.all([database.close(), tvm?.then((pool) => pool.close()).catch(() => {})]);
  port.close();
}

await main();

import { parentPort, workerData } from 'node:worker_threads';
import { Database } from '#drivers/store/database.js';
import { systemClock } from '#kernel/clock.js';
import { isTernError, TernError } from '#kernel/tern-error.js';
import { indexerErrors } from '#services/indexer/errors.js';
import { BatchWriter } from '#services/indexer/write/batch-writer.js';
import {
  type FromThread,
  type ThreadStart,
  type ToThread,
  unpackBundles,
} from '#services/indexer/write/thread-protocol.js';

// What a thread runs that makes rows of rounds and writes them, over a connection of its own.

const { url, partition_rounds, accounts } = workerData as ThreadStart;
const port = parentPort!;

interface Waiting<Value> {
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
}

let turn: Waiting<void> | null = null;
const versions = new Map<number, Waiting<number>>();
let writer: BatchWriter | null = null;

function say(message: FromThread): void {
  port.postMessage(message);
}

/** The database need not be there when the thread starts. */
async function openWriter(): Promise<BatchWriter> {
  const database = await Database.open({ url, writeConnections: 1, readConnections: 1 }, { clock: systemClock });
  const options = { partition_rounds, accounts: accounts === null ? null : new Set(accounts) };
  const globalVersion = (key_block: number): Promise<number> =>
    new Promise((resolve, reject) => {
      versions.set(key_block, { resolve, reject });
      say({ kind: 'version', key_block });
    });
  return new BatchWriter(options, { database, clock: systemClock, globalVersion });
}

function waitForTurn(): Promise<void> {
  return new Promise((resolve, reject) => {
    turn = { resolve, reject };
    say({ kind: 'turn' });
  });
}

async function write({ packed, zerostates, alone }: Extract<ToThread, { kind: 'batch' }>): Promise<void> {
  try {
    writer ??= await openWriter();
    const report = await writer.write(
      { rounds: unpackBundles(packed), zerostates },
      { exclusive: alone, awaitPrevious: waitForTurn },
    );
    say({ kind: 'done', report });
  } catch (error) {
    const known = isTernError(error)
      ? error
      : indexerErrors.unexpected({ problem: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    say({ kind: 'failed', error: known.toPlain() });
  }
}

port.on('message', (message: ToThread) => {
  if (message.kind === 'batch') {
    void write(message);
  } else if (message.kind === 'turn') {
    const waiting = turn;
    turn = null;
    if (message.refused === null) waiting?.resolve();
    else waiting?.reject(TernError.fromPlain(message.refused));
  } else {
    const { key_block, version } = message;
    const waiting = versions.get(key_block);
    versions.delete(key_block);
    if (typeof version === 'number') waiting?.resolve(version);
    else waiting?.reject(TernError.fromPlain(version));
  }
});
say({ kind: 'started' });

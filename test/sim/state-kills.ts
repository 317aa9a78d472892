import { spawn } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { exportStates } from '#localnet/replay/state-export.js';
import { Random } from '#test/fuzz/random.js';
import { differences, emptyIndex, type IndexUnderWay } from './index-ground.js';
import type { RecordedNetwork } from './recorded-network.js';

export interface StateKillOptions {
  readonly network: RecordedNetwork;
  readonly kills: number;
  readonly seed: string;
  /** The program of `tern`. */
  readonly program: string;
  readonly say: (line: string) => void;
}

export interface StateKillReport {
  readonly kills: number;
  /** Kills before the first account was written, and later. */
  readonly before: number;
  readonly during: number;
  /** What is not as in the run that nothing interrupted. */
  readonly differences: readonly string[];
}

/** Imports the states at the head, killing the process at random instants, and compares the rows with those of one that was not killed. */
export async function killStateImports(options: StateKillOptions): Promise<StateKillReport> {
  const { network, seed, kills, say } = options;
  const random = new Random(seed);
  const folder = join(network.folder, 'states');
  exportStates(network.ledger, network.last, folder, 4);
  const reference = await emptyIndex(network);
  const found: string[] = [];
  let [done, before, during] = [0, 0, 0];
  try {
    const began = performance.now();
    await runImport(options, reference, folder, null);
    const longest = performance.now() - began;
    say(`state: not interrupted, ${Math.round(longest)} ms`);
    while (done < kills) {
      const index = await emptyIndex(network);
      try {
        // Each process does a part of the work.
        while (done < kills && (await runImport(options, index, folder, (random.below(1000) / 1000) * longest))) {
          done++;
          if ((await accountsOf(index)) === 0) before++;
          else during++;
        }
        if (await runImport(options, index, folder, null)) found.push('an import that nobody killed was killed');
        found.push(...(await differences(reference.client, index.client)));
      } finally {
        await index.close();
      }
    }
  } finally {
    await reference.close();
  }
  return { kills: done, before, during, differences: found };
}

/** @param killAfterMs null: it is not killed @returns whether it was killed */
async function runImport(
  { program, network }: StateKillOptions,
  index: IndexUnderWay,
  folder: string,
  killAfterMs: number | null,
): Promise<boolean> {
  const database = ['--network', network.config, '--database-url', index.url, '--data', index.data];
  const args = [program, 'index', ...database, '--state', folder, '--log-level', 'silent'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  child.stderr.on('data', (piece: Buffer) => {
    text += piece.toString();
  });
  const ended = new Promise<{ readonly code: number | null }>((resolve) =>
    child.once('close', (code) => resolve({ code })),
  );
  const killed = killAfterMs === null ? null : delay(killAfterMs).then(() => child.kill('SIGKILL'));
  const { code } = await ended;
  await killed;
  if (code === null) return true;
  if (code !== 0) throw new Error(`tern index --state ended with code ${code}: ${text}`);
  return false;
}

async function accountsOf({ client }: IndexUnderWay): Promise<number> {
  try {
    return Number((await client.query('SELECT count(*) FROM accounts')).rows[0].count);
  } catch {
    // There is no such table yet.
    return 0;
  }
}

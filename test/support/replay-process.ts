import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const tern = fileURLToPath(new URL('../../bin/tern.js', import.meta.url));
const START_MS = 300_000;

/** A `tern replay` that runs. */
export class ReplayProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;

  private constructor(child: ChildProcess, ended: Promise<void>) {
    this.#child = child;
    this.#ended = ended;
  }

  /**
   * Starts it, and resolves when it has written its configuration, which is when it listens.
   *
   * @param config where the configuration goes
   * @param flags others
   */
  static async start(folder: string, config: string, flags: readonly string[] = []): Promise<ReplayProcess> {
    const args = [tern, 'replay', folder, '--listen', '127.0.0.1:0', '--config-out', config, ...flags];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let problem: string | null = null;
    const ended = new Promise<void>((resolve) => {
      child.on('error', (error) => {
        problem = error.message;
        resolve();
      });
      child.on('exit', (code, signal) => {
        problem ??= `it ended (${signal ?? `exit ${code}`})`;
        resolve();
      });
    });
    const listens = new Promise<void>((resolve) => child.stdout!.once('data', () => resolve()));
    child.stdout!.resume();
    const replay = new ReplayProcess(child, ended);
    const late = new AbortController();
    await Promise.race([listens, ended, delay(START_MS, undefined, { signal: late.signal }).catch(() => {})]);
    late.abort();
    if (problem === null && existsSync(config)) return replay;
    await replay.close();
    throw new Error(`tern replay ${folder} did not start: ${problem ?? `nothing within ${START_MS / 1000} s`}`);
  }

  /** Its number. */
  get pid(): number {
    return this.#child.pid!;
  }

  /** Ends it, by force when it takes too long. */
  async close(): Promise<void> {
    this.#child.kill('SIGTERM');
    const killTimer = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    await this.#ended;
    clearTimeout(killTimer);
  }
}

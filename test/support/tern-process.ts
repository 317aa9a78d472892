import { type ChildProcess, spawn } from 'node:child_process';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from '#app/cli/command-line.js';
import { builtProgram } from '#test/support/built-program.js';

/** The published form, where it has been built: what is measured is that. */
export const BUILT_TERN = fileURLToPath(new URL('../../dist/app/cli/main.js', import.meta.url));
const START_MS = 300_000;

/** How a process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A `tern` that runs. */
export class TernProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<Ending>;
  /** What it has written. */
  out = '';
  err = '';

  private constructor(args: readonly string[], environment: NodeJS.ProcessEnv, program: string) {
    const env = { ...process.env, ...environment };
    this.#child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stdout!.on('data', (text) => {
      this.out += text;
    });
    this.#child.stderr!.on('data', (text) => {
      this.err += text;
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => resolve({ code, signal }));
    });
  }

  /** Starts it, and resolves when what it has written satisfies `isReady`. */
  static async start(
    args: readonly string[],
    isReady: (running: TernProcess) => boolean,
    environment: NodeJS.ProcessEnv = {},
    program?: string,
  ): Promise<TernProcess> {
    const running = new TernProcess(args, environment, program ?? (await builtProgram()));
    let ending: Ending | null = null;
    void running.#ended.then((how) => {
      ending = how;
    });
    for (const until = Date.now() + START_MS; !isReady(running); await delay(20)) {
      if (ending === null && Date.now() < until) continue;
      const how = JSON.stringify(ending ?? 'it still ran');
      await running.kill();
      throw new Error(`tern ${args.join(' ')} did not start: ${how} ${running.out}${running.err}`);
    }
    return running;
  }

  /** Sends a signal, and resolves when it has ended. */
  async end(signal: NodeJS.Signals): Promise<Ending> {
    this.#child.kill(signal);
    return this.#ended;
  }

  /** Sends a signal and does not wait. */
  send(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Its number. */
  get pid(): number {
    return this.#child.pid!;
  }

  get ended(): Promise<Ending> {
    return this.#ended;
  }

  /** Ends it, by force when it takes too long. */
  async kill(): Promise<void> {
    this.#child.kill('SIGTERM');
    const killTimer = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    await this.#ended;
    clearTimeout(killTimer);
  }
}

/** Runs a command line to its end, in this process; without the environment of it. */
export async function runTern(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  let stdout = '';
  let stderr = '';
  const output = {
    out: (text: string) => {
      stdout += text;
    },
    err: (text: string) => {
      stderr += text;
    },
  };
  const status = await runCommandLine(args, output, environment);
  return { status, stdout, stderr };
}

import { type ChildProcess, spawn } from 'node:child_process';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const tern = fileURLToPath(new URL('../../bin/tern.js', import.meta.url));
const START_MS = 60_000;
const END_MS = 15_000;

/** A `tern dev` or `tern serve` in a process of its own. */
export class TernProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  /** Where it listens, without a slash at the end: the first address that it printed. */
  readonly url: string;

  private constructor(child: ChildProcess, ended: Promise<number | null>, url: string) {
    this.#child = child;
    this.#ended = ended;
    this.url = url;
  }

  /** Starts it, and resolves when `/readyz` says that it is ready. */
  static async start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<TernProcess> {
    const child = spawn(process.execPath, [tern, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    let output = '';
    let errors = '';
    const ended = new Promise<number | null>((resolve) => {
      child.on('error', (error) => {
        errors += error.message;
        resolve(null);
      });
      child.on('exit', (code) => resolve(code));
    });
    child.stderr!.on('data', (chunk) => {
      errors = `${errors}${chunk}`.slice(-4_000);
    });
    const address = new Promise<string>((resolve) => {
      child.stdout!.on('data', (chunk) => {
        output = `${output}${chunk}`.slice(0, 10_000);
        const url = /https?:\/\/[^\s/]+/.exec(output)?.[0];
        if (url !== undefined) resolve(url);
      });
    });
    const late = AbortSignal.timeout(START_MS);
    const failed = Promise.race([ended, delay(START_MS, null, { ref: false })]).then(() => null);
    const url = await Promise.race([address, failed]);
    const started = url === null ? null : new TernProcess(child, ended, url);
    while (started !== null && child.exitCode === null && !late.aborted) {
      const ready = await fetch(`${started.url}/readyz`).catch(() => null);
      if (ready?.ok === true) return started;
      await delay(50);
    }
    child.kill('SIGKILL');
    throw new Error(`tern ${args.join(' ')} did not get ready: ${errors || output || 'it said nothing'}`);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** CPU time that it has taken so far, all threads together, in milliseconds; as `/metrics` tells it. */
  async cpuMs(): Promise<number> {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    const seconds = /^process_cpu_seconds_total(?:\{[^}]*\})? (\S+)/m.exec(text)?.[1];
    if (seconds === undefined) throw new Error('there is no process_cpu_seconds_total in /metrics');
    return Number(seconds) * 1000;
  }

  /** Resident memory, in bytes; as `/metrics` tells it. */
  async residentBytes(): Promise<number> {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    return Number(/^process_resident_memory_bytes(?:\{[^}]*\})? (\S+)/m.exec(text)?.[1]);
  }

  /** Ends it as an operator would, by force when it takes too long; the exit code. */
  async close(): Promise<number | null> {
    this.#child.kill('SIGTERM');
    const patience = setTimeout(() => this.#child.kill('SIGKILL'), END_MS);
    const code = await this.#ended;
    clearTimeout(patience);
    return code;
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import { type Ending, TernProcess } from '#test/support/tern-process.js';

const READY_MS = 120_000;

/** A `tern dev` or `tern serve` that listens and is ready. */
export class ServedTern {
  readonly #process: TernProcess;
  /** Where it listens, without a slash at the end: the first address that it printed. */
  readonly url: string;

  private constructor(running: TernProcess, url: string) {
    this.#process = running;
    this.url = url;
  }

  /**
   * Starts it, and resolves when `/readyz` says that it is ready.
   *
   * @param program in place of the `tern` of this checkout
   * @param waits false: resolves as soon as it listens
   */
  static async start(
    args: readonly string[],
    program?: string,
    environment: NodeJS.ProcessEnv = {},
    waits = true,
  ): Promise<ServedTern> {
    const address = ({ out, err }: TernProcess): string | undefined =>
      /https?:\/\/[\w.:[\]]+/.exec(`${out}${err}`)?.[0];
    const running = await TernProcess.start(args, (each) => address(each) !== undefined, environment, program);
    const served = new ServedTern(running, address(running)!);
    if (!waits) return served;
    for (const until = Date.now() + READY_MS; ; await delay(50)) {
      const ready = await fetch(`${served.url}/readyz`).catch(() => null);
      if (ready?.ok === true) return served;
      if (Date.now() < until) continue;
      await running.kill();
      throw new Error(`tern ${args.join(' ')} did not get ready: ${await ready?.text()} ${running.err}`);
    }
  }

  /** The number of its process. */
  get pid(): number {
    return this.#process.pid;
  }

  /** Resolves when its process is gone, however it went. */
  get ended(): Promise<Ending> {
    return this.#process.ended;
  }

  /** What it has written to standard error: the log. */
  get log(): string {
    return this.#process.err;
  }

  /** Sends a signal and does not wait. */
  send(signal: NodeJS.Signals): void {
    this.#process.send(signal);
  }

  /** CPU time that it has taken so far, all threads together, in milliseconds; as `/metrics` tells it. */
  async cpuMs(): Promise<number> {
    return (await this.#metric('process_cpu_seconds_total')) * 1000;
  }

  /** Resident memory, as `/metrics` tells it. */
  residentBytes(): Promise<number> {
    return this.#metric('process_resident_memory_bytes');
  }

  async #metric(name: string): Promise<number> {
    const answer = await fetch(`${this.url}/metrics`);
    const text = await answer.text();
    const value = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(text)?.[1];
    if (value === undefined) throw new Error(`there is no ${name} in /metrics: ${answer.status} ${text.slice(0, 300)}`);
    return Number(value);
  }

  close(): Promise<void> {
    return this.#process.kill();
  }
}

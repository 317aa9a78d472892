import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { AccessDecision, AccessMetrics, AccessRequest, WorkDecision } from '#services/access/access.js';
import type { KeyedAccessOptions } from '#services/access/start-keyed-access.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const script = fileURLToPath(new URL('access-process.ts', import.meta.url));

/** What passed while a process was asked without pause. */
export interface OverloadResult {
  readonly allowed: number;
  readonly limited: number;
  /** The longest that one question took. */
  readonly slowestMs: number;
  readonly metrics: AccessMetrics;
}

/** Keyed access in another process. */
export class AccessClient {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<unknown>;
  /** What it logged. */
  log = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, 'exit');
    this.#lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    child.stderr!.on('data', (text) => {
      this.log += text;
    });
  }

  static async start(options: KeyedAccessOptions): Promise<AccessClient> {
    const args = ['--conditions=source', '--import', 'tsx', script, JSON.stringify(options)];
    const client = new AccessClient(spawn(process.execPath, args, { cwd: root, stdio: 'pipe' }));
    await client.#line();
    return client;
  }

  async ask(question: AccessRequest): Promise<AccessDecision> {
    this.#send(question);
    return JSON.parse(await this.#line());
  }

  /** Asks, and takes the price of a call. */
  async takeWork(question: AccessRequest, units: number): Promise<WorkDecision> {
    this.#send({ work: question, units });
    return JSON.parse(await this.#line());
  }

  /** Asks without pause until this moment (milliseconds since 1970), as so many clients at the same time. */
  async overload(question: AccessRequest, until: number, clients: number): Promise<OverloadResult> {
    this.#send({ overload: question, until, clients });
    return JSON.parse(await this.#line());
  }

  /** Lets it end by itself: what it counted is stored. */
  async close(): Promise<void> {
    this.#child.stdin!.end();
    await this.#ended;
  }

  /** Ends it in the middle of whatever it does. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  #send(value: object): void {
    this.#child.stdin!.write(`${JSON.stringify(value)}\n`);
  }

  async #line(): Promise<string> {
    const { done, value } = await this.#lines.next();
    if (done) throw new Error(`the process ended: ${this.log}`);
    return value;
  }
}

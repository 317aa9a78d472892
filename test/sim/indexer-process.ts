import { type ChildProcess, spawn } from 'node:child_process';
import process from 'node:process';

/** The JavaScript file that is run: `bin/tern.js`, or `dist/app/cli/main.js` of a build. */
export type Program = string;

/** What an indexer is started with. */
export interface IndexerArguments {
  /** `serve`: follows the chain; `index`: fills the index and ends. */
  readonly command: 'serve' | 'index';
  /** File of the global configuration. */
  readonly config: string;
  readonly databaseUrl: string;
  /** Folder for what Tern keeps. */
  readonly data: string;
  readonly workers: number;
  /** Further arguments. */
  readonly more?: readonly string[];
}

/** A Tern that writes an index: one process, so that what is sent to it stops all of it. */
export class IndexerProcess {
  readonly #child: ChildProcess;
  readonly ended: Promise<number | null>;
  #log = '';
  #hasEnded = false;

  constructor(program: Program, { command, config, databaseUrl, data, workers, more = [] }: IndexerArguments) {
    const args = [
      ...[command, '--network', config, '--database-url', databaseUrl, '--data', data, '--log-level', 'info'],
      ...(command === 'serve'
        ? ['--role', 'indexer', '--listen', '127.0.0.1:0', '--index-workers', String(workers)]
        : ['--workers', String(workers)]),
      ...['--from', 'genesis', ...more],
    ];
    this.#child = spawn(process.execPath, [program, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child.stderr!.on('data', (text) => {
      this.#log += text;
    });
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code) => {
        this.#hasEnded = true;
        resolve(code);
      });
    });
  }

  /** What it has said. */
  get log(): string {
    return this.#log;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Whether it has begun to write the index. */
  get leads(): boolean {
    return this.#log.includes('this process is the index leader');
  }

  /** Sends a signal, at once. */
  send(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends it by force. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }
}

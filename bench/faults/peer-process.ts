import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Reply } from './protocol.js';

/** A process that carries out commands, one at a time. */
export class PeerProcess<Command> {
  readonly #child: ChildProcess;

  /** @param script beside this file */
  constructor(script: string) {
    const file = fileURLToPath(new URL(script, import.meta.url));
    this.#child = fork(file, { execArgv: ['--conditions=source', '--import', 'tsx'] });
  }

  async tell<Result>(command: Command): Promise<Result> {
    const replied = once(this.#child, 'message') as Promise<[Reply<Result>]>;
    const ended = once(this.#child, 'exit').then(() => [{ problem: 'the process ended' }] as [Reply<Result>]);
    this.#child.send(command as object | string);
    const [reply] = await Promise.race([replied, ended]);
    if ('problem' in reply) throw new Error(reply.problem);
    return reply.result;
  }

  /** It ends by itself when nobody commands it any more. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.disconnect();
    await ended;
  }
}

/** The other end: carries out each command, and ends with its parent. */
export function obey<Command>(run: (command: Command) => unknown): void {
  process.on('message', async (command: Command) => {
    try {
      process.send!({ result: await run(command) });
    } catch (error) {
      process.send!({ problem: String(error) });
    }
  });
  process.on('disconnect', () => process.exit());
}

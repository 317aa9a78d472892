import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A process that serves a recorded chain, the head of which moves on once it is told to. */
export class PacedReplay {
  readonly #child: ChildProcess;
  /** File of the global configuration. */
  readonly config: string;
  #moves = false;

  private constructor(child: ChildProcess, config: string) {
    this.#child = child;
    this.config = config;
  }

  static async start(folder: string, from: number, perSecond: number): Promise<PacedReplay> {
    const main = fileURLToPath(new URL('./paced-replay-main.ts', import.meta.url));
    const child = fork(main, [folder, String(from), String(perSecond)]);
    const [config] = await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`the replay of ${folder} ended: ${code}`))),
    ]);
    return new PacedReplay(child, config);
  }

  /** From the first time on. */
  move(): void {
    if (this.#moves) return;
    this.#moves = true;
    this.#child.send('move');
  }

  async close(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.disconnect();
    await ended;
  }
}

import { type Clock, pause } from '#kernel/clock.js';
import { sharedAbortController } from '#kernel/shared-abort.js';

export interface WakeLoopModules {
  readonly clock: Clock;
  /** How often it is looked for what becomes due by time, or was added by another process, in milliseconds. */
  readonly pollMs: number;
  /** A problem that blocks all work; it is tried again. */
  readonly onTrouble: (error: unknown) => void;
}

const RETRY_MS = 1000;

/**
 * The loop of a thread that works off what is stored: steps while anything is due, then a pause until it is woken, its pace changes, or
 * it is time to look.
 */
export abstract class WakeLoop<Pace> {
  protected pace: Pace;
  readonly #modules: WakeLoopModules;
  readonly #stop = sharedAbortController();
  #pause = sharedAbortController();
  #wake = 0;

  protected constructor(pace: Pace, modules: WakeLoopModules) {
    this.pace = pace;
    this.#modules = modules;
  }

  setPace(pace: Pace): void {
    this.pace = pace;
    this.#pause.abort();
  }

  /** @param number of the wake; they grow */
  wake(number: number): void {
    this.#wake = Math.max(this.#wake, number);
    this.#pause.abort();
  }

  stop(): void {
    this.#stop.abort();
    this.#pause.abort();
  }

  /** Resolves when stopped. Never rejects. */
  async run(): Promise<void> {
    const { clock, onTrouble } = this.#modules;
    while (!this.#stop.signal.aborted) {
      try {
        await this.#round();
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        onTrouble(error);
        await pause(RETRY_MS, clock, this.#stop.signal);
      }
    }
  }

  /** Does a part of what is due. @returns whether more may be due */
  protected abstract step(): Promise<boolean>;

  /** Nothing is due. @param wake the last one before this was found out */
  protected abstract idle(wake: number): Promise<void>;

  /** Leaves the processor to others. */
  protected rest(ms: number): Promise<void> {
    return pause(ms, this.#modules.clock, this.#stop.signal);
  }

  async #round(): Promise<void> {
    // A wake that aborted the previous pause is covered by this round.
    this.#pause = sharedAbortController();
    const wake = this.#wake;
    if (await this.step()) return;
    await this.idle(wake);
    if (this.#wake === wake) await pause(this.#modules.pollMs, this.#modules.clock, this.#pause.signal);
  }
}

import type { CancelSchedule, Clock } from '#kernel/clock/clock.js';

/** On a terminal one line is written again and again; elsewhere a line now and then. */
const TERMINAL_MS = 250;
const PLAIN_MS = 5_000;

/** Tells how some work goes on, as long as it does. */
export class ProgressOutput {
  readonly #write: (text: string) => void;
  readonly #isTerminal: boolean;
  readonly #clock: Clock;
  #cancel: CancelSchedule = () => {};
  #hasLine = false;

  constructor(write: (text: string) => void, isTerminal: boolean, clock: Clock) {
    this.#write = write;
    this.#isTerminal = isTerminal;
    this.#clock = clock;
  }

  start(line: () => string): void {
    this.#cancel = this.#clock.schedule(this.#isTerminal ? TERMINAL_MS : PLAIN_MS, () => {
      this.#show(line());
      this.start(line);
    });
  }

  /** Ends it; what is written next begins on a line of its own. */
  close(): void {
    this.#cancel();
    if (this.#hasLine) this.#write('\n');
    this.#hasLine = false;
  }

  #show(line: string): void {
    // Back to the beginning of the line, and what stood there is cleared.
    this.#write(this.#isTerminal ? `\r\u001b[K${line}` : `${line}\n`);
    this.#hasLine = this.#isTerminal;
  }
}

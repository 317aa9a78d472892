/** What a round is taken to need before any has come. */
const FIRST_GUESS_BYTES = 128 * 1024;

/** How long a file is taken to need before any has come. */
const FIRST_GUESS_MS = 50;

/** What one more counts for in a mean. */
const ANSWER_SHARE = 1 / 16;
const ROUNDS_SHARE = 1 / 2;

/** How large rounds are and how fast files come, as seen lately. */
export class Pace {
  #roundBytes = FIRST_GUESS_BYTES;
  #answerMs = FIRST_GUESS_MS;

  get roundBytes(): number {
    return this.#roundBytes;
  }

  /** Without the time in which a file waits for its turn. */
  get answerMs(): number {
    return this.#answerMs;
  }

  answered(ms: number): void {
    this.#answerMs += (ms - this.#answerMs) * ANSWER_SHARE;
  }

  /** Some rounds have come. */
  came(count: number, bytes: number): void {
    this.#roundBytes += (bytes / count - this.#roundBytes) * ROUNDS_SHARE;
  }
}

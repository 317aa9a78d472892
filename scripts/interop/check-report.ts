/** Runs checks, prints a line for each, and counts them. */
export class CheckReport {
  readonly #write: (line: string) => void;
  passed = 0;
  failed = 0;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  /** @param run returns what was found to be right, or throws: the message is printed as what is wrong */
  async check(name: string, run: () => Promise<string>): Promise<void> {
    try {
      const detail = await run();
      this.passed++;
      this.#write(`ok    ${name}: ${detail}`);
    } catch (error) {
      this.failed++;
      this.#write(`FAIL  ${name}: ${(error as Error).message}`);
    }
  }

  get summary(): string {
    return `${this.passed} passed, ${this.failed} failed`;
  }
}

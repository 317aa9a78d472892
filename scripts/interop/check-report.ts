/** A check that takes longer has stopped: the others go on. */
const MOST_CHECK_MS = 240_000;

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
      const detail = await within(MOST_CHECK_MS, run());
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

async function within<T>(ms: number, running: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What has been started, to be closed in reverse order. */
export class Closers {
  readonly #all: (() => void | Promise<void>)[] = [];

  /** Takes something that runs; the last one is closed first. */
  add(close: () => void | Promise<void>): void {
    this.#all.push(close);
  }

  /** Closes everything, whatever fails on the way; then throws the first failure. Idempotent. */
  async close(): Promise<void> {
    let failure: { readonly error: unknown } | null = null;
    for (let close = this.#all.pop(); close !== undefined; close = this.#all.pop()) {
      try {
        await close();
      } catch (error) {
        failure ??= { error };
      }
    }
    if (failure !== null) throw failure.error;
  }
}

/** Calls with closers that stay open when it succeeds; when it fails, what was started is closed. */
export async function startTogether<Started>(start: (closers: Closers) => Promise<Started>): Promise<Started> {
  const closers = new Closers();
  try {
    return await start(closers);
  } catch (error) {
    // What went wrong first is what counts.
    await closers.close().catch(() => {});
    throw error;
  }
}

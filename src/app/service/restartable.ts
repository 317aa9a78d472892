/** Something that runs, and can be ended and begun anew while others hold on to it. */
export interface Running {
  /** Rejects when it ends by itself; resolves when it was closed. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Keeps one of them running: `change` ends it, does something while it does not run, and starts another one. */
export class Restartable<Current extends Running> {
  readonly #start: () => Promise<Current>;
  #current: Current;
  #closing = false;
  #changing: Promise<void> | null = null;
  #end: { resolve: () => void; reject: (error: unknown) => void } | null = null;
  /** Resolves when it was closed; rejects when what ran has ended by itself, or could not be started again. */
  readonly ended: Promise<void>;

  private constructor(start: () => Promise<Current>, first: Current) {
    this.#start = start;
    this.#current = first;
    this.ended = new Promise((resolve, reject) => {
      this.#end = { resolve, reject };
    });
    this.ended.catch(() => {});
    this.#watch(first);
  }

  static async begin<Current extends Running>(start: () => Promise<Current>): Promise<Restartable<Current>> {
    return new Restartable(start, await start());
  }

  /** What runs now, or ran last. */
  get current(): Current {
    return this.#current;
  }

  get isChanging(): boolean {
    return this.#changing !== null || this.#closing;
  }

  /** Begins a change, unless one is under way; its failure ends everything. @returns whether it has begun */
  change(work: () => Promise<void>): boolean {
    if (this.isChanging) return false;
    this.#changing = (async () => {
      await this.#current.close();
      await work();
      if (this.#closing) return;
      this.#current = await this.#start();
      this.#watch(this.#current);
    })();
    this.#changing.then(
      () => {
        this.#changing = null;
      },
      (error) => this.#end?.reject(error),
    );
    return true;
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#changing?.catch(() => {});
    await this.#current.close();
    this.#end?.resolve();
  }

  #watch(running: Current): void {
    running.ended.catch((error) => {
      if (this.#current === running && !this.isChanging) this.#end?.reject(error);
    });
  }
}

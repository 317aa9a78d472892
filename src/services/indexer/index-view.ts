import { firstIdOf } from '#drivers/store/ids.js';
import type { IndexState } from '#drivers/store/write/index-state.js';
import { type IndexWork, indexState, newestRange } from '#services/indexer/index-work.js';
import { missingRanges, withRange } from '#services/indexer/seqno-ranges.js';
import type { WrittenBatch } from '#services/indexer/written.js';

/** The newest masterchain block of an index. */
export interface IndexHead {
  readonly seqno: number;
  /** Unix seconds. */
  readonly gen_utime: number;
}

/** What this process knows of the index: as it was read, and what was written since. */
export class IndexView {
  readonly #work: Pick<IndexWork, 'database' | 'retries'>;
  #state: IndexState;
  #head: IndexHead | null = null;
  #delayMs: number | null = null;
  #counts: { readonly incomplete: number; readonly orphans: number } | null = null;

  constructor(state: IndexState, work: Pick<IndexWork, 'database' | 'retries'>) {
    this.#state = state;
    this.#work = work;
  }

  get state(): IndexState {
    return this.#state;
  }

  get head(): IndexHead | null {
    return this.#head;
  }

  /** Of the last batch that was followed. */
  get delayMs(): number | null {
    return this.#delayMs;
  }

  /** As they were last counted. */
  get counts() {
    return this.#counts;
  }

  onWritten({ range, mode, delayMs, gen_utime }: WrittenBatch): void {
    if (mode === 'follow') this.#delayMs = delayMs;
    const rounds = withRange(this.#state.rounds, range);
    this.#state = { ...this.#state, rounds };
    if (range.to === newestRange(rounds)?.to) this.#head = { seqno: range.to, gen_utime };
  }

  /** Reads how far the index is. @throws indexer/stopped */
  async read(signal: AbortSignal): Promise<void> {
    const { database, retries } = this.#work;
    const read = await retries.run(() => indexState(this.#work), signal);
    const seqno = newestRange(read.rounds)?.to;
    let head: IndexHead | null = null;
    if (seqno !== undefined) {
      const query = { text: 'SELECT gen_utime FROM blocks WHERE id = $1', values: [firstIdOf(seqno)] };
      const { rows } = await retries.run(
        () => database.withWriter((client) => client.query<{ gen_utime: bigint }>(query)),
        signal,
      );
      head = { seqno, gen_utime: Number(rows[0]!.gen_utime) };
    }
    // Batches may have been written since.
    let { rounds } = read;
    for (const range of this.#state.rounds) rounds = withRange(rounds, range);
    const dropped = { from: 0, to: read.pruned_below - 1 };
    rounds = rounds.flatMap((range) => missingRanges(range, [dropped]));
    this.#state = { ...read, rounds };
    if (head !== null && head.seqno >= (this.#head?.seqno ?? 0)) this.#head = head;
  }

  /** Reads how far the index is, and counts what is not whole. @throws indexer/stopped */
  async count(signal: AbortSignal): Promise<void> {
    const { database, retries } = this.#work;
    await this.read(signal);
    const query = `SELECT (SELECT count(*) FROM accounts WHERE incomplete) AS incomplete,
                     (SELECT count(*) FROM orphan_messages) AS orphans`;
    const { rows } = await retries.run(
      () => database.withWriter((client) => client.query<{ incomplete: bigint; orphans: bigint }>(query)),
      signal,
    );
    this.#counts = { incomplete: Number(rows[0]!.incomplete), orphans: Number(rows[0]!.orphans) };
  }
}

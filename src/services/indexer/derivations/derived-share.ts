import type { DerivationLeft } from '#services/indexer/derivations/derivation-progress.js';

/** How much of restarted derivations is done, as a share: each counts the same. */
export class DerivedShare {
  /** The most that was ever left of each, of blocks and of queued rows. */
  readonly #most = new Map<string, { mcBlocks: number; queued: number }>();
  #done: number | null = null;

  /** 0 to 1; null before the first look. Is 1 only when nothing is left. */
  get done(): number | null {
    return this.#done;
  }

  /** @param left what is left now, of at least one derivation */
  look(left: readonly DerivationLeft[]): void {
    let sum = 0;
    for (const { name, isDone, mcBlocks, unvisited, queued } of left) {
      const before = this.#most.get(name) ?? { mcBlocks: 0, queued: 0 };
      const most = { mcBlocks: Math.max(before.mcBlocks, mcBlocks), queued: Math.max(before.queued, queued) };
      this.#most.set(name, most);
      // Rows are queued while blocks or addresses are visited: both parts have to end.
      const visiting = most.mcBlocks === 0 ? unvisited : mcBlocks / most.mcBlocks;
      const queue = most.queued === 0 ? visiting : queued / most.queued;
      sum += isDone ? 1 : Math.min(1 - (visiting + queue) / 2, 0.999);
    }
    this.#done = sum / left.length;
  }
}

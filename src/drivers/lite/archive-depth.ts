/** What a server may have of some age: blocks, or the states after them. */
export type Kept = 'blocks' | 'states';

interface Bound {
  /** The oldest masterchain seqno that is known to be there; infinite when none is. */
  have: number;
  /** The newest one that is known not to be there; -1 when none is. */
  lack: number;
}

/** A look at one seqno: is it there? Null when that cannot be told now. */
export type LookForSeqno = (kept: Kept, seqno: number) => Promise<boolean | null>;

/** Where the search may stop: an uncertainty of this share of the age does not matter. */
const PRECISION = 1 / 64;

/**
 * How far back a server's blocks and states go. What lies between what is known to be there and what is known to be missing
 * may be either. Knowledge ages: servers delete old states and fetch old blocks, so a newer observation overrides.
 */
export class ArchiveDepth {
  readonly #bounds: Record<Kept, Bound> = { blocks: newBound(), states: newBound() };

  /** Whether the server has this. */
  has(kept: Kept, seqno: number): 'yes' | 'no' | 'perhaps' {
    const { have, lack } = this.#bounds[kept];
    if (seqno >= have) return 'yes';
    return seqno <= lack ? 'no' : 'perhaps';
  }

  /** The oldest seqno that is known to be there; null when nothing is known. */
  oldest(kept: Kept): number | null {
    const { have } = this.#bounds[kept];
    return have === Number.POSITIVE_INFINITY ? null : have;
  }

  /** Whether it is known to have everything from the first block on. */
  get isArchive(): boolean {
    return this.#bounds.blocks.have <= 1 && this.#bounds.states.have <= 1;
  }

  /** It has given this. */
  learnHave(kept: Kept, seqno: number): void {
    const bound = this.#bounds[kept];
    bound.have = Math.min(bound.have, seqno);
    bound.lack = Math.min(bound.lack, bound.have - 1);
  }

  /** It did not have this, which exists. */
  learnLack(kept: Kept, seqno: number): void {
    const bound = this.#bounds[kept];
    bound.lack = Math.max(bound.lack, seqno);
    if (bound.have <= bound.lack) bound.have = Number.POSITIVE_INFINITY;
  }

  /**
   * Finds how far back both go, by looking at few seqnos: the first one, what was the oldest last time, and halves between.
   *
   * @param head the server's newest seqno
   * @returns false when a look failed; what was found until then is kept
   */
  async probe(head: number, look: LookForSeqno): Promise<boolean> {
    return (await this.#probeOne('blocks', head, look)) && (await this.#probeOne('states', head, look));
  }

  async #probeOne(kept: Kept, head: number, look: LookForSeqno): Promise<boolean> {
    const oldest = this.oldest(kept);
    for (const seqno of oldest === null || oldest <= 1 ? [1] : [1, oldest]) {
      if (seqno > head) continue;
      const found = await look(kept, seqno);
      if (found === null) return false;
      if (found) this.learnHave(kept, seqno);
      else this.learnLack(kept, seqno);
      if (found) return true;
    }
    // The first one is missing. The newest is taken to be there.
    let lack = Math.max(this.#bounds[kept].lack, 1);
    let have = head;
    while (have - lack > Math.max(1, (head - have) * PRECISION)) {
      const middle = lack + Math.floor((have - lack) / 2);
      const found = await look(kept, middle);
      if (found === null) return false;
      if (found) {
        have = middle;
        this.learnHave(kept, middle);
      } else {
        lack = middle;
        this.learnLack(kept, middle);
      }
    }
    this.learnHave(kept, have);
    return true;
  }
}

function newBound(): Bound {
  return { have: Number.POSITIVE_INFINITY, lack: -1 };
}

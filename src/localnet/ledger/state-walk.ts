import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { applyMerkleUpdate } from '#formats/cells/merkle-update.js';
import { Block } from '#formats/tlb/block.js';
import { previousBlocks } from '#formats/tlb/block-ref.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { toHex } from '#kernel/bytes/bytes.js';
import { ledgerErrors } from '#localnet/ledger/errors.js';

/** The state after a block, which is named by its root hash in hex. */
export interface NamedState {
  readonly block: string;
  readonly state: Cell;
}

/** The same, with the blocks before: two after a merge, left one first. */
export interface NextState extends NamedState {
  readonly prev: readonly string[];
}

/** States of the newest blocks of some shards, and those after all blocks of the last rounds. */
export class StateWalk {
  readonly #keep: number;
  /** By block: the newest of each shard. */
  readonly #newest: Map<string, Cell>;
  /** Of the last rounds, the oldest one first. */
  readonly #rounds: ReadonlyMap<string, Cell>[] = [];
  #seqno: number;

  /**
   * @param seqno of the round after which the walk begins
   * @param states after it
   * @param keep of how many rounds all states are kept
   */
  constructor(seqno: number, states: readonly NamedState[], keep: number) {
    this.#seqno = seqno;
    this.#keep = keep;
    this.#newest = new Map(states.map(({ block, state }) => [block, state]));
    this.#rounds.push(new Map(this.#newest));
  }

  /** Seqno of the round after which it is. */
  get seqno(): number {
    return this.#seqno;
  }

  /** Goes on by one round. */
  add(states: readonly NextState[]): void {
    this.#seqno++;
    for (const { block, state } of states) this.#newest.set(block, state);
    for (const { prev } of states) for (const block of prev) this.#newest.delete(block);
    this.#rounds.push(new Map(states.map(({ block, state }) => [block, state])));
    if (this.#rounds.length > this.#keep) this.#rounds.shift();
  }

  /** The state after a block; `null` when it is not here, or not any more. */
  find(block: string): Cell | null {
    const newest = this.#newest.get(block);
    if (newest !== undefined) return newest;
    for (let i = this.#rounds.length - 1; i >= 0; i--) {
      const state = this.#rounds[i]!.get(block);
      if (state !== undefined) return state;
    }
    return null;
  }

  /**
   * Makes the states after some blocks of the next round, each after those that it follows.
   *
   * @param zerostate gives the state with which a workchain begins
   * @throws ledger/unknown-previous, and as {@link applyMerkleUpdate}
   */
  makeNext(roots: Iterable<Cell>, zerostate: (block: string) => Cell | null): NextState[] {
    const made: NextState[] = [];
    for (const root of roots) {
      const prev = previousOf(root);
      const before = prev.map((block) => {
        const state = made.find((each) => each.block === block)?.state ?? this.#newest.get(block) ?? zerostate(block);
        if (state === null) throw ledgerErrors['unknown-previous']({ block });
        return state;
      });
      const [first, second] = before as [Cell, Cell?];
      const state = applyMerkleUpdate(second === undefined ? first : splitState(first, second), root.ref(2));
      made.push({ block: toHex(root.hash()), prev, state });
    }
    return made;
  }

  /** Puts equal states in the place of those of the newest blocks. */
  replace(states: readonly NamedState[]): void {
    for (const { block, state } of states) {
      // A state of a workchain without blocks is a zerostate, which stays as it is.
      if (this.#newest.has(block)) this.#newest.set(block, state);
      const index = this.#rounds.findIndex((round) => round.has(block));
      if (index >= 0) this.#rounds[index] = new Map([...this.#rounds[index]!, [block, state]]);
    }
  }
}

function previousOf(root: Cell): string[] {
  const { info } = decodeCell(Block, root);
  return previousBlocks(info.value.prev_ref.value).map(({ root_hash }) => toHex(root_hash));
}

/** `split_state#5f327da5 left:^ShardStateUnsplit right:^ShardStateUnsplit`: what the first block after a merge starts from. */
export function splitState(left: Cell, right: Cell): Cell {
  return new Builder().storeUint(0x5f327da5, 32).storeRef(left).storeRef(right).endCell();
}

import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { toHex } from '#kernel/bytes.js';
import { type ChainEntry, type ChainName, parseChainName } from '#test/support/vector-files.js';

/** The few fields of a block that say which states its update leads from. */
export interface BlockLink {
  readonly id: ChainName;
  readonly root: Cell;
  readonly stateUpdate: Cell;
  readonly afterMerge: boolean;
  readonly beforeSplit: boolean;
  readonly afterSplit: boolean;
  /** Root hashes of the previous blocks, two after a merge; for the first block that of the zerostate. */
  readonly previous: readonly string[];
}

/** `block#11ef55aa global_id:int32 info:^BlockInfo value_flow:^ValueFlow state_update:^(MERKLE_UPDATE ShardState) extra:^BlockExtra` */
function readBlockLink(id: ChainName, root: Cell): BlockLink {
  const info = openCell(root.ref(0));
  info.skip(32 + 32); // block_info#9bc7a987 version
  info.skip(1); // not_master
  const afterMerge = info.loadBit();
  const beforeSplit = info.loadBit();
  const afterSplit = info.loadBit();
  const masterRefs = id.workchain === -1 ? 0 : 1; // master_ref stands before prev_ref
  const prevRef = openCell(root.ref(0).ref(masterRefs));
  const parts = afterMerge ? [openCell(prevRef.loadRef()), openCell(prevRef.loadRef())] : [prevRef];
  const previous = parts.map((part) => {
    part.skip(64 + 32); // end_lt, seq_no
    return toHex(part.loadBytes(32));
  });
  return { id, root, stateUpdate: root.ref(2), afterMerge, beforeSplit, afterSplit, previous };
}

/** All blocks among the entries of a chain, so ordered that each comes after its previous ones. */
export function blockLinks(entries: Iterable<ChainEntry>): BlockLink[] {
  const links = new Map<string, BlockLink>();
  for (const entry of entries) {
    const id = parseChainName(entry.name);
    if (id?.kind === 'block') links.set(id.rootHash, readBlockLink(id, parseBocRoot(entry.data)));
  }
  return [...links.values()].sort((a, b) => a.id.workchain - b.id.workchain || a.id.seqno - b.id.seqno);
}

/** `split_state#5f327da5 left:^ShardStateUnsplit right:^ShardStateUnsplit`: what the first block after a merge starts from. */
function splitState(left: Cell, right: Cell): Cell {
  return new Builder().storeUint(0x5f327da5, 32).storeRef(left).storeRef(right).endCell();
}

/** The states after blocks and zerostates, by root hash; old ones are dropped as the chain goes on. */
export class ChainStates {
  readonly #states = new Map<string, { readonly state: Cell; readonly workchain: number; readonly seqno: number }>();

  addZerostate(state: Cell, workchain: number): void {
    this.#states.set(toHex(state.hash()), { state, workchain, seqno: 0 });
  }

  /** The state from which the update of a block leads on, or `null` when a previous block is missing. */
  before(link: BlockLink): Cell | null {
    const states = link.previous.map((hash) => this.#states.get(hash)?.state);
    const [first, second] = states;
    if (first === undefined) return null;
    if (!link.afterMerge) return first;
    return second === undefined ? null : splitState(first, second);
  }

  addAfter(link: BlockLink, state: Cell): void {
    const { workchain, seqno, rootHash } = link.id;
    this.#states.set(rootHash, { state, workchain, seqno });
    for (const [hash, known] of this.#states) {
      if (known.workchain === workchain && known.seqno < seqno - 64) this.#states.delete(hash);
    }
  }
}

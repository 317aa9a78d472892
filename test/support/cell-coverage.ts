import { type Cell, CellType } from '#formats/cells/cell.js';
import { DictWalk } from '#formats/cells/dict-read.js';
import { HashIndex } from '#formats/cells/hash-index.js';
import { UsageTracker, untracked } from '#formats/cells/merkle-proof.js';
import type { Slice } from '#formats/cells/slice.js';
import { AugmentedDictionary } from '#formats/tlb/codec/augmented-dictionary.js';
import { type Codec, decodeCell } from '#formats/tlb/codec/codec.js';
import { type Place, pathOf, type VisitedNode, walkValue } from '#formats/tlb/walk-value.js';
import { toHex } from '#kernel/bytes.js';

/** What became of the cells below a root, each distinct cell counted once. */
export interface CellCoverage {
  readonly cells: number;
  /** Opened by a decoder, which then leaves nothing over. */
  readonly consumed: number;
  /** Within values that the schema does not describe. */
  readonly opaque: number;
  /** Pruned branches. */
  readonly pruned: number;
  /** Neither: the decoders miss them. Hashes, and for each a cell that refers to it. */
  readonly missed: readonly string[];
  /** Paths of opaque values, without the keys of dictionaries, and how often they occur. */
  readonly opaquePaths: ReadonlyMap<string, number>;
}

/** Decodes further what the schema leaves as a cell but what is known by its place: `null` when it is really opaque. */
export type KnownCells = (place: Place | null, cell: Cell) => unknown;

/** Decodes a value whole and tells which cells below its root the decoders have read. */
export function cellCoverage(codec: Codec<unknown>, root: Cell, known: KnownCells = () => null): CellCoverage {
  const tracker = new UsageTracker();
  const opaqueCells = new HashIndex();
  const opaquePaths = new Map<string, number>();
  const seen = new Set<string>();

  const enter = (node: VisitedNode, place: Place | null): boolean => {
    switch (node.kind) {
      case 'lazy': {
        // The same cell as a value of the same type brings nothing new.
        const id = `${node.value.type} ${toHex(node.value.cell.hash())}`;
        if (seen.has(id)) return false;
        seen.add(id);
        return true;
      }
      case 'dictionary':
        if (node.value instanceof AugmentedDictionary) walkForkExtras(node.value, place);
        return true;
      case 'opaque': {
        const { value } = node;
        const further = 'refCount' in value ? known(place, value) : null;
        if (further !== null) {
          walkValue(further, { enter: (inner, at) => enter(inner, at ?? place) });
          return true;
        }
        const path = pathOf(place).replace(/\[[^\]]*\]/g, '[]');
        opaquePaths.set(path, (opaquePaths.get(path) ?? 0) + 1);
        for (const cell of 'refCount' in value ? [value] : slicedRefs(value)) addAll(cell, opaqueCells);
        return true;
      }
      default:
        return true;
    }
  };
  // biome-ignore lint/suspicious/noExplicitAny: dictionaries of all types
  const walkForkExtras = (dictionary: AugmentedDictionary<any, any, any>, place: Place | null): void => {
    const fork = (extra: Slice): void => {
      const value: unknown = dictionary.type.extra.load(extra);
      extra.end();
      walkValue(value, { enter: (inner) => enter(inner, place) });
    };
    const walk = new DictWalk(dictionary.root, dictionary.type.key.bits, { pruned: 'skip', fork });
    while (walk.next());
    for (const [, , extra] of dictionary.entriesWithExtra({ pruned: 'skip' })) {
      walkValue(extra, { enter: (inner) => enter(inner, place) });
    }
  };

  walkValue(decodeCell(codec, tracker.track(root)), { enter });

  const all = new HashIndex();
  const missed: string[] = [];
  let cells = 0;
  let consumed = 0;
  let opaque = 0;
  let pruned = 0;
  const stack: Cell[] = [root];
  for (let cell = stack.pop(); cell !== undefined; cell = stack.pop()) {
    const hash = cell.hash();
    if (all.has(hash)) continue;
    all.add(hash);
    cells++;
    if (tracker.has(hash)) consumed++;
    else if (cell.type === CellType.prunedBranch) pruned++;
    else if (opaqueCells.has(hash)) opaque++;
    else missed.push(toHex(hash));
    for (let i = 0; i < cell.refCount; i++) stack.push(cell.ref(i));
  }
  return { cells, consumed, opaque, pruned, missed, opaquePaths };
}

function slicedRefs(slice: Slice): Cell[] {
  const refs: Cell[] = [];
  for (let i = 0; i < slice.remainingRefs; i++) refs.push(slice.preloadRef(i));
  return refs;
}

function addAll(root: Cell, into: HashIndex): void {
  const stack = [untracked(root)];
  for (let cell = stack.pop(); cell !== undefined; cell = stack.pop()) {
    const hash = cell.hash();
    if (into.has(hash)) continue;
    into.add(hash);
    for (let i = 0; i < cell.refCount; i++) stack.push(cell.ref(i));
  }
}

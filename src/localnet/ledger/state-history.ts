import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parseBoc } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { applyMerkleUpdate } from '#formats/cells/merkle-update.js';
import { Block } from '#formats/tlb/block.js';
import { MASTERCHAIN, previousBlocks } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { splitStateCell } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import type { BlockFiles } from '#localnet/ledger/block-files.js';
import { ledgerErrors } from '#localnet/ledger/errors.js';
import { ensureFolder, listFolder, reading, readNeeded, removeAll, writeWhole } from '#localnet/ledger/ledger-files.js';
import type { BlockRecord } from '#localnet/ledger/pack.js';

/** What states are restored from. */
export interface StateSources {
  readonly files: BlockFiles;
  readonly checkpoints: Checkpoints;
  /** The zerostates of the chain. */
  readonly zerostates: readonly NamedState[];
  /** Root hashes of the shard blocks that a masterchain state lists, in its order. */
  readonly shardsOf: (masterchainState: Cell) => readonly string[];
}

/** Number of masterchain blocks whose states are all retained, at the head and at each old position in use. */
const RETAINED_MC_BLOCKS = 32;
/** Number of old positions that are retained, from which later states can be restored quickly. */
const OLD_PLACES = 3;

/** The blocks that a walk includes. */
type Track = 'all' | 'masterchain' | 'shards';

/** A walk at an old position. */
interface OldPlace {
  readonly track: Track;
  readonly walk: StateWalk;
}

/**
 * The states after all blocks of a chain. The newest ones are retained; older ones are restored from the checkpoint
 * before them and the state updates of the blocks in between.
 */
export class StateHistory {
  readonly #sources: StateSources;
  readonly #head: StateWalk;
  /** The least recently used one first. */
  readonly #old: OldPlace[] = [];

  /** Restores the newest states. @throws ledger/damaged, ledger/missing-file, ledger/unreadable */
  constructor(sources: StateSources) {
    this.#sources = sources;
    this.#head = this.#begin(sources.checkpoints.newest, 'all');
    this.#goOn(this.#head, sources.files.lists.mcBlocks, 'all');
  }

  /** The state after a block of the newest bundles, or after the newest block of a shard. */
  newest(block: string): Cell | null {
    return this.#head.find(block);
  }

  add(states: readonly NextState[]): void {
    this.#head.add(states);
  }

  /** Replaces the newest states by equal ones. */
  replace(states: readonly NamedState[]): void {
    this.#head.replace(states);
  }

  /** The state after a block. @throws ledger/damaged, ledger/missing-file, ledger/unreadable */
  state(record: BlockRecord): Cell {
    const block = toHex(record.id.root_hash);
    const known = this.#head.find(block);
    if (known !== null) return known;
    for (const place of this.#old) {
      const state = place.walk.find(block);
      if (state === null) continue;
      this.#use(place);
      return state;
    }
    const place = this.#placeBefore(record.mc_seqno, trackOf(record));
    this.#goOn(place.walk, record.mc_seqno, place.track);
    this.#use(place);
    return place.walk.find(block)!;
  }

  /** A position from which to continue to a masterchain block: an old one, if it is nearer than the checkpoint. */
  #placeBefore(seqno: number, track: Track): OldPlace {
    const checkpoint = this.#sources.checkpoints.upTo(seqno);
    let nearest: OldPlace | null = null;
    for (const place of this.#old) {
      const { seqno: at } = place.walk;
      if (place.track !== track || at >= seqno || at < checkpoint) continue;
      if (nearest === null || at > nearest.walk.seqno) nearest = place;
    }
    return nearest ?? { track, walk: this.#begin(checkpoint, track) };
  }

  #use(place: OldPlace): void {
    const index = this.#old.indexOf(place);
    if (index >= 0) this.#old.splice(index, 1);
    this.#old.push(place);
    if (this.#old.length > OLD_PLACES) this.#old.shift();
  }

  #begin(seqno: number, track: Track): StateWalk {
    const { files, checkpoints, zerostates, shardsOf } = this.#sources;
    if (seqno === 0) return new StateWalk(0, zerostates, RETAINED_MC_BLOCKS);
    const file = checkpoints.pathOf(seqno);
    if (seqno > files.lists.mcBlocks) {
      const needed = `the states after masterchain block ${seqno} are there (${file})`;
      throw ledgerErrors['missing-file']({ file: `the pack with masterchain block ${seqno}`, needed });
    }
    const [masterchain, ...shards] = checkpoints.read(seqno);
    const top = files.masterchainBlock(seqno);
    checkState(file, masterchain!, stateHashOf(files, top));
    const states: NamedState[] = [];
    if (track !== 'shards') states.push({ block: toHex(top.id.root_hash), state: masterchain! });
    if (track !== 'masterchain') {
      const blocks = shardsOf(masterchain!);
      if (blocks.length !== shards.length) {
        const problem = `it has ${shards.length} states of shards, and there are ${blocks.length} shards`;
        throw ledgerErrors.damaged({ file, offset: 0, problem });
      }
      const hashes = recentHashes(files, seqno);
      blocks.forEach((block, i) => {
        const state = shards[i]!;
        checkState(file, state, hashes.get(block) ?? this.#zerostate(block)?.hash() ?? state.hash());
        states.push({ block, state });
      });
    }
    return new StateWalk(seqno, states, RETAINED_MC_BLOCKS);
  }

  #goOn(walk: StateWalk, seqno: number, track: Track): void {
    const { files } = this.#sources;
    while (walk.seqno < seqno) {
      const records = [...files.bundle(walk.seqno + 1)].filter((each) => track === 'all' || trackOf(each) === track);
      try {
        const roots = records.map((record) => files.root(record));
        walk.add(walk.makeNext(roots, (block) => this.#zerostate(block)));
      } catch (error) {
        if (!isTernError(error) || error.code === ledgerErrors.damaged.code) throw error;
        const { file, offset } = files.placeOf(walk.seqno + 1);
        const problem = `no state follows from the blocks of masterchain block ${walk.seqno + 1}: ${error.message}`;
        throw ledgerErrors.damaged({ file, offset, problem }, error);
      }
    }
  }

  #zerostate(block: string): Cell | null {
    return this.#sources.zerostates.find((each) => each.block === block)?.state ?? null;
  }
}

function trackOf({ id }: BlockRecord): Track {
  return id.workchain === MASTERCHAIN ? 'masterchain' : 'shards';
}

/**
 * State hashes of the blocks of the last two bundles up to a seqno. Shards without a block in them are not included.
 */
function recentHashes(files: BlockFiles, seqno: number): Map<string, Uint8Array> {
  const hashes = new Map<string, Uint8Array>();
  for (let at = Math.max(1, seqno - 1); at <= seqno; at++) {
    for (const record of files.bundle(at)) hashes.set(toHex(record.id.root_hash), stateHashOf(files, record));
  }
  return hashes;
}

/** State hash after a block: `new_hash` of `merkle_update#04 old_hash:bits256 new_hash:bits256 …`. */
function stateHashOf(files: BlockFiles, record: BlockRecord): Uint8Array {
  const update = files.root(record).ref(2);
  const start = update.dataOffset + 33;
  return update.bytes.subarray(start, start + 32);
}

/** @throws ledger/damaged */
function checkState(file: string, state: Cell, expected: Uint8Array): void {
  const found = toHex(state.hash());
  if (found === toHex(expected)) return;
  const problem = `a state in it has hash ${found} instead of ${toHex(expected)}`;
  throw ledgerErrors.damaged({ file, offset: 0, problem });
}

/** The state after a block, which is identified by its root hash in hex. */
export interface NamedState {
  readonly block: string;
  readonly state: Cell;
}

/** The same, with the previous blocks: two after a merge, the left one first. */
export interface NextState extends NamedState {
  readonly prev: readonly string[];
}

/** The newest states of some shards, and all states of the last masterchain blocks, moving forward along the chain. */
export class StateWalk {
  readonly #retained: number;
  /** The newest state of each shard, by block. */
  readonly #newest: Map<string, Cell>;
  /** States of the last masterchain blocks, the oldest first. */
  readonly #recent: ReadonlyMap<string, Cell>[] = [];
  #seqno: number;

  /**
   * @param seqno of the masterchain block after which the walk starts
   * @param states after it
   * @param keep number of masterchain blocks whose states are all retained
   */
  constructor(seqno: number, states: readonly NamedState[], keep: number) {
    this.#seqno = seqno;
    this.#retained = keep;
    this.#newest = new Map(states.map(({ block, state }) => [block, state]));
    this.#recent.push(new Map(this.#newest));
  }

  /** Seqno of its masterchain block. */
  get seqno(): number {
    return this.#seqno;
  }

  /** Moves forward by one bundle. */
  add(states: readonly NextState[]): void {
    this.#seqno++;
    for (const { block, state } of states) this.#newest.set(block, state);
    for (const { prev } of states) for (const block of prev) this.#newest.delete(block);
    this.#recent.push(new Map(states.map(({ block, state }) => [block, state])));
    if (this.#recent.length > this.#retained) this.#recent.shift();
  }

  /** The state after a block; `null` if it is not or no longer retained. */
  find(block: string): Cell | null {
    const newest = this.#newest.get(block);
    if (newest !== undefined) return newest;
    for (let i = this.#recent.length - 1; i >= 0; i--) {
      const state = this.#recent[i]!.get(block);
      if (state !== undefined) return state;
    }
    return null;
  }

  /**
   * Computes the states after blocks of the next bundle, each after those that it follows.
   *
   * @param zerostate returns the zerostate of a workchain
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
      const state = applyMerkleUpdate(second === undefined ? first : splitStateCell(first, second), root.ref(2));
      made.push({ block: toHex(root.hash()), prev, state });
    }
    return made;
  }

  /** Replaces the newest states by equal ones. */
  replace(states: readonly NamedState[]): void {
    for (const { block, state } of states) {
      // The state of a workchain without blocks is its zerostate, which is not replaced.
      if (this.#newest.has(block)) this.#newest.set(block, state);
      const index = this.#recent.findIndex((bundle) => bundle.has(block));
      if (index >= 0) this.#recent[index] = new Map([...this.#recent[index]!, [block, state]]);
    }
  }
}

function previousOf(root: Cell): string[] {
  const { info } = decodeCell(Block, root);
  return previousBlocks(info.value.prev_ref.value).map(({ root_hash }) => toHex(root_hash));
}

/** A file of states. */
interface Checkpoint {
  readonly seqno: number;
  readonly bytes: number;
}

/**
 * Files with all states after a masterchain block: `states/state.0000100.boc`, a bag of cells whose roots are the
 * masterchain state and the shard states, in the order of the shard configuration.
 */
export class Checkpoints {
  readonly #folder: string;
  readonly #maxBytes: number;
  /** Ascending by seqno. */
  readonly #all: Checkpoint[] = [];

  /** @param maxBytes total size of all files but the newest one. @throws ledger/unreadable */
  constructor(folder: string, maxBytes: number) {
    this.#folder = join(folder, 'states');
    this.#maxBytes = maxBytes;
    for (const name of listFolder(this.#folder)) {
      const match = /^state\.(\d+)\.boc$/.exec(name);
      if (match === null) continue;
      const file = join(this.#folder, name);
      this.#all.push({ seqno: Number(match[1]), bytes: reading(file, () => statSync(file).size) });
    }
    this.#all.sort((a, b) => a.seqno - b.seqno);
  }

  /** Seqno of the newest one; 0 if there is none. */
  get newest(): number {
    return this.#all.at(-1)?.seqno ?? 0;
  }

  /** Size of the newest one. */
  get newestBytes(): number {
    return this.#all.at(-1)?.bytes ?? 0;
  }

  get paths(): readonly string[] {
    return this.#all.map(({ seqno }) => this.pathOf(seqno));
  }

  pathOf(seqno: number): string {
    return join(this.#folder, `state.${String(seqno).padStart(7, '0')}.boc`);
  }

  /** The newest one up to a seqno; 0 if there is none. */
  upTo(seqno: number): number {
    return this.#all.findLast((each) => each.seqno <= seqno)?.seqno ?? 0;
  }

  /**
   * Writes the states after the newest masterchain block, and removes old files above the limit. @returns the file
   * @throws ledger/unwritable
   */
  write(seqno: number, states: readonly Cell[]): Uint8Array {
    ensureFolder(this.#folder);
    const bytes = serializeBoc(states, { crc32c: true });
    writeWhole(this.pathOf(seqno), bytes);
    this.#all.push({ seqno, bytes: bytes.length });
    this.#thin();
    return bytes;
  }

  /** Reads a checkpoint. @throws ledger/damaged, ledger/missing-file, ledger/unreadable */
  read(seqno: number): readonly Cell[] {
    const file = this.pathOf(seqno);
    const bytes = readNeeded(file, `it has the states after masterchain block ${seqno}`);
    try {
      return parseBoc(bytes).roots;
    } catch (error) {
      if (!isTernError(error)) throw error;
      const offset = typeof error.data.byte === 'number' ? error.data.byte : 0;
      throw ledgerErrors.damaged({ file, offset, problem: error.message }, error);
    }
  }

  /** Removes files so that the remaining ones are evenly spread: first the one with the closest neighbours. */
  #thin(): void {
    let sum = this.#all.reduce((bytes, each) => bytes + each.bytes, 0) - this.newestBytes;
    while (sum > this.#maxBytes && this.#all.length > 1) {
      let closest = 0;
      for (let i = 1; i < this.#all.length - 1; i++) if (this.#gap(i) < this.#gap(closest)) closest = i;
      const [removed] = this.#all.splice(closest, 1);
      removeAll(this.pathOf(removed!.seqno));
      sum -= removed!.bytes;
    }
  }

  #gap(index: number): number {
    return this.#all[index + 1]!.seqno - (this.#all[index - 1]?.seqno ?? 0);
  }
}

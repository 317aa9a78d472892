import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parseBoc } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { applyMerkleUpdate } from '#formats/cells/merkle-update.js';
import { Block } from '#formats/tlb/block.js';
import { MASTERCHAIN, previousBlocks } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import type { BlockFiles } from '#localnet/ledger/block-files.js';
import { ledgerErrors } from '#localnet/ledger/errors.js';
import { ensureFolder, listFolder, reading, readNeeded, removeAll, writeWhole } from '#localnet/ledger/ledger-files.js';
import type { BlockRecord } from '#localnet/ledger/pack.js';

/** What states are made from. */
export interface StateSources {
  readonly files: BlockFiles;
  readonly checkpoints: Checkpoints;
  /** The states with which the chain begins. */
  readonly zerostates: readonly NamedState[];
  /** The blocks, by their root hashes, whose states a state of the masterchain goes with, in its order. */
  readonly shardsOf: (masterchainState: Cell) => readonly string[];
}

/** Of how many rounds all states are kept, at the head and at each old place that somebody reads. */
const RETAINED_MC_BLOCKS = 32;
/** Old places that are kept: from there the states after it are made quickly. */
const OLD_PLACES = 3;

/** Which blocks a walk is about. */
type Track = 'all' | 'masterchain' | 'shards';

/** A walk through old states. */
interface OldPlace {
  readonly track: Track;
  readonly walk: StateWalk;
}

/**
 * The states after all blocks of a chain. The newest ones are kept; older ones are made anew, from the checkpoint before
 * them and the updates of all blocks in between.
 */
export class StateHistory {
  readonly #sources: StateSources;
  readonly #head: StateWalk;
  /** The one that was used longest ago first. */
  readonly #old: OldPlace[] = [];

  /** Makes the states after the newest round. @throws ledger/damaged, ledger/missing-file, ledger/unreadable */
  constructor(sources: StateSources) {
    this.#sources = sources;
    this.#head = this.#begin(sources.checkpoints.newest, 'all');
    this.#goOn(this.#head, sources.files.lists.rounds, 'all');
  }

  /** The state after a block of the newest round, or after a newest block of a shard. */
  newest(block: string): Cell | null {
    return this.#head.find(block);
  }

  add(states: readonly NextState[]): void {
    this.#head.add(states);
  }

  /** Puts equal states in the place of those of the newest blocks. */
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

  /** A place from which to go on to a round: an old one, where that is nearer than the checkpoint. */
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
    if (seqno > files.lists.rounds) {
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
      const records = [...files.round(walk.seqno + 1)].filter((each) => track === 'all' || trackOf(each) === track);
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

/** Hashes of the states after the blocks of the last rounds up to one. A shard that stood still longer is not among them. */
function recentHashes(files: BlockFiles, seqno: number): Map<string, Uint8Array> {
  const hashes = new Map<string, Uint8Array>();
  for (let at = Math.max(1, seqno - 1); at <= seqno; at++) {
    for (const record of files.round(at)) hashes.set(toHex(record.id.root_hash), stateHashOf(files, record));
  }
  return hashes;
}

/** Hash of the state after a block: the new one of `merkle_update#04 old_hash:bits256 new_hash:bits256 …`. */
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
      const state = applyMerkleUpdate(second === undefined ? first : splitStateRoot(first, second), root.ref(2));
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
export function splitStateRoot(left: Cell, right: Cell): Cell {
  return new Builder().storeUint(0x5f327da5, 32).storeRef(left).storeRef(right).endCell();
}

/** A file of states. */
interface Checkpoint {
  readonly seqno: number;
  readonly bytes: number;
}

/**
 * Files with all states after a round: `states/state.0000100.boc`, a bag of cells whose roots are the state of the
 * masterchain and then those of the shards, in the order of its shard configuration.
 */
export class Checkpoints {
  readonly #folder: string;
  readonly #maxBytes: number;
  /** By rising seqno. */
  readonly #all: Checkpoint[] = [];

  /** @param maxBytes what all files together may take, but for the newest one. @throws ledger/unreadable */
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

  /** Seqno of the newest one; 0 when there is none. */
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

  /** The newest one up to a seqno; 0 when there is none. */
  upTo(seqno: number): number {
    return this.#all.findLast((each) => each.seqno <= seqno)?.seqno ?? 0;
  }

  /** Writes the states after the newest round, and removes old files when they are too much. @returns the file @throws ledger/unwritable */
  write(seqno: number, states: readonly Cell[]): Uint8Array {
    ensureFolder(this.#folder);
    const bytes = serializeBoc(states, { crc32c: true });
    writeWhole(this.pathOf(seqno), bytes);
    this.#all.push({ seqno, bytes: bytes.length });
    this.#thin();
    return bytes;
  }

  /** The states after a round of which there is a file. @throws ledger/damaged, ledger/missing-file, ledger/unreadable */
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

  /** Removes files so that those that stay lie as evenly as they can: the one first whose neighbours are closest. */
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

import type { Cell } from '#formats/cells/cell.js';
import { MASTERCHAIN } from '#formats/tlb/shard-ident.js';
import { toHex } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { BlockFiles } from '#localnet/ledger/block-files.js';
import type { BlockRecord } from '#localnet/ledger/block-record.js';
import type { Checkpoints } from '#localnet/ledger/checkpoints.js';
import { ledgerErrors } from '#localnet/ledger/errors.js';
import { type NamedState, type NextState, StateWalk } from '#localnet/ledger/state-walk.js';

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
const KEEP_ROUNDS = 32;
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
    if (seqno === 0) return new StateWalk(0, zerostates, KEEP_ROUNDS);
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
    return new StateWalk(seqno, states, KEEP_ROUNDS);
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

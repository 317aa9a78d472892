import type { Cell } from '#formats/cells/cell.js';
import { type BlockId, requireMasterchain } from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { inPart, readRoots } from '#formats/proofs/proof-part.js';
import { type ProvenState, verifyState } from '#formats/proofs/shard-state.js';
import type { LibDescr } from '#formats/tlb/shard-state.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';

/** A library in an answer (`liteServer.libraryEntry`). */
export interface LibraryEntry {
  readonly hash: Uint8Array;
  /** Bag with the library's cell; empty when the contents were not asked for. */
  readonly data: Uint8Array;
}

/** An answer about libraries of the masterchain (`liteServer.libraryResultWithProof`). */
export interface LibrariesAnswer {
  readonly result: readonly LibraryEntry[];
  readonly state_proof: Uint8Array;
  readonly data_proof: Uint8Array;
}

/** A library that the masterchain publishes. */
export interface ProvenLibrary {
  readonly hash: Uint8Array;
  /** The library's cell, `null` when the contents were not asked for. */
  readonly cell: Cell | null;
}

/**
 * Checks an answer about the libraries with some hashes, and gives those that the masterchain has, in the order asked for.
 *
 * @param block the trusted masterchain block after which the state is asked about
 * @throws proofs/not-masterchain, proofs/library-hash, proofs/library-list, proofs/root-hash, proofs/header, proofs/state-hash, proofs/malformed,
 *   proofs/incomplete
 */
export function verifyLibraries(
  block: BlockId,
  hashes: readonly Uint8Array[],
  answer: LibrariesAnswer,
): readonly ProvenLibrary[] {
  requireMasterchain(block);
  const state = verifyState(block, answer.state_proof, answer.data_proof);
  const given = new Map(answer.result.map((entry) => [toHex(entry.hash), entry]));
  const found: ProvenLibrary[] = [];
  for (const hash of hashes) {
    const name = toHex(hash);
    const published = libraryOf(state, hash);
    const entry = given.get(name);
    if ((published !== null) !== (entry !== undefined)) {
      throw proofsErrors['library-list']({ hash: name, present: published !== null });
    }
    if (entry !== undefined) found.push({ hash, cell: entry.data.length === 0 ? null : readLibrary(entry) });
  }
  const asked = new Set(hashes.map(toHex));
  for (const name of given.keys())
    if (!asked.has(name)) throw proofsErrors['library-list']({ hash: name, present: false });
  return found;
}

/**
 * The entry of a library in a state, `null` when it has none.
 * @throws proofs/library-hash, proofs/malformed, proofs/incomplete
 */
export function libraryOf({ state }: ProvenState, hash: Uint8Array): LibDescr | null {
  return inPart('data_proof.state.libraries', () => {
    const entry = state.totals.value.libraries.get(hash) ?? null;
    if (entry !== null) checkHash(hash, entry.lib);
    return entry;
  });
}

function readLibrary({ hash, data }: LibraryEntry): Cell {
  return inPart('result', () => {
    const cell = readRoots(data, 1)[0]!;
    checkHash(hash, cell);
    return cell;
  });
}

function checkHash(hash: Uint8Array, cell: Cell): void {
  if (bytesEqual(hash, cell.hash(0))) return;
  throw proofsErrors['library-hash']({ expected: toHex(hash), found: toHex(cell.hash(0)) });
}

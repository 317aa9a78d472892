import { parseBoc } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { openMerkleProof } from '#formats/cells/merkle-proof.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { TernError } from '#kernel/tern-error.js';

/**
 * Runs the check of one part of a proof and prepends its name to the path of errors. Errors in the cells of a proof are
 * the fault of its sender: they become proofs/malformed, or proofs/incomplete for a missing cell.
 */
export function inPart<T>(part: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw error instanceof TernError ? asProofError(error).within(part) : error;
  }
}

function asProofError(error: TernError): TernError {
  if (error.code.startsWith('proofs/')) return error;
  const proofError =
    error.code === cellsErrors['pruned-branch'].code
      ? proofsErrors.incomplete({ hash: String(error.data.hash) }, error)
      : proofsErrors.malformed({ code: error.code, problem: error.message }, error);
  return error.path === '' ? proofError : proofError.within(error.path);
}

/** Roots of a bag of cells, which must be exactly `count`, each of level 0. @throws proofs/root-count, cells/* */
export function readRoots(bytes: Uint8Array, count: number): readonly Cell[] {
  const { roots } = parseBoc(bytes);
  if (roots.length !== count) throw proofsErrors['root-count']({ expected: count, found: roots.length });
  for (const root of roots) requireLevelZero(root);
  return roots;
}

/** Refuses cells with pruned parts outside a proof. @throws cells/merkle-level */
export function requireLevelZero(root: Cell): void {
  if (root.levelMask !== 0) throw cellsErrors['merkle-level']({ subject: 'bag of cells', level: root.level });
}

/** The tree in a Merkle proof that is the only root of a bag of cells. @throws proofs/malformed, proofs/root-count */
export function openProof(part: string, bytes: Uint8Array): Cell {
  return inPart(part, () => openMerkleProof(readRoots(bytes, 1)[0]!));
}

/** The trees in the two Merkle proofs of one bag of cells: a block header and the state after the block. */
export function openTwoProofs(part: string, bytes: Uint8Array): readonly [header: Cell, state: Cell] {
  return inPart(part, () => {
    const [header, state] = readRoots(bytes, 2) as [Cell, Cell];
    return [openMerkleProof(header), openMerkleProof(state)];
  });
}

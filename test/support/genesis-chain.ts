import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { createMerkleProof, UsageTracker } from '#formats/cells/merkle-proof.js';
import { applyMerkleUpdate } from '#formats/cells/merkle-update.js';
import { checkBlockHeader, stateHash } from '#formats/proofs/block-header.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { signatureSetOf } from '#formats/proofs/block-proof.js';
import type { SignatureSet } from '#formats/proofs/signatures.js';
import { BlockProof } from '#formats/tlb/block-proof.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { blockIdOfFile, blockIdOfName } from '#test/support/block-proof-files.js';
import { parseChainName, readBytes, readChain, vectorPath } from '#test/support/vector-files.js';

/** A block of mainnet's first ten, with the whole state after it. */
export interface GenesisBlock {
  readonly id: BlockId;
  readonly root: Cell;
  readonly state: Cell;
  /** The file. */
  readonly bytes: Uint8Array;
  /** Of masterchain blocks. */
  readonly signatures: SignatureSet | null;
}

export const zerostateBytes = readBytes(vectorPath('mainnet-genesis/zerostate_mc_5E994FCF.boc'));
export const zerostate = parseBocRoot(zerostateBytes);
export const zerostateId = blockIdOfFile(zerostateBytes, 0);

/** Blocks 1 to 10 of the masterchain (-1) or the basechain (0), at their seqno. */
export function genesisBlocks(workchain: number): readonly GenesisBlock[] {
  const blocks: GenesisBlock[] = [];
  const signatures = new Map<number, SignatureSet>();
  let state =
    workchain === -1 ? zerostate : parseBocRoot(readBytes(vectorPath('mainnet-genesis/zerostate_wc0_EE0BEDFE.boc')));
  const entries = [...readChain(vectorPath('mainnet-genesis'))].map((entry) => ({
    ...entry,
    named: parseChainName(entry.name)!,
  }));
  entries.sort((a, b) => a.named.seqno - b.named.seqno);
  for (const { named, data } of entries) {
    const proof = named.kind === 'proof' ? decodeCell(BlockProof, parseBocRoot(data)) : null;
    if (proof !== null) signatures.set(named.seqno, signatureSetOf(proof.signatures!.value));
  }
  for (const { named, data } of entries) {
    if (named.kind !== 'block' || named.workchain !== workchain) continue;
    const root = parseBocRoot(data);
    state = applyMerkleUpdate(state, root.ref(2));
    const signed = workchain === -1 ? signatures.get(named.seqno)! : null;
    blocks[named.seqno] = { id: blockIdOfName(named), root, state, bytes: data, signatures: signed };
  }
  return blocks;
}

/** A Merkle proof of the parts of a tree that `read` opens. */
export function proofOf(root: Cell, read: (root: Cell) => void): Cell {
  const tracker = new UsageTracker();
  const tracked = tracker.track(root);
  tracked.touch();
  read(tracked);
  return createMerkleProof(root, tracker);
}

/** The proof of a block's header that also shows the hash of the state. */
export function headerProof({ root, id }: GenesisBlock): Cell {
  return proofOf(root, (tracked) => void stateHash(checkBlockHeader(tracked, id)));
}

/** One bag of these roots. */
export function bag(...roots: readonly Cell[]): Uint8Array {
  return serializeBoc(roots);
}

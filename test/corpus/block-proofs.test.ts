import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { createMerkleProof, openMerkleProof, UsageTracker } from '#formats/cells/merkle-proof.js';
import { openCell } from '#formats/cells/slice.js';
import { toHex } from '#kernel/bytes.js';
import { partOf } from '#test/support/full-depth.js';
import { type ChainEntry, parseChainName, readChain, vectorPath } from '#test/support/vector-files.js';

/** Records all cells of the block that the proof shows. */
function trackShown(whole: Cell, shown: Cell, tracker: UsageTracker): void {
  if (shown.type === CellType.prunedBranch) return;
  tracker.record(whole);
  for (let r = 0; r < shown.refCount; r++) trackShown(whole.ref(r), shown.ref(r), tracker);
}

/** Makes each proof anew from its block; the state update in it nests a Merkle cell in the proof. @returns how many */
function remakeProofs(entries: Iterable<ChainEntry>): number {
  const blocks = new Map<string, Cell>();
  const proofs: { readonly name: string; readonly hash: string; readonly proof: Cell }[] = [];
  for (const { name, data } of entries) {
    const id = parseChainName(name);
    if (id?.kind === 'block') blocks.set(id.rootHash, parseBocRoot(data));
    // block_proof#c3 proof_for:BlockIdExt root:^Cell signatures:(Maybe ^BlockSignatures) = BlockProof
    else if (id !== null) proofs.push({ name, hash: id.rootHash, proof: openCell(parseBocRoot(data)).loadRef() });
  }
  for (const { name, hash, proof } of proofs.length > 100 ? partOf(proofs, 4) : proofs) {
    const block = blocks.get(hash);
    if (block === undefined) throw new TypeError(`${name}: its block is missing`);
    const virtualRoot = openMerkleProof(proof);
    expect(toHex(virtualRoot.hash(0)), name).toBe(hash);
    const tracker = new UsageTracker();
    trackShown(block, virtualRoot, tracker);
    expect(toHex(createMerkleProof(block, tracker).hash()), name).toBe(toHex(proof.hash()));
  }
  return proofs.length;
}

describe('proofs of blocks, made again from the blocks, are the same cells', () => {
  it('blocks 1 to 10 of mainnet', () => {
    expect(remakeProofs(readChain(vectorPath('mainnet-genesis')))).toBe(20);
  });
});

const genesis = vectorPath('collection/mainnet-genesis');
const recorded = vectorPath('collection/recorded-net/chain');

describe('the same, on the collection of real data', () => {
  it('all of mainnet-genesis', () => {
    expect(remakeProofs(readChain(genesis))).toBe(805);
  });

  it('all of recorded-net', () => {
    expect(remakeProofs(readChain(recorded))).toBe(2587);
  });
});

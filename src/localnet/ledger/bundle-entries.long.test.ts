import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { signatureSetOf, verifyBlockProofLink } from '#formats/proofs/block-proof.js';
import { BlockProof } from '#formats/tlb/block-proof.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { toHex } from '#kernel/bytes.js';
import { blockProofFile } from '#localnet/ledger/bundle-entries.js';
import { blockIdOfName } from '#test/support/block-proof-files.js';
import { parseChainName, readChain, vectorPath } from '#test/support/vector-files.js';

/** Makes the proofs of a folder again. @returns how many there were, and those that came out otherwise */
function remakeProofs(folder: string): {
  readonly made: number;
  readonly signed: number;
  readonly keyBlocks: number;
  readonly other: string[];
} {
  const blocks = new Map<string, Uint8Array>();
  let made = 0;
  let signed = 0;
  let keyBlocks = 0;
  const other: string[] = [];
  const entries = [...readChain(folder)].map((entry) => ({ ...entry, named: parseChainName(entry.name)! }));
  for (const { named, data } of entries) if (named.kind === 'block') blocks.set(named.rootHash, data);
  for (const { name, named, data } of entries) {
    if (named.kind === 'block') continue;
    const recorded = decodeCell(BlockProof, parseBocRoot(data)).signatures?.value ?? null;
    const by = recorded === null ? null : { signatures: signatureSetOf(recorded), weight: recorded.sig_weight };
    const root = parseBocRoot(blocks.get(named.rootHash)!);
    made++;
    if (by !== null) signed++;
    const again = blockProofFile(blockIdOfName(named), root, by);
    if (toHex(again) === toHex(data)) continue;
    // Of a key block a node shows more of the configuration.
    const { header } = verifyBlockProofLink(again, blockIdOfName(named));
    if (!header.info.key_block || header.block.extra.value.custom?.value.config === undefined) other.push(name);
    keyBlocks++;
  }
  return { made, signed, keyBlocks, other };
}

describe('the file of a block proof', () => {
  it('has the bytes that a node wrote, with votes', () => {
    expect(remakeProofs(vectorPath('recorded-chain'))).toEqual({ made: 22, signed: 10, keyBlocks: 0, other: [] });
  });

  const recorded = vectorPath('collection/recorded-net/chain');
  it('has the bytes that a node wrote, for a whole recorded chain', () => {
    const { made, signed, keyBlocks, other } = remakeProofs(recorded);
    expect(other).toEqual([]);
    expect(keyBlocks).toBe(3);
    expect(signed).toBeGreaterThan(1000);
    expect(made).toBeGreaterThan(signed);
  });
});

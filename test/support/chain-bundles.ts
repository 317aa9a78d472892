import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { isMasterchain } from '#formats/proofs/block-id.js';
import { signatureSetOf } from '#formats/proofs/block-proof.js';
import { BlockProof } from '#formats/tlb/block-proof.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { toHex } from '#kernel/bytes.js';
import type { ChainTip, NewBlock, NewBlockBundle, Zerostate } from '#localnet/ledger/block-bundle.js';
import { buildChain, type ChainBlock } from '#localnet/replay/recorded-chain.js';
import { readFolder, sortContent } from '#localnet/replay/recorded-folder.js';

/** A recorded chain as a ledger takes it: where it begins, and masterchain block after masterchain block. */
export interface ChainBundles {
  readonly tip: ChainTip;
  readonly zerostates: readonly Zerostate[];
  readonly bundles: readonly NewBlockBundle[];
}

/** Reads a folder with a chain and its proofs. @param to the last masterchain block; null: all */
export function chainBundles(folder: string, to: number | null = null): ChainBundles {
  const content = sortContent(readFolder(folder));
  const chain = buildChain(content, to);
  const zerostates = chain.zerostates.map(({ id, bytes, root }) => ({ id, bytes, state: root }));
  const masterchain = zerostates.find(({ id }) => isMasterchain(id))!;
  const shards = new Map<number, NewBlock[]>();
  for (const block of chain.shards)
    shards.set(block.mc_seqno, [...(shards.get(block.mc_seqno) ?? []), newBlock(block)]);
  const bundles = chain.masterchain.map((block) => {
    const { bytes } = content.proofs.get(toHex(block.id.root_hash))!;
    const { signatures } = decodeCell(BlockProof, parseBocRoot(bytes));
    return {
      shards: shards.get(block.mc_seqno) ?? [],
      masterchain: { ...newBlock(block), key_block: block.key_block },
      signatures: signatureSetOf(signatures!.value),
    };
  });
  return { tip: { masterchain, shards: [] }, zerostates, bundles };
}

function newBlock({ id, bytes, state, prev, gen_utime, end_lt }: ChainBlock): NewBlock {
  return { id, bytes, state, root: parseBocRoot(bytes), prev, gen_utime, end_lt };
}

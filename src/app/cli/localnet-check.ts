import { cliErrors } from '#app/cli/errors.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { isMasterchain, printPosition } from '#formats/proofs/block-id.js';
import { signatureSetOf } from '#formats/proofs/block-proof.js';
import type { SignatureSet } from '#formats/proofs/signatures.js';
import { BlockProof } from '#formats/tlb/block-proof.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { toHex } from '#kernel/bytes.js';
import type { NewBlock } from '#localnet/ledger/block-bundle.js';
import { buildChain, type ChainBlock } from '#localnet/replay/recorded-chain.js';
import { type RecordedContent, readFolder, sortContent } from '#localnet/replay/recorded-folder.js';
import { BlockValidator } from '#localnet/validation/block-validator.js';
import type { Deviation } from '#localnet/validation/rules.js';

/** Result of a successful check. */
export interface ChainReport {
  readonly masterchain_blocks: number;
  /** Of all shards. */
  readonly blocks: number;
  readonly transactions: number;
  readonly messages: number;
  /** State overrides by a developer, which no network rule allows. */
  readonly changed_by_hand: readonly Deviation[];
}

/**
 * Checks the chain in a folder from its zerostates by the rules of a validator.
 * @throws cli/no-signatures, replay/*, validation/* with problem and block
 */
export function checkChain(folder: string): ChainReport {
  const content = sortContent(readFolder(folder));
  const chain = buildChain(content, null);
  const zerostates = chain.zerostates.map(({ id, root }) => ({ id, state: root }));
  const masterchain = zerostates.find(({ id }) => isMasterchain(id))!;
  const shards = new Map<number, ChainBlock[]>();
  for (const block of chain.shards) {
    const known = shards.get(block.mc_seqno);
    if (known === undefined) shards.set(block.mc_seqno, [block]);
    else known.push(block);
  }
  const validator = new BlockValidator({ masterchain, shards: [] }, zerostates);
  const sums = { blocks: 0, transactions: 0, messages: 0 };
  const changed: Deviation[] = [];
  for (const block of chain.masterchain) {
    const { blocks, transactions, messages, deviations } = validator.check({
      shards: (shards.get(block.mc_seqno) ?? []).map(newBlock),
      masterchain: { ...newBlock(block), key_block: block.key_block },
      signatures: signaturesOf(block, content),
    });
    sums.blocks += blocks;
    sums.transactions += transactions;
    sums.messages += messages;
    changed.push(...deviations);
  }
  return { masterchain_blocks: chain.masterchain.length, ...sums, changed_by_hand: changed };
}

function newBlock({ id, bytes, state, prev, gen_utime, end_lt }: ChainBlock): NewBlock {
  return { id, bytes, state, root: parseBocRoot(bytes), prev, gen_utime, end_lt };
}

function signaturesOf({ id }: ChainBlock, { folder, proofs }: RecordedContent): SignatureSet {
  const proof = proofs.get(toHex(id.root_hash));
  const signatures = proof === undefined ? null : decodeCell(BlockProof, parseBocRoot(proof.bytes)).signatures;
  if (signatures !== null) return signatureSetOf(signatures.value);
  throw cliErrors['no-signatures']({ folder, block: printPosition(id) });
}

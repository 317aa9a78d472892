import { type BlockId, printBlockId, sameBlock } from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { blockIdFromTl } from '#formats/tl/block-id.js';
import type { TonNodeBlockIdExt } from '#formats/tl/generated/ton-node.js';

/** A block id out of an answer. Its hashes are copied: they outlive the answer. */
export function keepBlockId(id: TonNodeBlockIdExt): BlockId {
  const { root_hash, file_hash } = id;
  return { ...blockIdFromTl(id), root_hash: root_hash.slice(), file_hash: file_hash.slice() };
}

/** Checks that an answer is about the block that was asked for. @throws proofs/other-block */
export function expectBlock(found: TonNodeBlockIdExt, expected: BlockId): void {
  const id = blockIdFromTl(found);
  if (sameBlock(id, expected)) return;
  throw proofsErrors['other-block']({ expected: printBlockId(expected), found: printBlockId(id) });
}

import type { Need } from '#drivers/lite/lite-source.js';
import type { BlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, type BlockPosition, printBlockId, sameBlock } from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { type BlockQuery, verifyLookup } from '#formats/proofs/shard-block.js';
import { blockIdFromTl, blockIdToTl, signedShard } from '#formats/tl/block-id.js';
import {
  type LiteServerLookupBlockResult,
  LiteServerLookupBlockWithProof,
  type TonNodeBlockIdExt,
} from '#formats/tl/lite-api.js';
import { chainErrors } from '#services/chain/errors.js';

/** A block proven to be in the chain. */
export interface ProvenBlock {
  readonly id: BlockId;
  /** Unix seconds; `null` when only the id is known. */
  readonly gen_utime: number | null;
  /** Seqno of a masterchain block at the time of the block; `null` when unknown. */
  readonly mc_seqno: number | null;
}

/** LRU cache of proven blocks by position. */
export class ProvenBlocks {
  readonly #limit: number;
  readonly #blocks = new Map<string, ProvenBlock>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#blocks.size;
  }

  get(position: BlockPosition): ProvenBlock | null {
    const key = keyOf(position);
    const block = this.#blocks.get(key);
    if (block === undefined) return null;
    this.#blocks.delete(key);
    this.#blocks.set(key, block);
    return block;
  }

  /**
   * Adds a block and returns everything known about it.
   * @throws chain/two-blocks when another block is proven at the same position
   */
  add(block: ProvenBlock): ProvenBlock {
    const key = keyOf(block.id);
    const known = this.#blocks.get(key);
    if (known !== undefined && !sameBlock(known.id, block.id)) {
      throw chainErrors['two-blocks']({ first: printBlockId(known.id), second: printBlockId(block.id) });
    }
    const merged: ProvenBlock = {
      id: known?.id ?? copyHashes(block.id),
      gen_utime: block.gen_utime ?? known?.gen_utime ?? null,
      mc_seqno: known?.mc_seqno ?? block.mc_seqno,
    };
    this.#blocks.delete(key);
    this.#blocks.set(key, merged);
    if (this.#blocks.size > this.#limit) {
      for (const oldest of this.#blocks.keys()) {
        this.#blocks.delete(oldest);
        break;
      }
    }
    return merged;
  }
}

/** Copies the hashes, which may be views into a larger buffer. */
function copyHashes(id: BlockId): BlockId {
  return { ...id, root_hash: id.root_hash.slice(), file_hash: id.file_hash.slice() };
}

function keyOf({ workchain, shard, seqno }: BlockPosition): string {
  return `${workchain}:${shard.toString(36)}:${seqno}`;
}

/** The data requirement for the contents of a block. */
export function needOfBlock({ mc_seqno }: ProvenBlock): Need {
  return mc_seqno === null ? { kind: 'archive' } : { kind: 'block', seqno: mc_seqno };
}

/** The data requirement for the state after a block. */
export function needOfState({ mc_seqno }: ProvenBlock): Need {
  return mc_seqno === null ? { kind: 'archive' } : { kind: 'state', seqno: mc_seqno };
}

/** Converts a block id of an answer. The hashes are copied, so that they do not retain the answer. */
export function copyBlockId(id: TonNodeBlockIdExt): BlockId {
  const { root_hash, file_hash } = id;
  return { ...blockIdFromTl(id), root_hash: root_hash.slice(), file_hash: file_hash.slice() };
}

/** Checks that an answer is about the requested block. @throws proofs/other-block */
export function expectBlock(found: TonNodeBlockIdExt, expected: BlockId): void {
  const id = blockIdFromTl(found);
  if (sameBlock(id, expected)) return;
  throw proofsErrors['other-block']({ expected: printBlockId(expected), found: printBlockId(id) });
}

/** A block found by a lookup, with a masterchain block that proves it. */
export interface FoundBlock {
  readonly header: BlockHeader;
  readonly mc: BlockId;
}

/**
 * The query that looks a block up, with a proof from the state of a masterchain block, which lists all masterchain blocks before it.
 *
 * @param known the masterchain block
 * @param accept makes the value of what was found; throws when it is not acceptable
 */
export function lookupFrom<Value>(known: BlockId, query: BlockQuery, accept: (found: FoundBlock) => Value) {
  const { workchain } = query;
  return {
    fn: LiteServerLookupBlockWithProof,
    query: {
      mode: query.by === 'seqno' ? 1 : query.by === 'lt' ? 2 : 4,
      id: { workchain, shard: signedShard(query.shard), seqno: query.by === 'seqno' ? query.seqno | 0 : 0 },
      mc_block_id: blockIdToTl(known),
      lt: query.by === 'lt' ? BigInt.asIntN(64, query.lt) : null,
      utime: query.by === 'utime' ? query.utime | 0 : null,
    },
    verify: (answer: LiteServerLookupBlockResult): Value => {
      const mc = copyBlockId(answer.mc_block_id);
      const { client_mc_state_proof, mc_block_proof, header, prev_header } = answer;
      const links = answer.shard_links.map((link) => ({ id: copyBlockId(link.id), proof: link.proof }));
      const parts = { client_mc_state_proof, mc_block_proof, shard_links: links, header, prev_header };
      return accept({
        header: verifyLookup(known, query, { id: copyBlockId(answer.id), mc_block_id: mc, ...parts }),
        mc,
      });
    },
  };
}

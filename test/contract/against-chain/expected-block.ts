import { Cell as CoreCell } from '@ton/core';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { type BlockId, sameBlock } from '#formats/proofs/block-id.js';
import { Block } from '#formats/tlb/block.js';
import { previousBlocks, shardContains } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { toHex } from '#kernel/bytes.js';
import type { ChainRecord } from '#test/contract/against-chain/chain-record.js';
import { base64, blockIdJson } from '#test/contract/against-chain/core.js';
import type { BlockFacts } from '#test/support/chain-facts.js';

export function expectedHeader(record: ChainRecord, { id, bytes }: BlockFacts): Record<string, unknown> {
  const block = decodeCell(Block, parseBocRoot(bytes));
  const info = block.info.value;
  return {
    '@type': 'blocks.header',
    id: blockIdJson(id),
    global_id: block.global_id,
    version: info.version,
    flags: info.flags,
    after_merge: info.after_merge,
    after_split: info.after_split,
    before_split: info.before_split,
    want_merge: info.want_merge,
    want_split: info.want_split,
    validator_list_hash_short: info.gen_validator_list_hash_short | 0,
    catchain_seqno: info.gen_catchain_seqno,
    min_ref_mc_seqno: info.min_ref_mc_seqno,
    is_key_block: info.key_block,
    prev_key_block_seqno: info.prev_key_block_seqno,
    start_lt: info.start_lt.toString(),
    end_lt: info.end_lt.toString(),
    gen_utime: info.gen_utime,
    prev_blocks: parentsOf(record, bytes).map(blockIdJson),
  };
}

/** The names of the blocks before one, as their own files have them. */
function parentsOf(record: ChainRecord, bytes: Uint8Array): BlockId[] {
  const { prev_ref } = decodeCell(Block, parseBocRoot(bytes)).info.value;
  return previousBlocks(prev_ref.value).map(({ root_hash }) => record.idOf(toHex(root_hash)));
}

export function expectedSignatures({ id, signatures: set }: BlockFacts): Record<string, unknown> {
  const signatures = set!.signatures.map(({ node_id_short, signature }) => ({
    '@type': 'blocks.signature',
    node_id_short: base64(node_id_short),
    signature: base64(signature),
  }));
  if (set!.kind === 'ordinary') return { '@type': 'blocks.blockSignatures', id: blockIdJson(id), signatures };
  return {
    '@type': 'blocks.blockSignatures.simplex',
    id: blockIdJson(id),
    signatures,
    session_id: base64(set!.session_id),
    slot: set!.slot | 0,
    candidate: base64(set!.candidate),
  };
}

/** The masterchain block that commits a block, and from it the blocks on the way down to it. */
export function wayTo(
  record: ChainRecord,
  { id }: BlockFacts,
): { readonly mc: BlockFacts; readonly way: readonly BlockId[] } {
  if (id.workchain === -1) return { mc: record.facts.masterchain[id.seqno]!, way: [] };
  for (const mc of record.masterchain) {
    for (const top of mc.tops) {
      const way = wayDown(record, top, id);
      if (way !== null) return { mc, way };
    }
  }
  throw new RangeError('a block that is not committed');
}

function wayDown(record: ChainRecord, from: BlockId, to: BlockId): BlockId[] | null {
  if (sameBlock(from, to)) return [from];
  const related = shardContains(from.shard, to.shard) || shardContains(to.shard, from.shard);
  if (!related || from.seqno <= to.seqno || from.seqno - to.seqno > 16) return null;
  for (const parent of parentsOf(record, record.byHash(toHex(from.root_hash))!.bytes)) {
    const way = wayDown(record, parent, to);
    if (way !== null) return [from, ...way];
  }
  return null;
}

/** What a Merkle proof of a block or a state shows, read by the other library, which checks the hashes in it. */
export class CoreProof {
  /** Of the whole that it is about, hex. */
  readonly rootHash: string;
  readonly #bits: string[] = [];

  readonly #hashes = new Set<string>();

  constructor(bag: string | CoreCell) {
    const root = typeof bag === 'string' ? CoreCell.fromBoc(Buffer.from(bag, 'base64'))[0]! : bag;
    const slice = root.beginParse(true);
    if (!root.isExotic || slice.loadUint(8) !== 3) throw new TypeError('not a Merkle proof');
    this.rootHash = slice.loadBuffer(32).toString('hex');
    const visible = root.refs[0]!;
    if (visible.hash(0).toString('hex') !== this.rootHash) throw new TypeError('a proof of something else');
    this.#collect(visible);
  }

  /** The proofs in a bag. */
  static all(bag: string): CoreProof[] {
    return CoreCell.fromBoc(Buffer.from(bag, 'base64')).map((root) => new CoreProof(root));
  }

  #collect(cell: CoreCell): void {
    this.#hashes.add(cell.hash(0).toString('hex'));
    if (cell.isExotic) {
      // The two sides of a state's change are Merkle updates of pruned cells.
      for (const ref of cell.refs) this.#hashes.add(ref.hash(0).toString('hex'));
      return;
    }
    let bits = '';
    for (let i = 0; i < cell.bits.length; i++) bits += cell.bits.at(i) ? '1' : '0';
    this.#bits.push(bits);
    for (const ref of cell.refs) this.#collect(ref);
  }

  /** Whether the name of a block, root hash and file hash in a row, can be seen. */
  names({ root_hash, file_hash }: BlockId): boolean {
    const wanted = bitsOf(root_hash) + bitsOf(file_hash);
    return this.#bits.some((bits) => bits.includes(wanted));
  }

  /** Whether a cell of this hash, hex, belongs to it, pruned or not. */
  refersTo(hash: string): boolean {
    return this.#hashes.has(hash);
  }
}

function bitsOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
}

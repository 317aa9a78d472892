import type { Cell } from '#formats/cells/cell.js';
import {
  type BlockHeader,
  stateHash,
  verifyBlockFile,
  verifyBlockHeader,
  verifyNamedBlockFile,
  verifyZerostateFile,
} from '#formats/proofs/block-header.js';
import { type BlockId, isMasterchain, printPosition } from '#formats/proofs/block-id.js';
import { blockOfShard, blockShardHashes } from '#formats/proofs/shard-block.js';
import { checkZerostate, type ProvenState } from '#formats/proofs/shard-state.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import {
  type LiteServerBlockHeader,
  type LiteServerBlockState,
  LiteServerGetBlock,
  LiteServerGetBlockHeader,
  LiteServerGetState,
} from '#formats/tl/lite-api.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import type { BlockLookup } from '#services/chain/block-lookup.js';
import { chainErrors } from '#services/chain/errors.js';
import { expectBlock, needOfBlock, type ProvenBlock, type ProvenBlocks } from '#services/chain/proven-blocks.js';
import type { ReadAt, ReadContext, ReadResult } from '#services/chain/read-context.js';

/** A complete block. Its file hash proves it. */
export interface BlockDataRead extends ReadResult<null> {
  readonly gen_utime: number;
  /** The file: SHA-256 is the file hash of the id. */
  readonly data: Uint8Array;
  readonly root: Cell;
  /** `header.block` is the whole block. */
  readonly header: BlockHeader;
}

/** The file of a block whose id is contained in a proven block. */
export interface BlockFileRead {
  readonly id: BlockId;
  /** SHA-256 is the file hash of the id. A view into the answer. */
  readonly data: Uint8Array;
  /** `header.block` is the complete block; its cells are not hashed. */
  readonly header: BlockHeader;
}

/** A complete zerostate. */
export interface ZerostateRead extends ReadResult<LiteServerBlockState> {
  readonly gen_utime: number;
  readonly data: Uint8Array;
  readonly state: ProvenState;
}

export interface BlockDataReaderModules {
  readonly blockIds: BlockLookup;
  readonly proven: ProvenBlocks;
}

/** Reads complete blocks and zerostates. */
export class BlockDataReader {
  readonly #modules: BlockDataReaderModules;

  constructor(modules: BlockDataReaderModules) {
    this.#modules = modules;
  }

  async blockData(context: ReadContext, { at }: ReadAt): Promise<BlockDataRead> {
    const block = await this.#modules.blockIds.resolveBlock(context, at);
    const { value } = await context.query({
      fn: LiteServerGetBlock,
      query: { id: blockIdToTl(block.id) },
      need: needOfBlock(block),
      immutable: true,
      verifiedAs: 'block data',
      verify: ({ id, data }) => {
        expectBlock(id, block.id);
        const header = verifyBlockFile(data, block.id);
        return { data, header, root: header.root, tops: shardTopsOf(header) };
      },
    });
    const { data, header, root, tops } = value;
    this.#remember(block, header, tops);
    return { block: block.id, gen_utime: header.info.gen_utime, data, root, header, proof: null };
  }

  /** Reads a block file without caching it and without recording the blocks that it proves. */
  async blockFile(context: ReadContext, block: ProvenBlock): Promise<BlockFileRead> {
    const { id } = block;
    if (id.seqno === 0) throw chainErrors.zerostate({ block: printPosition(id) });
    const { value } = await context.query({
      fn: LiteServerGetBlock,
      query: { id: blockIdToTl(id) },
      need: needOfBlock(block),
      verifiedAs: 'block file',
      verify: (answer): BlockFileRead => {
        expectBlock(answer.id, id);
        return { id, data: answer.data, header: verifyNamedBlockFile(answer.data, id) };
      },
    });
    return value;
  }

  /** Records the previous blocks, and for a masterchain block also the shard tops, as proven. */
  #remember(block: ProvenBlock, header: BlockHeader, tops: readonly ProvenBlock[]): void {
    const { proven } = this.#modules;
    rememberHeader(proven, header, block.mc_seqno);
    for (const top of tops) proven.add(top);
  }

  /** The zerostate of the masterchain, or of a workchain by the id in its first block or in the configuration. */
  async zerostate(context: ReadContext, id: BlockId): Promise<ZerostateRead> {
    if (id.seqno !== 0) {
      throw chainErrors.parameter({
        name: 'block',
        value: printPosition(id),
        wanted: 'a zerostate, with seqno 0',
      });
    }
    const block = await this.#modules.blockIds.resolve(context, id);
    const { value, answer } = await context.query({
      fn: LiteServerGetState,
      query: { id: blockIdToTl(block.id) },
      need: { kind: 'archive' },
      immutable: true,
      verifiedAs: 'zerostate',
      verify: (found) => {
        expectBlock(found.id, block.id);
        const state = checkZerostate(verifyZerostateFile(found.data, block.id), block.id);
        return { data: found.data, state };
      },
    });
    const { data, state } = value;
    return { block: block.id, gen_utime: state.state.gen_utime, data, state, proof: context.proof(answer) };
  }
}

function shardTopsOf(header: BlockHeader): readonly ProvenBlock[] {
  const { id, root } = header;
  if (!isMasterchain(id)) return [];
  return [...shardDescrs(blockShardHashes(root, id))].map((entry) => ({
    id: blockOfShard(entry),
    gen_utime: entry.descr.seq_no === 0 ? null : entry.descr.gen_utime,
    mc_seqno: id.seqno,
  }));
}

/** The header of a block. Only the parts of `header.block` covered by a header proof can be read. */
export interface HeaderRead extends ReadResult<LiteServerBlockHeader> {
  readonly gen_utime: number;
  readonly header: BlockHeader;
  /** Hash of the shard state after the block. */
  readonly state_hash: Uint8Array;
}

export interface HeaderReaderModules {
  readonly blockIds: BlockLookup;
  readonly proven: ProvenBlocks;
}

/** Mode bit: include the state update. */
const WITH_STATE_UPDATE = 1;

/** Reads block headers. */
export class HeaderReader {
  readonly #modules: HeaderReaderModules;

  constructor(modules: HeaderReaderModules) {
    this.#modules = modules;
  }

  async header(context: ReadContext, { at }: ReadAt): Promise<HeaderRead> {
    const block = await this.#modules.blockIds.resolveBlock(context, at);
    const { id } = block;
    const { value, answer } = await context.query({
      fn: LiteServerGetBlockHeader,
      query: { id: blockIdToTl(id), mode: WITH_STATE_UPDATE },
      need: needOfBlock(block),
      immutable: true,
      verifiedAs: 'header',
      verify: (found) => {
        expectBlock(found.id, id);
        const header = verifyBlockHeader(found.header_proof, id);
        return { header, state_hash: stateHash(header) };
      },
    });
    const { header, state_hash } = value;
    rememberHeader(this.#modules.proven, header, block.mc_seqno);
    return { block: id, gen_utime: header.info.gen_utime, header, state_hash, proof: context.proof(answer) };
  }
}

/** Records a block as proven, with its previous blocks and its masterchain reference. */
function rememberHeader(proven: ProvenBlocks, header: BlockHeader, mc_seqno: number | null): void {
  const seqnoOf = (id: BlockId): number | null => (isMasterchain(id) ? id.seqno : mc_seqno);
  proven.add({ id: header.id, gen_utime: header.info.gen_utime, mc_seqno: seqnoOf(header.id) });
  for (const id of header.prev) proven.add({ id, gen_utime: null, mc_seqno: seqnoOf(id) });
  const { master_ref } = header;
  if (master_ref !== null) proven.add({ id: master_ref, gen_utime: null, mc_seqno: master_ref.seqno });
}

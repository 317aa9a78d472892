import type { Cell } from '#formats/cells/cell.js';
import {
  type BlockHeader,
  verifyBlockFile,
  verifyNamedBlockFile,
  verifyZerostateFile,
} from '#formats/proofs/block-header.js';
import { type BlockId, isMasterchain, printPosition } from '#formats/proofs/block-id.js';
import { blockOfShard, blockShardHashes } from '#formats/proofs/shard-block.js';
import { checkZerostate, type ProvenState } from '#formats/proofs/shard-state.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerBlockState } from '#formats/tl/generated/lite-server.js';
import { LiteServerGetBlock, LiteServerGetState } from '#formats/tl/generated/lite-server-functions.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import type { BlockIds } from '#services/chain/block-ids.js';
import type { Call } from '#services/chain/call.js';
import { chainErrors } from '#services/chain/errors.js';
import { rememberHeader } from '#services/chain/headers.js';
import { needOfBlock } from '#services/chain/need.js';
import type { ProvenBlock, ProvenBlocks } from '#services/chain/proven-blocks.js';
import type { Answered, ReadAt } from '#services/chain/read-options.js';
import { expectBlock } from '#services/chain/tl-block-id.js';

/** A whole block. Its bytes are its own proof. */
export interface BlockDataRead extends Answered<null> {
  readonly gen_utime: number;
  /** The file: SHA-256 is the file hash of the id. */
  readonly data: Uint8Array;
  readonly root: Cell;
  /** `header.block` is the whole block. */
  readonly header: BlockHeader;
}

/** The file of a block that was named by a proven one. */
export interface BlockFileRead {
  readonly id: BlockId;
  /** SHA-256 is the file hash of the id. A view: the answer that it came in may be somewhat longer. */
  readonly data: Uint8Array;
  /** `header.block` is the whole block, no cell of which has been hashed. */
  readonly header: BlockHeader;
}

/** A whole zerostate. */
export interface ZerostateRead extends Answered<LiteServerBlockState> {
  readonly gen_utime: number;
  readonly data: Uint8Array;
  readonly state: ProvenState;
}

export interface BlockDataModules {
  readonly blockIds: BlockIds;
  readonly proven: ProvenBlocks;
}

/** Reads of whole blocks and zerostates. */
export class BlockData {
  readonly #modules: BlockDataModules;

  constructor(modules: BlockDataModules) {
    this.#modules = modules;
  }

  async blockData(call: Call, { at }: ReadAt): Promise<BlockDataRead> {
    const block = await this.#modules.blockIds.resolveBlock(call, at);
    const { value } = await call.ask({
      fn: LiteServerGetBlock,
      query: { id: blockIdToTl(block.id) },
      need: needOfBlock(block),
      immutable: true,
      verifiedAs: 'block data',
      verify: ({ id, data }) => {
        expectBlock(id, block.id);
        const header = verifyBlockFile(data, block.id);
        return { data, header, root: header.root, tops: shardTops(header) };
      },
    });
    const { data, header, root, tops } = value;
    this.#remember(block, header, tops);
    return { block: block.id, gen_utime: header.info.gen_utime, data, root, header, proof: null };
  }

  /** Each file is wanted once: it is kept nowhere, and what it names is not remembered. */
  async blockFile(call: Call, block: ProvenBlock): Promise<BlockFileRead> {
    const { id } = block;
    if (id.seqno === 0) throw chainErrors.zerostate({ block: printPosition(id) });
    const { value } = await call.ask({
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

  /** A block proves the ones before it; one of the masterchain also the newest ones of all shards. */
  #remember(block: ProvenBlock, header: BlockHeader, tops: readonly ProvenBlock[]): void {
    const { proven } = this.#modules;
    rememberHeader(proven, header, block.mc_seqno);
    for (const top of tops) proven.add(top);
  }

  /** The zerostate of the masterchain, or of a workchain by the id that its first block or the configuration names. */
  async zerostate(call: Call, id: BlockId): Promise<ZerostateRead> {
    if (id.seqno !== 0) {
      throw chainErrors.parameter({
        name: 'block',
        value: printPosition(id),
        wanted: 'a zerostate, which has seqno 0',
      });
    }
    const block = await this.#modules.blockIds.resolve(call, id);
    const { value, answer } = await call.ask({
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
    return { block: block.id, gen_utime: state.state.gen_utime, data, state, proof: call.proof(answer) };
  }
}

function shardTops(header: BlockHeader): readonly ProvenBlock[] {
  const { id, root } = header;
  if (!isMasterchain(id)) return [];
  return [...shardDescrs(blockShardHashes(root, id))].map((entry) => ({
    id: blockOfShard(entry),
    gen_utime: entry.descr.seq_no === 0 ? null : entry.descr.gen_utime,
    mc_seqno: id.seqno,
  }));
}

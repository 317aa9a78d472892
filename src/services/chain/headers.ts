import { type BlockHeader, stateHash, verifyBlockHeader } from '#formats/proofs/block-header.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { isMasterchain } from '#formats/proofs/block-id.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerBlockHeader } from '#formats/tl/generated/lite-server.js';
import { LiteServerGetBlockHeader } from '#formats/tl/generated/lite-server-functions.js';
import type { BlockIds } from '#services/chain/block-ids.js';
import type { Call } from '#services/chain/call.js';
import { needOfBlock } from '#services/chain/need.js';
import type { ProvenBlocks } from '#services/chain/proven-blocks.js';
import type { Answered, ReadAt } from '#services/chain/read-options.js';
import { expectBlock } from '#services/chain/tl-block-id.js';

/** The header of a block. Of `header.block`, only what a header proof shows can be read. */
export interface HeaderRead extends Answered<LiteServerBlockHeader> {
  readonly gen_utime: number;
  readonly header: BlockHeader;
  /** Hash of the shard's state after the block. */
  readonly state_hash: Uint8Array;
}

export interface HeadersModules {
  readonly blockIds: BlockIds;
  readonly proven: ProvenBlocks;
}

/** Besides the header itself: the update of the state. */
const WITH_STATE_UPDATE = 1;

/** Reads of block headers. */
export class Headers {
  readonly #modules: HeadersModules;

  constructor(modules: HeadersModules) {
    this.#modules = modules;
  }

  async header(call: Call, { at }: ReadAt): Promise<HeaderRead> {
    const block = await this.#modules.blockIds.resolveBlock(call, at);
    const { id } = block;
    const { value, answer } = await call.ask({
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
    return { block: id, gen_utime: header.info.gen_utime, header, state_hash, proof: call.proof(answer) };
  }
}

/** A proven block proves the ones before it, and the masterchain block that it was made on. */
export function rememberHeader(proven: ProvenBlocks, header: BlockHeader, mc_seqno: number | null): void {
  const seqnoOf = (id: BlockId): number | null => (isMasterchain(id) ? id.seqno : mc_seqno);
  proven.add({ id: header.id, gen_utime: header.info.gen_utime, mc_seqno: seqnoOf(header.id) });
  for (const id of header.prev) proven.add({ id, gen_utime: null, mc_seqno: seqnoOf(id) });
  const { master_ref } = header;
  if (master_ref !== null) proven.add({ id: master_ref, gen_utime: null, mc_seqno: master_ref.seqno });
}

import type { BlockId } from '#formats/proofs/block-id.js';
import { verifyConfig } from '#formats/proofs/config.js';
import { type PreviousBlocks, previousBlocks } from '#formats/proofs/previous-blocks.js';
import { inPart } from '#formats/proofs/proof-part.js';
import { masterchainExtra } from '#formats/proofs/shard-state.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import { LiteServerGetConfigParams } from '#formats/tl/generated/lite-server-functions.js';
import { toHex } from '#kernel/bytes/bytes.js';
import type { Call } from '#services/chain/call.js';
import { expectBlock } from '#services/chain/tl-block-id.js';
import type { NetworkConfig } from '#services/contracts/network-config.js';

/** Of the masterchain state: where it remembers the blocks before. */
const WITH_PREVIOUS_BLOCKS = 128;

/** So many blocks' worth of answers are kept: a few of the newest, asked for again and again. */
const KEPT = 16;

/** What contracts are told of the blocks before: read from the state of a masterchain block, with proof. */
export class PrevBlocks {
  /** By root hash of the block. */
  readonly #kept = new Map<string, PreviousBlocks>();
  #fetches = 0;

  /** How many were fetched. */
  get fetches(): number {
    return this.#fetches;
  }

  /** @throws chain/*, lite/* */
  async at(call: Call, block: BlockId, { global_version }: NetworkConfig): Promise<PreviousBlocks> {
    const key = toHex(block.root_hash);
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    this.#fetches++;
    const { value } = await call.ask({
      fn: LiteServerGetConfigParams,
      query: { mode: WITH_PREVIOUS_BLOCKS, id: blockIdToTl(block), param_list: [] },
      need: { kind: 'state', seqno: block.seqno },
      immutable: true,
      verify: (answer) => {
        expectBlock(answer.id, block);
        const state = verifyConfig(block, answer.state_proof, answer.config_proof);
        return inPart('config_proof', () => previousBlocks(block, masterchainExtra(state), global_version));
      },
    });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < KEPT) break;
      this.#kept.delete(oldest);
    }
    this.#kept.set(key, value);
    return value;
  }
}

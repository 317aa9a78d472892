import { addressOfBytes } from '#drivers/store/keys.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { toHex } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { isNotAvailable } from '#services/chain/call.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { ReadOptions } from '#services/chain/read-options.js';
import type { ChainQuestions, ForeignAccount } from '#services/indexer/contracts/chain-questions.js';

export interface ChainAnswersOptions {
  /** Of the masterchain. */
  readonly zerostate: BlockId;
  /** Whether all accounts of the chain are indexed, so that one which is not indexed is not there. */
  readonly knowsAll: () => boolean;
  readonly signal: AbortSignal;
}

const DEADLINE_MS = 10_000;

/** What contracts are looked at with, from the chain. Each read is tried once: the contract is looked at again later. */
export class ChainAnswers implements ChainQuestions {
  readonly #options: ChainAnswersOptions;
  readonly #chain: Pick<ChainReads, 'config' | 'zerostate' | 'blockId' | 'blockFile' | 'libraries' | 'account'>;

  constructor(
    options: ChainAnswersOptions,
    chain: Pick<ChainReads, 'config' | 'zerostate' | 'blockId' | 'blockFile' | 'libraries' | 'account'>,
  ) {
    this.#options = options;
    this.#chain = chain;
  }

  async config(key_block: number | null): Promise<Uint8Array> {
    const root = (key_block === null ? null : await this.#configOf(key_block)) ?? (await this.#newest());
    return serializeBoc(root);
  }

  async library(hash: Uint8Array): Promise<Uint8Array | null> {
    const { libraries } = await this.#chain.libraries([hash], this.#limits());
    const cell = libraries.get(toHex(hash));
    return cell === undefined ? null : serializeBoc(cell);
  }

  async account(address: Uint8Array): Promise<ForeignAccount | null> {
    if (this.#options.knowsAll()) return null;
    const read = await this.#chain.account(addressOfBytes(address), this.#limits());
    const { cell, last_transaction, shard_utime, block } = read;
    if (cell === null || last_transaction === null || shard_utime === null) return null;
    const { lt, hash } = last_transaction;
    return {
      boc: serializeBoc(cell),
      last_trans_lt: lt,
      last_trans_hash: hash.slice(),
      mc_seqno: block.seqno,
      gen_utime: shard_utime,
    };
  }

  /** Null: no server has it any more. */
  async #configOf(key_block: number): Promise<Cell | null> {
    try {
      if (key_block === 0) {
        const { state } = await this.#chain.zerostate(this.#options.zerostate, this.#limits());
        return state.state.custom?.value.config.config.root ?? null;
      }
      const id = await this.#chain.blockId(key_block, this.#limits());
      const file = await this.#chain.blockFile({ id, gen_utime: null, mc_seqno: key_block }, this.#limits());
      return file.header.block.extra.value.custom?.value.config?.config.root ?? null;
    } catch (error) {
      if (isTernError(error) && (isNotAvailable(error) || error.class === 'not-found')) return null;
      throw error;
    }
  }

  async #newest(): Promise<Cell> {
    return (await this.#chain.config(this.#limits())).root;
  }

  #limits(): ReadOptions {
    return { deadlineMs: DEADLINE_MS, signal: this.#options.signal };
  }
}

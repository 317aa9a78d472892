import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { type BlockId, printPosition } from '#formats/proofs/block-id.js';
import { verifyTransaction } from '#formats/proofs/block-transactions.js';
import { inPart } from '#formats/proofs/proof-part.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerTransactionInfo } from '#formats/tl/generated/lite-server.js';
import { LiteServerGetOneTransaction } from '#formats/tl/generated/lite-server-functions.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { accountPrefix } from '#formats/tlb/shard-ident.js';
import { Transaction } from '#formats/tlb/transaction.js';
import type { BlockIds } from '#services/chain/block-ids.js';
import type { Call } from '#services/chain/call.js';
import { chainErrors } from '#services/chain/errors.js';
import { needOfBlock } from '#services/chain/need.js';
import type { Answered, ReadOptions } from '#services/chain/read-options.js';
import { expectBlock } from '#services/chain/tl-block-id.js';

/** A transaction in its block. */
export interface TransactionRead extends Answered<LiteServerTransactionInfo> {
  readonly gen_utime: number;
  readonly cell: Cell;
  readonly transaction: Transaction;
  /** A masterchain block that proves the block. Honest servers name the one that commits it. */
  readonly masterchain_block: BlockId;
}

export type TransactionOptions = ReadOptions;

/** Reads of single transactions. */
export class Transactions {
  readonly #blockIds: BlockIds;

  constructor(blockIds: BlockIds) {
    this.#blockIds = blockIds;
  }

  /**
   * The transaction of an account with an lt. It is in the first block of the account's shard that reaches the lt, or
   * nowhere.
   * @throws chain/transaction-not-found as proven; chain/block-not-found when there is no such block yet
   */
  async transaction(call: Call, address: Address, lt: bigint): Promise<TransactionRead> {
    const { workchain, hash } = address;
    const found = await this.#blockIds.find(call, { workchain, shard: prefixOf(address), by: 'lt', lt });
    const { block, gen_utime, masterchain_block } = found;
    const { value, answer } = await call.ask({
      fn: LiteServerGetOneTransaction,
      query: { id: blockIdToTl(block), account: { workchain, id: hash }, lt: BigInt.asIntN(64, lt) },
      need: needOfBlock({ id: block, gen_utime, mc_seqno: masterchain_block.seqno }),
      immutable: true,
      verifiedAs: 'transaction',
      verify: ({ id, proof, transaction }) => {
        expectBlock(id, block);
        const cell = verifyTransaction(block, hash, lt, { proof, transaction });
        return cell && { cell, transaction: inPart('transaction', () => decodeCell(Transaction, cell)) };
      },
    });
    if (value === null) {
      throw chainErrors['transaction-not-found']({ account: address.toRaw(), lt, block: printPosition(block) });
    }
    return { block, gen_utime, ...value, masterchain_block, proof: call.proof(answer) };
  }
}

/** An account's shard is told by the first 64 bits of its id. All zeros would be no shard: its last bit tells no shards apart. */
function prefixOf(address: Address): bigint {
  const prefix = accountPrefix(address.hash);
  return prefix === 0n ? 1n : prefix;
}

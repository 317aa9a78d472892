import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerTransactionList } from '#formats/tl/generated/lite-server.js';
import type { LiteServerGetTransactions } from '#formats/tl/generated/lite-server-functions.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { accountPrefix, shardContains } from '#formats/tlb/shard-ident.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { bytesEqual } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { openBlock } from '#localnet/liteserver/block-reading.js';
import { isValidId, loadBlock, lookupBlock, refused, WORKCHAIN_INVALID } from '#localnet/liteserver/find-block.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';
import type { LiteHandlers } from '#localnet/liteserver/lite-handler.js';
import { MerkleReader } from '#localnet/liteserver/merkle-reader.js';

/** More are not given at once. */
const MAX_TRANSACTIONS = 16;

/** Transactions of an account. */
export const transactionHandlers: LiteHandlers<'liteServer.getOneTransaction' | 'liteServer.getTransactions'> = {
  'liteServer.getOneTransaction': ({ id: idTl, account, lt }, { ledger }) => {
    const id = blockIdFromTl(idTl);
    if (!isValidId(id)) throw refused('block id in getOneTransaction() is invalid');
    if (id.workchain !== account.workchain || !shardContains(id.shard, accountPrefix(account.id))) {
      throw refused('requested account id is not contained in the shard of the specified block');
    }
    const block = loadBlock(ledger, id);
    const reader = new MerkleReader(block.root);
    const found = findTransaction(reader.root, account.id, BigInt.asUintN(64, lt));
    return {
      id: blockIdToTl(block.id),
      proof: reader.proofBytes(),
      transaction: found === null ? new Uint8Array() : serializeBoc(found),
    };
  },

  'liteServer.getTransactions': (args, { ledger }) => transactionList(ledger, args),
};

/** The transaction of an account at an lt; `null` when the block has none. */
function findTransaction(root: Cell, account: Uint8Array, lt: bigint): Cell | null {
  const { block, info } = openBlock(root);
  if (lt <= info.start_lt || lt >= info.end_lt) return null;
  const found = block.extra.value.account_blocks.value.get(account)?.transactions.get(lt);
  return found?.cell ?? null;
}

/** Goes back from transaction to transaction, and from block to block. */
function transactionList(
  ledger: Ledger,
  { count, account, lt, hash }: LiteServerGetTransactions,
): LiteServerTransactionList {
  const { workchain, id } = account;
  if (workchain === WORKCHAIN_INVALID) throw refused('invalid workchain specified');
  const shard = accountPrefix(id);
  const ids: BlockId[] = [];
  const transactions: Cell[] = [];
  let wanted = { lt: BigInt.asUintN(64, lt), hash };
  let block: LedgerBlock | null = null;
  while (transactions.length < Math.min(count, MAX_TRANSACTIONS) && wanted.lt !== 0n) {
    let cell: Cell | null = block === null ? null : findTransaction(block.root, id, wanted.lt);
    if (cell === null) {
      block = blockOf(ledger, { workchain, shard }, wanted.lt, transactions.length > 0);
      cell = block === null ? null : findTransaction(block.root, id, wanted.lt);
    }
    if (block === null || cell === null) {
      if (transactions.length > 0) break;
      throw refused('cannot locate transaction in block with specified logical time');
    }
    if (!bytesEqual(cell.hash(), wanted.hash)) throw refused('transaction hash mismatch');
    transactions.push(cell);
    ids.push(block.id);
    const { prev_trans_lt, prev_trans_hash } = decodeCell(Transaction, cell);
    wanted = { lt: prev_trans_lt, hash: prev_trans_hash };
  }
  return {
    ids: ids.map(blockIdToTl),
    transactions: transactions.length === 0 ? new Uint8Array() : serializeBoc(transactions),
  };
}

/** The block of an lt; once there are transactions to answer, a missing one ends the list. */
function blockOf(
  ledger: Ledger,
  shard: { readonly workchain: number; readonly shard: bigint },
  lt: bigint,
  optional: boolean,
): LedgerBlock | null {
  try {
    return lookupBlock(ledger, { ...shard, by: 'lt', lt });
  } catch (error) {
    if (!isTernError(error)) throw error;
    if (optional) return null;
    throw refused(`cannot compute block with specified transaction: ${error.message}`);
  }
}

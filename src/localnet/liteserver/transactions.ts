import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { type ListedTransaction, listTransactions, MAX_LISTED_TRANSACTIONS } from '#formats/proofs/transactions.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import type {
  LiteServerGetTransactions,
  LiteServerListBlockTransactions,
  LiteServerTransactionId,
  LiteServerTransactionList,
  LiteServerTransactionMetadata,
} from '#formats/tl/lite-api.js';
import { Block } from '#formats/tlb/block.js';
import { accountPrefix, shardContains } from '#formats/tlb/block-id.js';
import type { InMsg, MsgEnvelope, MsgMetadata } from '#formats/tlb/block-messages.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { accountOf } from '#formats/tlb/msg-address.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { bytesEqual } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import {
  isValidId,
  loadBlock,
  lookupBlock,
  MerkleReader,
  openBlockHeader,
  refused,
  WORKCHAIN_INVALID,
} from '#localnet/liteserver/block-access.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';
import type { LiteContext, LiteHandlers } from '#localnet/liteserver/lite-handler.js';

/** Maximum number per answer. */
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
  const { block, info } = openBlockHeader(root);
  if (lt <= info.start_lt || lt >= info.end_lt) return null;
  const found = block.extra.value.account_blocks.value.get(account)?.transactions.get(lt);
  return found?.cell ?? null;
}

/** Follows the previous transactions back through the blocks. */
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

/** The block with an lt; once the list is not empty, a missing block ends it. */
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

/** Bits of `mode`: requested fields, and list options. */
const MODE = { account: 1, lt: 2, hash: 4, proof: 32, reverse: 64, after: 128, metadata: 256 } as const;

/** Transactions of a block. */
export const blockTransactionHandlers: LiteHandlers<
  'liteServer.listBlockTransactions' | 'liteServer.listBlockTransactionsExt'
> = {
  'liteServer.listBlockTransactions': (args, context) => {
    const { id, mode, count } = args;
    const withProof = (mode & MODE.proof) !== 0;
    const { reader, block, listed, incomplete } = list(args, context, withProof);
    const withMetadata = (mode & MODE.metadata) !== 0;
    const ids = listed.map((each) => transactionId(mode, each, withMetadata ? metadataOf(block, each) : null));
    return { id, req_count: count, incomplete, ids, proof: reader?.proofBytes() ?? new Uint8Array() };
  },

  'liteServer.listBlockTransactionsExt': (args, context) => {
    const { id, mode, count } = args;
    const withMetadata = (mode & MODE.metadata) !== 0;
    const { reader, block, listed, incomplete } = list(args, context, withMetadata || (mode & MODE.proof) !== 0);
    if (withMetadata) {
      block.extra.value.in_msg_descr.value.root?.touch();
      for (const each of listed) envelopeOf(inMsgOf(block, each))?.touch();
    }
    const roots = listed.map(({ cell }) => cell);
    return {
      id,
      req_count: count,
      incomplete,
      transactions: roots.length === 0 ? new Uint8Array() : serializeBoc(roots),
      proof: reader?.proofBytes() ?? new Uint8Array(),
    };
  },
};

interface Listed {
  /** Tracks what is read, when a proof is requested. */
  readonly reader: MerkleReader | null;
  readonly block: Block;
  readonly listed: readonly ListedTransaction[];
  readonly incomplete: boolean;
}

function list(
  { id: idTl, mode, count, after }: LiteServerListBlockTransactions,
  { ledger }: LiteContext,
  withProof: boolean,
): Listed {
  const id = blockIdFromTl(idTl);
  if (!isValidId(id)) throw refused('invalid block id requested');
  const { root } = loadBlock(ledger, id);
  const reader = withProof ? new MerkleReader(root) : null;
  const block = decodeCell(Block, reader?.root ?? root);
  const reverse = (mode & MODE.reverse) !== 0;
  const from = after === null ? null : { account: after.account, lt: BigInt.asUintN(64, after.lt) };
  const wanted = Math.min(count, MAX_LISTED_TRANSACTIONS);
  const listed: ListedTransaction[] = [];
  const all = listTransactions(block, { reverse, after: from });
  let incomplete = true;
  while (listed.length < wanted) {
    const next = all.next();
    if (next.done === true) {
      incomplete = false;
      break;
    }
    listed.push(next.value);
  }
  return { reader, block, listed, incomplete };
}

function transactionId(
  mode: number,
  { account, lt, hash }: ListedTransaction,
  metadata: LiteServerTransactionMetadata | null,
): LiteServerTransactionId {
  return {
    mode: metadata === null ? mode & ~MODE.metadata : mode | MODE.metadata,
    account: (mode & MODE.account) === 0 ? null : account,
    lt: (mode & MODE.lt) === 0 ? null : BigInt.asIntN(64, lt),
    hash: (mode & MODE.hash) === 0 ? null : hash,
    metadata,
  };
}

/** The `InMsg` of the message that a transaction received; `null` when it received none. */
function inMsgOf(block: Block, { cell }: ListedTransaction): InMsg | null {
  const { in_msg } = decodeCell(Transaction, cell);
  if (in_msg === null) return null;
  const found = block.extra.value.in_msg_descr.value.get(in_msg.cell.hash());
  if (found === undefined) throw refused('no InMsg in InMsgDescr for a message of the block');
  return found;
}

/** The envelope of an internal message that was received. */
function envelopeOf(message: InMsg | null): Cell | null {
  switch (message?.kind) {
    case 'msg_import_imm':
    case 'msg_import_fin':
    case 'msg_import_deferred_fin':
      return message.in_msg.cell;
    default:
      return null;
  }
}

function metadataOf(block: Block, transaction: ListedTransaction): LiteServerTransactionMetadata | null {
  const message = inMsgOf(block, transaction);
  if (envelopeOf(message) === null) return null;
  const envelope = (message as Extract<InMsg, { readonly kind: 'msg_import_imm' }>).in_msg.value;
  return envelope.kind === 'msg_envelope_v2' && envelope.metadata !== null ? metadataToTl(envelope.metadata) : null;
}

/** Metadata of a message (initiator and depth) for the lite API. */
function metadataToTl({ depth, initiator_addr, initiator_lt }: MsgMetadata): LiteServerTransactionMetadata {
  const address = accountOf(initiator_addr);
  if (address === null) throw refused('the initiator of a message has no standard address');
  const { workchain, hash: id } = address;
  return { mode: 0, depth: depth | 0, initiator: { workchain, id }, initiator_lt: BigInt.asIntN(64, initiator_lt) };
}

/** Placeholder for missing metadata in a field that is not optional. */
const NO_METADATA: LiteServerTransactionMetadata = {
  mode: 0,
  depth: -1,
  initiator: { workchain: WORKCHAIN_INVALID, id: new Uint8Array(32) },
  initiator_lt: -1n,
};

/** The metadata in an envelope. */
export function envelopeMetadata(envelope: MsgEnvelope): LiteServerTransactionMetadata {
  if (envelope.kind !== 'msg_envelope_v2' || envelope.metadata === null) return NO_METADATA;
  return metadataToTl(envelope.metadata);
}

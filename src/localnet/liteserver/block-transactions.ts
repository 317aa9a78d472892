import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import {
  type ListedTransaction,
  listTransactions,
  MAX_LISTED_TRANSACTIONS,
} from '#formats/proofs/block-transactions.js';
import { blockIdFromTl } from '#formats/tl/block-id.js';
import type { LiteServerTransactionId, LiteServerTransactionMetadata } from '#formats/tl/generated/lite-server.js';
import type { LiteServerListBlockTransactions } from '#formats/tl/generated/lite-server-functions.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import type { InMsg } from '#formats/tlb/in-msg.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { isValidId, loadBlock, refused } from '#localnet/liteserver/find-block.js';
import type { LiteContext, LiteHandlers } from '#localnet/liteserver/lite-handler.js';
import { MerkleReader } from '#localnet/liteserver/merkle-reader.js';
import { metadataToTl } from '#localnet/liteserver/message-metadata.js';

/** Bits of `mode`: fields that are wanted, and how to list. */
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
  /** Remembers what is read, when a proof is wanted. */
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

/** How the message that a transaction received came into the block; `null` when it received none. */
function inMsgOf(block: Block, { cell }: ListedTransaction): InMsg | null {
  const { in_msg } = decodeCell(Transaction, cell);
  if (in_msg === null) return null;
  const found = block.extra.value.in_msg_descr.value.get(in_msg.cell.hash());
  if (found === undefined) throw refused('no InMsg in InMsgDescr for a message of the block');
  return found;
}

/** The envelope of a message that was sent by an account and has arrived. */
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

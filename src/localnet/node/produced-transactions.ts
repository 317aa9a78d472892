import { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { Block } from '#formats/tlb/block.js';
import { MASTERCHAIN } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import type { Transaction } from '#formats/tlb/transaction.js';
import type { ProducedBundle } from '#localnet/producer/block-request.js';

/** The transactions of a new masterchain block and of the shard blocks that it commits. */
export interface ProducedTransactions {
  readonly mc_seqno: number;
  /** The first by lt, without the machinery of the masterchain. */
  readonly transactions: readonly ProducedTransaction[];
  /** Further ones. */
  readonly more: number;
}

interface ProducedTransaction {
  readonly workchain: number;
  /** BoC of a `Transaction`. */
  readonly boc: Uint8Array;
}

/** Transactions of a masterchain block that are reported. */
const MOST = 20;

/** The source of special messages. */
const SYSTEM_SENDER = Address.ofParts(MASTERCHAIN, new Uint8Array(32));

/**
 * The transactions of new blocks; null when there are none but those of the masterchain's machinery: tick-tock transactions, and those
 * that special messages (`recover_create_msg`, `mint_msg`) cause.
 */
export function producedTransactions({ bundle }: ProducedBundle): ProducedTransactions | null {
  const { masterchain, shards } = bundle;
  const found: { readonly workchain: number; readonly lt: bigint; readonly cell: Cell }[] = [];
  for (const { id, root } of [masterchain, ...shards]) {
    for (const [, { transactions }] of decodeCell(Block, root).extra.value.account_blocks.value) {
      for (const [lt, { cell, value }] of transactions) {
        if (id.workchain === MASTERCHAIN && isMachinery(value)) continue;
        found.push({ workchain: id.workchain, lt, cell });
      }
    }
  }
  if (found.length === 0) return null;
  found.sort((a, b) => (a.lt < b.lt ? -1 : a.lt > b.lt ? 1 : 0));
  return {
    mc_seqno: masterchain.id.seqno,
    transactions: found.slice(0, MOST).map(({ workchain, cell }) => ({ workchain, boc: serializeBoc(cell) })),
    more: Math.max(0, found.length - MOST),
  };
}

function isMachinery({ in_msg }: Transaction): boolean {
  if (in_msg === null) return true;
  const { info } = in_msg.value;
  return info.kind === 'int_msg_info' && info.src instanceof Address && info.src.equals(SYSTEM_SENDER);
}

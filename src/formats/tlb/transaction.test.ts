import { loadTransaction } from '@ton/core';
import { describe, expect, it } from 'vitest';
import { StateInit } from '#formats/tlb/account.js';
import { Message } from '#formats/tlb/message.js';
import { HASH_UPDATE, TrActionPhase, Transaction, TransactionDescr } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';
import { coreCells, transactionCells } from '#test/support/block-transactions.js';
import { roundTrip } from '#test/support/codec-harness.js';
import { coreTransaction, plainTransaction } from '#test/support/core-shape.js';
import { FULL, partOf } from '#test/support/full-depth.js';
import { parseChainName, readBytes, readChain, vectorPath } from '#test/support/vector-files.js';

/** Compares every transaction of a block with @ton/core, and encodes each of its parts again. */
function checkBlock(block: Uint8Array): number {
  const theirs = coreCells(block);
  const cells = transactionCells(block);
  for (const cell of cells.length > 100 ? partOf(cells, 4) : cells) {
    const transaction = roundTrip(Transaction, cell);
    const other = theirs.get(toHex(cell.hash()));
    expect(plainTransaction(transaction)).toEqual(coreTransaction(loadTransaction(other!.beginParse())));
    roundTrip(HASH_UPDATE, transaction.state_update.cell);
    const description = roundTrip(TransactionDescr, transaction.description.cell);
    if ('action' in description && description.action !== null) roundTrip(TrActionPhase, description.action.cell);
    if (transaction.in_msg !== null) checkMessage(transaction.in_msg.cell);
    for (const [, message] of transaction.out_msgs) checkMessage(message.cell);
  }
  return cells.length;
}

function checkMessage(cell: Parameters<typeof roundTrip>[1]): void {
  const { init } = roundTrip(Message, cell);
  if (init?.kind === 'right') roundTrip(StateInit, init.value.cell);
}

describe('transactions of mainnet blocks, as @ton/core reads them', () => {
  it.each([
    { block: 'masterchain-block.boc', transactions: 6 },
    { block: 'basechain-block.boc', transactions: 11 },
  ])('$block', ({ block, transactions }) => {
    expect(checkBlock(readBytes(vectorPath(`examples/${block}`)))).toBe(transactions);
  });

  const folder = vectorPath('collection/mainnet-blocks');
  it.each([
    { block: 'block-1.boc', transactions: 329 },
    { block: 'block-2.boc', transactions: 479 },
    { block: 'block-3.boc', transactions: 510 },
    { block: 'block-7.boc', transactions: 8 },
    { block: 'raw-13516764.bin', transactions: 449 },
  ])('$block', ({ block, transactions }) => {
    expect(checkBlock(readBytes(`${folder}/${block}`))).toBe(transactions);
  });
});

describe('transactions of a network of 2026, as @ton/core reads them', () => {
  const folder = vectorPath('collection/recorded-net/chain');
  it('some of all blocks', () => {
    let blocks = 0;
    let transactions = 0;
    for (const { name, data } of readChain(folder)) {
      if (parseChainName(name)?.kind !== 'block' || blocks++ % (FULL ? 8 : 40) !== 0) continue;
      transactions += checkBlock(data);
    }
    expect(transactions).toBeGreaterThan(FULL ? 1000 : 200);
  });
});

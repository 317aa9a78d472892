import { isDeepStrictEqual } from 'node:util';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { isTernError } from '#kernel/tern-error.js';
import type { FuzzTarget } from '#test/fuzz/fuzz-target.js';
import { damageBelow } from '#test/fuzz/seeds.js';
import { transactionCells } from '#test/support/block-transactions.js';
import {
  accountReadings,
  messageReadings,
  type TwoReadings,
  transactionReadings,
} from '#test/support/reader-comparison.js';
import { readChain, vectorPath } from '#test/support/vector-files.js';

const READINGS = [transactionReadings, messageReadings, accountReadings];

let cells: Cell[] | null = null;

/** Transactions and messages of the chain of the tests. */
function seeds(): readonly Cell[] {
  if (cells !== null) return cells;
  cells = [];
  for (const { name, data } of readChain(vectorPath('dev-chain'))) {
    if (!name.startsWith('block_') && !/block/.test(name)) continue;
    for (const cell of transactionCells(data)) {
      const { in_msg, out_msgs } = decodeCell(Transaction, cell);
      cells.push(cell, ...(in_msg === null ? [] : [in_msg.cell]), ...[...out_msgs].map(([, each]) => each.cell));
    }
    if (cells.length > 400) break;
  }
  return cells;
}

/**
 * Compares the readers with the codecs, where a codec accepts the cell; what it refuses, no index has.
 *
 * @returns how many codecs accepted it
 */
export function compareReaders(input: Uint8Array): number {
  const cell = parseBocRoot(input);
  let accepted = 0;
  for (const readings of READINGS) {
    const found = readingsOf(readings, cell);
    if (found === null) continue;
    accepted++;
    if (!isDeepStrictEqual(found.reader, found.codec)) throw new RangeError(`${readings.name}: the readers disagree`);
  }
  return accepted;
}

export const fuzzTarget: FuzzTarget = {
  name: 'indexer-cell-readers',
  make: (random) => serializeBoc(damageBelow(random.pick(seeds()), random)),
  run: (input) => void compareReaders(input),
  allowed: (error) => error.code.startsWith('cells/'),
};

function readingsOf(readings: (cell: Cell) => TwoReadings, cell: Cell): TwoReadings | null {
  try {
    return readings(cell);
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

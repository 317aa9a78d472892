import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { TableCell } from '#formats/cells/cell-table.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';
import { accountTransactions } from '#services/indexer/rows/block-reader.js';
import { compareReaders, fuzzTarget } from '#services/indexer/rows/cell-readers.fuzz.js';
import { Random } from '#test/fuzz/random.js';
import { FULL, partOf } from '#test/support/full-depth.js';
import {
  accountReadings,
  messageReadings,
  type TwoReadings,
  transactionReadings,
} from '#test/support/reader-comparison.js';
import { recordedBundles } from '#test/support/recorded-bundles.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

function expectSame({ reader, codec }: TwoReadings, name: string): void {
  expect(reader, name).toEqual(codec);
}

/** Compares all transactions and messages of a block. @returns how many there were */
function compareBlock(data: Uint8Array): { readonly transactions: number; readonly messages: number } {
  const root = parseBocRoot(data) as TableCell;
  const extra = decodeCell(Block, root).extra;
  const wanted = [...extra.value.account_blocks.value].map(([, { account_addr, transactions }]) => ({
    account: toHex(account_addr),
    lts: [...transactions].map(([lt]) => BigInt(lt)),
  }));
  const found = accountTransactions(root.table, (extra.cell as TableCell).index);
  expect(found.map(({ account, lts }) => ({ account: toHex(account), lts }))).toEqual(wanted);
  const counts = { transactions: 0, messages: 0 };
  for (const line of found.flatMap(({ cells }) => cells)) {
    const cell = root.table.cell(line);
    expectSame(transactionReadings(cell), toHex(cell.hash()));
    counts.transactions++;
    const { in_msg, out_msgs } = decodeCell(Transaction, cell);
    for (const message of [...(in_msg === null ? [] : [in_msg]), ...[...out_msgs].map(([, each]) => each)]) {
      expectSame(messageReadings(message.cell), toHex(message.cell.hash()));
      counts.messages++;
    }
  }
  return counts;
}

describe('the cell readers of the indexer read what the codecs read', () => {
  it('in blocks and states of the chain of the tests', () => {
    const chain = recordedBundles(vectorPath('dev-chain'));
    let [transactions, messages, accounts] = [0, 0, 0];
    for (const { blocks } of partOf(chain.bundles, 3)) {
      for (const { data } of blocks) {
        const counts = compareBlock(data);
        transactions += counts.transactions;
        messages += counts.messages;
      }
    }
    for (const state of [chain.bundles[0]!, chain.bundles.at(-1)!].flatMap(({ states }) => states)) {
      const whole = parseBocRoot(serializeBoc(state));
      for (const [id, { account }] of decodeCell(ShardStateUnsplit, whole).accounts.value) {
        expectSame(accountReadings(account.cell), toHex(id));
        accounts++;
      }
    }
    expect(transactions).toBeGreaterThan(FULL ? 500 : 160);
    expect(messages).toBeGreaterThan(FULL ? 500 : 160);
    expect(accounts).toBeGreaterThan(20);
  });

  it('in blocks of mainnet', () => {
    const folder = vectorPath('collection/mainnet-blocks');
    const blocks = readdirSync(folder).filter((name) => /\.boc(\.br)?$/.test(name));
    let transactions = 0;
    for (const name of blocks) transactions += compareBlock(readBytes(`${folder}/${name}`)).transactions;
    expect(blocks.length).toBeGreaterThan(0);
    expect(transactions).toBeGreaterThan(50);
  });

  it('in cells that were damaged at random, as far as the codecs accept them', () => {
    const random = new Random('cell readers');
    let accepted = 0;
    for (let i = 0; i < 2000; i++) accepted += compareReaders(fuzzTarget.make(random));
    expect(accepted).toBeGreaterThan(200);
  });
});

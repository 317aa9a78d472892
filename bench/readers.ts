import { accountKey, addressBytes, hashKey } from '#drivers/store/keys.js';
import type { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { CellType } from '#formats/cells/cell.js';
import type { TableCell } from '#formats/cells/cell-table.js';
import { openCell } from '#formats/cells/slice.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { type Message, messageBodyCell, messageInit, normalizedExternalHash } from '#formats/tlb/message.js';
import { accountOf } from '#formats/tlb/msg-address.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { accountTransactions, MessageCellReader, TransactionCellReader } from '#services/indexer/rows/block-reader.js';
import { recordedBundles } from '../test/support/recorded-bundles.js';
import { vectorPath } from '../test/support/vector-files.js';
import type { BenchCase } from './harness.js';
import type { BenchSuite } from './suite.js';

/** Blocks are parsed again for each pass, as the indexer does. */
function cases(): BenchCase[] {
  const blocks = recordedBundles(vectorPath('dev-chain')).bundles.flatMap((bundle) => bundle.blocks);
  const transaction = new TransactionCellReader();
  const message = new MessageCellReader();
  const withReaders = (data: Uint8Array): number => {
    const root = parseBocRoot(data) as TableCell;
    const { table } = root;
    let count = 0;
    const read = (line: number): bigint => {
      message.read(table, line);
      return message.body_key;
    };
    for (const { cells } of accountTransactions(table, (decodeCell(Block, root).extra.cell as TableCell).index)) {
      for (const line of cells) {
        transaction.read(table, line);
        if (transaction.in_msg >= 0) read(transaction.in_msg);
        for (const sent of transaction.out_msgs) read(sent);
        transaction.stateHashAfter(table);
        count++;
      }
    }
    return count;
  };
  const withCodecs = (data: Uint8Array): number => {
    const root = parseBocRoot(data);
    let count = 0;
    const read = (sent: { readonly value: Message }): bigint => messageFields(sent.value);
    for (const [, { transactions }] of decodeCell(Block, root).extra.value.account_blocks.value) {
      for (const [, { cell }] of transactions) {
        const { in_msg, out_msgs, state_update, lt, now } = decodeCell(Transaction, cell);
        if (in_msg !== null) read(in_msg);
        for (const [, sent] of out_msgs) read(sent);
        if (lt === 0n && now === 0 && state_update.value.new_hash.length === 0) throw new RangeError('not read');
        count++;
      }
    }
    return count;
  };
  const work = blocks.reduce((sum, { data }) => sum + withReaders(data), 0);
  return [
    {
      name: 'read all transactions and messages of blocks, as far as rows need them',
      unit: 'transactions',
      work,
      ours: () => blocks.map(({ data }) => withReaders(data)),
      baseline: () => blocks.map(({ data }) => withCodecs(data)),
    },
  ];
}

/** The fields of `MessageCellReader`, by the codec. @returns something that depends on all of them */
function messageFields(message: Message): bigint {
  const { info } = message;
  const body = messageBodyCell(message);
  const opcode = body.type === CellType.ordinary && body.bits >= 32 ? openCell(body).loadInt(32) : 0;
  const init = messageInit(message);
  const external = info.kind === 'ext_in_msg_info';
  const created = external ? hashKey(normalizedExternalHash(message)) : info.created_lt + BigInt(info.created_at);
  const parts = BigInt((init?.code?.bits ?? 0) + (init?.data?.bits ?? 0));
  return (
    keyOf(accountOf(info.src)) + keyOf(accountOf(info.dest)) + hashKey(body.hash()) + BigInt(opcode) + created + parts
  );
}

function keyOf(address: Address | null): bigint {
  return address === null ? 0n : accountKey(addressBytes(address));
}

export const suite: BenchSuite = { name: 'readers', baseline: 'the codecs of formats/tlb', cases };

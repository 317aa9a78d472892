import { readFileSync } from 'node:fs';
import { Address as CoreAddress, Cell as CoreCell, Dictionary as CoreDictionary, loadTransaction } from '@ton/core';
import { parseAddress } from '#formats/address/address.js';
import { parseBoc, parseBocRoot } from '#formats/cells/boc-parse.js';
import { BLOCK_FILE, serializeBoc } from '#formats/cells/boc-serialize.js';
import { forEachEntry, lookup } from '#formats/cells/dict-read.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { messageBody } from '#formats/tlb/message.js';
import { vectorPath } from '../test/support/vector-files.js';
import type { BenchCase } from './harness.js';
import type { BenchSuite } from './suite.js';

/** Four dense basechain blocks of mainnet (329 to 510 transactions each), or the small one of the vectors. */
function readBlocks(): Buffer[] {
  const folder = vectorPath('collection/mainnet-blocks');
  const names = ['block-1.boc', 'block-2.boc', 'block-3.boc', 'raw-13516764.bin'];
  return names.map((name) => readFileSync(`${folder}/${name}`));
}

/** All transactions of a block with their messages, descriptions and hashes, as an index needs them. */
function readTransactions(block: Uint8Array): number {
  let count = 0;
  for (const [, account] of decodeCell(Block, parseBocRoot(block)).extra.value.account_blocks.value) {
    for (const [, lazy] of account.transactions) {
      const transaction = lazy.value;
      lazy.cell.hash();
      touch(transaction.description.value);
      if (transaction.in_msg !== null) {
        transaction.in_msg.cell.hash();
        touch(messageBody(transaction.in_msg.value));
      }
      for (const [, message] of transaction.out_msgs) {
        message.cell.hash();
        touch(messageBody(message.value));
      }
      count++;
    }
  }
  return count;
}

let _touched: unknown;
function touch(value: unknown): void {
  _touched = value;
}

/** The same with @ton/core: its dictionaries read the augmented ones when the value parser steps over the extra. */
function readTransactionsWithCore(block: Buffer): number {
  const root = CoreCell.fromBoc(block)[0]!;
  const accountBlocks = root.refs[3]!.refs[2]!.beginParse();
  if (!accountBlocks.loadBit()) return 0;
  let count = 0;
  const accounts = CoreDictionary.loadDirect(
    CoreDictionary.Keys.BigUint(256),
    rest(true),
    accountBlocks.loadRef().beginParse(),
  );
  for (const account of accounts.values()) {
    account.skip(4 + 256);
    const transactions = CoreDictionary.loadDirect(CoreDictionary.Keys.BigUint(64), rest(true), account);
    for (const entry of transactions.values()) {
      const cell = entry.loadRef();
      const transaction = loadTransaction(cell.beginParse());
      touch(cell.hash());
      touch(transaction.inMessage?.body.hash());
      for (const message of transaction.outMessages.values()) touch(message.body.hash());
      count++;
    }
  }
  return count;
}

/** A value parser that steps over a CurrencyCollection and gives the rest. */
function rest(currency: boolean) {
  return {
    serialize: () => undefined,
    parse: (slice: ReturnType<CoreCell['beginParse']>) => {
      if (currency) {
        slice.loadCoins();
        slice.loadMaybeRef();
      }
      return slice.clone();
    },
  };
}

export const suite: BenchSuite = {
  name: 'cells',
  baseline: '@ton/core 0.63.1',
  cases() {
    const blocks = readBlocks();
    const sum = (of: (block: Buffer) => number) => blocks.reduce((total, block) => total + of(block), 0);
    const cells = sum((block) => parseBoc(block).table.count);
    const transactions = sum(readTransactions);
    if (transactions !== sum(readTransactionsWithCore))
      throw new Error('the two sides read a different number of transactions');
    const ourRoots = blocks.map((block) => parseBocRoot(block));
    const coreRoots = blocks.map((block) => CoreCell.fromBoc(block)[0]!);
    return [
      {
        name: 'hash all cells of a block',
        unit: 'cells',
        work: cells,
        target: 15,
        ours: () => {
          for (const block of blocks) parseBoc(block).table.hashAll();
        },
        baseline: () => blocks.map((block) => CoreCell.fromBoc(block)),
      },
      {
        name: 'block to all transactions parsed',
        unit: 'transactions',
        work: transactions,
        target: 40,
        ours: () => sum(readTransactions),
        baseline: () => sum(readTransactionsWithCore),
      },
      {
        name: 'serialise a block (index, checksum, stored hashes | index, checksum)',
        unit: 'cells',
        work: cells,
        ours: () => ourRoots.map((root) => serializeBoc(root, BLOCK_FILE)),
        baseline: () => coreRoots.map((root) => root.toBoc({ idx: true, crc32: true })),
      },
      ...dictionaryCases(),
      ...addressCases(),
    ];
  },
};

/** The dictionary of a mainnet config: 32-bit keys, cells as values. */
function dictionaryCases(): BenchCase[] {
  const boc = readFileSync(new URL('../vectors/examples/config.boc', import.meta.url));
  const root = parseBocRoot(boc);
  const coreRoot = CoreCell.fromBoc(boc)[0]!;
  const keys: Uint8Array[] = [];
  forEachEntry(root, 32, (key) => void keys.push(key));
  const coreKeys = keys.map((key) => Buffer.from(key).readInt32BE());
  const open = () =>
    CoreDictionary.loadDirect(CoreDictionary.Keys.Int(32), CoreDictionary.Values.Cell(), coreRoot.beginParse());
  let next = 0;
  return [
    {
      name: 'look up one key of a dictionary in a cell',
      unit: 'look-ups',
      work: 1,
      ours: () => lookup(root, 32, keys[next++ % keys.length]!)!.loadRef(),
      baseline: () => open().get(coreKeys[next++ % keys.length]!),
    },
    {
      name: 'read all entries of a dictionary',
      unit: 'entries',
      work: keys.length,
      ours: () => forEachEntry(root, 32, (_, value) => touch(value.loadRef())),
      baseline: () => touch(open().values()),
    },
  ];
}

function addressCases(): BenchCase[] {
  const raw = Array.from(
    { length: 64 },
    (_, i) =>
      `${i % 2 === 0 ? 0 : -1}:${(BigInt(i + 1) * 0x9e3779b97f4a7c15f39cc0605cedc834n).toString(16).padStart(64, 'a').slice(0, 64)}`,
  );
  const friendly = raw.map((text) => CoreAddress.parse(text).toString());
  const parsed = friendly.map((text) => parseAddress(text).address);
  const coreParsed = friendly.map((text) => CoreAddress.parse(text));
  return [
    {
      name: 'parse user-friendly addresses',
      unit: 'addresses',
      work: 64,
      ours: () => friendly.map(parseAddress),
      baseline: () => friendly.map((text) => CoreAddress.parse(text)),
    },
    {
      name: 'parse raw addresses',
      unit: 'addresses',
      work: 64,
      ours: () => raw.map(parseAddress),
      baseline: () => raw.map((text) => CoreAddress.parse(text)),
    },
    {
      name: 'write user-friendly addresses',
      unit: 'addresses',
      work: 64,
      ours: () => parsed.map((address) => address.toFriendly()),
      baseline: () => coreParsed.map((address) => address.toString()),
    },
  ];
}

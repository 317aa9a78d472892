import { createHash } from 'node:crypto';
import { Cell, type Slice } from '@ton/core';
import { type CoreAccount, CoreStates, stateJson } from '#test/contract/against-chain/core-states.js';
import {
  type CoreMessage,
  type CoreTransaction,
  coreTransaction,
  type Expected,
  labelLength,
} from '#test/contract/against-chain/core-transaction.js';
import { readChain } from '#test/support/vector-files.js';

/** A block, and what API v3 must answer about it. */
export interface CoreBlock {
  readonly json: Expected;
  readonly workchain: number;
  /** Hexadecimal, as the live service writes it. */
  readonly shard: string;
  readonly seqno: number;
  readonly mc_seqno: number;
  readonly transactions: readonly ListedTransaction[];
}

export interface ListedTransaction extends CoreTransaction {
  readonly mc_seqno: number;
  /** Hash of the first transaction of its trace. */
  trace_id: string;
}

/** A message, and the transactions that sent and received it. */
export interface ListedMessage extends CoreMessage {
  readonly sender: ListedTransaction | null;
  readonly receiver: ListedTransaction | null;
}

/** A part of a chain from its first block on, decoded by `@ton/core`, and all that API v3 says of blocks and transactions. */
export interface CoreChain {
  /** Committed ones, in the order of their masterchain blocks. */
  readonly blocks: readonly CoreBlock[];
  readonly transactions: readonly ListedTransaction[];
  /** Each once. */
  readonly messages: readonly ListedMessage[];
  /** The newest states. */
  readonly accounts: readonly CoreAccount[];
}

interface Header {
  readonly workchain: number;
  readonly shard: bigint;
  readonly seqno: number;
  readonly json: Expected;
  readonly prev: readonly string[];
  /** Root hashes of the newest blocks of shards; empty but for the masterchain. */
  readonly tops: readonly string[];
  readonly accountBlocks: Cell;
  readonly stateUpdate: Cell;
}

/** What is decoded of a chain. */
export interface CoreChainOptions {
  /** Of all blocks. */
  readonly globalVersion: number;
  /** The last masterchain seqno; null: all. */
  readonly to: number | null;
}

export function coreChain(folder: string, { globalVersion, to }: CoreChainOptions): CoreChain {
  const headers = new Map<string, Header>();
  const masterchain: Header[] = [];
  for (const { name, data } of readChain(folder)) {
    if (!name.startsWith('block_')) continue;
    const header = readHeader(Buffer.from(data));
    headers.set(header.json.root_hash as string, header);
    if (header.workchain === -1) masterchain[header.seqno] = header;
  }
  const committed = new Set<string>();
  const blocks: CoreBlock[] = [];
  const states = new CoreStates(folder);
  for (const top of masterchain.slice(1, to === null ? undefined : to + 1)) {
    const bundle = [top];
    for (const waiting = [...top.tops]; waiting.length > 0; ) {
      const hash = waiting.pop()!;
      const header = headers.get(hash);
      // Without a file: the zerostate.
      if (header === undefined || committed.has(hash)) continue;
      committed.add(hash);
      bundle.push(header);
      waiting.push(...header.prev);
    }
    // A block stands behind those before it.
    bundle.sort((a, b) => a.seqno - b.seqno);
    for (const header of bundle) blocks.push(coreBlock(header, top.seqno, globalVersion, states));
  }
  const transactions = blocks.flatMap((block) => block.transactions);
  const messages = messagesOf(transactions);
  for (const transaction of transactions) follow(transaction, messages);
  setStatesBefore(transactions);
  return { blocks, transactions, messages: [...messages.values()], accounts: [...states.accounts.values()] };
}

/** A transaction is of the trace of that which sent its message. */
function follow(transaction: ListedTransaction, messages: ReadonlyMap<string, ListedMessage>): string {
  if (transaction.trace_id !== '') return transaction.trace_id;
  const sender = transaction.in_msg === null ? null : messages.get(transaction.in_msg.hash)!.sender;
  transaction.trace_id = sender === null ? transaction.hash : follow(sender, messages);
  transaction.json.trace_id = transaction.trace_id;
  return transaction.trace_id;
}

/** Where no block tells a state, all but its hash is null. */
const UNKNOWN = {
  ...{ balance: null, extra_currencies: null, account_status: null, frozen_hash: null, data_hash: null },
  code_hash: null,
};
const NONEXIST = { ...UNKNOWN, balance: '0', extra_currencies: {}, account_status: 'nonexist' };

interface WithStates {
  account_state_before: Expected;
  account_state_after: Expected;
}

/** The state before a transaction is that after the one before it. */
function setStatesBefore(transactions: readonly ListedTransaction[]): void {
  const byHash = new Map(transactions.map((transaction) => [transaction.hash, transaction]));
  for (const { json } of transactions) {
    const states = json as unknown as WithStates;
    const before = byHash.get(json.prev_trans_hash as string)?.json as unknown as WithStates | undefined;
    if (json.orig_status === 'nonexist') Object.assign(states.account_state_before, NONEXIST);
    else
      Object.assign(
        states.account_state_before,
        { ...(before?.account_state_after ?? UNKNOWN) },
        { hash: states.account_state_before.hash },
      );
  }
}

function messagesOf(transactions: readonly ListedTransaction[]): Map<string, ListedMessage> {
  const messages = new Map<string, ListedMessage>();
  const set = (message: CoreMessage, side: Partial<ListedMessage>) => {
    const known = messages.get(message.hash) ?? { ...message, sender: null, receiver: null };
    messages.set(message.hash, { ...known, ...side });
  };
  for (const transaction of transactions) {
    for (const message of transaction.out_msgs) set(message, { sender: transaction });
    // A external-in message may be received again: the first time counts.
    const { in_msg } = transaction;
    if (in_msg !== null && (messages.get(in_msg.hash)?.receiver ?? null) === null)
      set(in_msg, { receiver: transaction });
  }
  return messages;
}

const base64 = (bytes: Buffer): string => bytes.toString('base64');
const hex = (shard: bigint): string => shard.toString(16).toUpperCase();
const MASTERCHAIN = { workchain: -1, shard: '8000000000000000' };

/** `block#11ef55aa global_id:int32 info:^BlockInfo value_flow:^ValueFlow state_update:^(MERKLE_UPDATE ShardState) extra:^BlockExtra` */
function readHeader(file: Buffer): Header {
  const root = Cell.fromBoc(file)[0]!;
  const block = root.beginParse();
  if (block.loadUint(32) !== 0x11ef55aa) throw new TypeError('not a block');
  const global_id = block.loadInt(32);
  const info = readInfo(block.loadRef());
  const { rand_seed, created_by, accountBlocks, custom } = readExtra(root.refs[3]!);
  return {
    workchain: info.workchain,
    shard: info.shard,
    seqno: info.seqno,
    prev: info.prev.map(({ root_hash }) => root_hash),
    tops: custom === null ? [] : shardTops(custom),
    accountBlocks,
    stateUpdate: root.refs[2]!,
    json: {
      ...{ workchain: info.workchain, shard: hex(info.shard), seqno: info.seqno },
      ...{ root_hash: base64(root.hash()), file_hash: createHash('sha256').update(file).digest('base64') },
      ...{ global_id, ...info.json, rand_seed, created_by },
      prev_blocks: info.prev.map(({ workchain, shard, seqno }) => ({ workchain, shard: hex(shard), seqno })),
    },
  };
}

/** `block_info#9bc7a987` */
function readInfo(cell: Cell) {
  const slice = cell.beginParse();
  if (slice.loadUint(32) !== 0x9bc7a987) throw new TypeError('not a block info');
  const version = slice.loadUint(32);
  const not_master = slice.loadBit();
  const [after_merge, before_split, after_split] = [slice.loadBit(), slice.loadBit(), slice.loadBit()];
  const [want_split, want_merge, key_block] = [slice.loadBit(), slice.loadBit(), slice.loadBit()];
  const vert_seqno_incr = slice.loadBit();
  const flags = slice.loadUint(8);
  const seqno = slice.loadUint(32);
  const vert_seqno = slice.loadUint(32);
  const { workchain, shard } = readShard(slice);
  const gen_utime = slice.loadUint(32);
  const [start_lt, end_lt] = [slice.loadUintBig(64), slice.loadUintBig(64)];
  const validator_list_hash_short = slice.loadUint(32) | 0;
  const gen_catchain_seqno = slice.loadUint(32);
  const min_ref_mc_seqno = slice.loadUint(32);
  const prev_key_block_seqno = slice.loadUint(32);
  const master = not_master ? slice.loadRef() : null;
  const parents = slice.loadRef();
  // `prev_blks_info$_ prev1:^ExtBlkRef prev2:^ExtBlkRef` after a merge, `prev_blk_info$_ prev:ExtBlkRef` else.
  const refs = (after_merge ? parents.refs : [parents]).map((ref) => readReference(ref.beginParse()));
  // After a split the one before is the whole shard, after a merge the two halves.
  const [left, right] = halves(shard);
  const shards = after_merge ? [left, right] : [after_split ? parentOf(shard) : shard];
  return {
    ...{ workchain, shard, seqno },
    prev: refs.map((ref, i) => ({ workchain, shard: shards[i]!, seqno: ref.seqno, root_hash: ref.root_hash })),
    json: {
      ...{ version, after_merge, before_split, after_split, want_merge, want_split, key_block, vert_seqno_incr, flags },
      ...{ gen_utime: String(gen_utime), start_lt: String(start_lt), end_lt: String(end_lt) },
      ...{ validator_list_hash_short, gen_catchain_seqno, min_ref_mc_seqno, prev_key_block_seqno, vert_seqno },
      master_ref_seqno: master === null ? 0 : readReference(master.beginParse()).seqno,
    },
  };
}

/** `shard_ident$00 shard_pfx_bits:(#<= 60) workchain_id:int32 shard_prefix:uint64` */
function readShard(slice: Slice): { readonly workchain: number; readonly shard: bigint } {
  slice.skip(2);
  const bits = slice.loadUint(6);
  const workchain = slice.loadInt(32);
  return { workchain, shard: slice.loadUintBig(64) | (1n << BigInt(63 - bits)) };
}

const lowest = (shard: bigint): bigint => shard & -shard;
const halves = (shard: bigint): readonly [bigint, bigint] => [
  shard - (lowest(shard) >> 1n),
  shard + (lowest(shard) >> 1n),
];
const parentOf = (shard: bigint): bigint => (shard - lowest(shard)) | (lowest(shard) << 1n);

/** `ext_blk_ref$_ end_lt:uint64 seq_no:uint32 root_hash:bits256 file_hash:bits256` */
function readReference(slice: Slice): { readonly seqno: number; readonly root_hash: string } {
  slice.skip(64);
  return { seqno: slice.loadUint(32), root_hash: base64(slice.loadBuffer(32)) };
}

/** `block_extra in_msg_descr:^ out_msg_descr:^ account_blocks:^ rand_seed:bits256 created_by:bits256 custom:(Maybe ^McBlockExtra)` */
function readExtra(cell: Cell) {
  const slice = cell.beginParse();
  if (slice.loadUint(32) !== 0x4a33f6fd) throw new TypeError('not a block extra');
  slice.loadRef();
  slice.loadRef();
  const accountBlocks = slice.loadRef();
  const [rand_seed, created_by] = [base64(slice.loadBuffer(32)), base64(slice.loadBuffer(32))];
  return { rand_seed, created_by, accountBlocks, custom: slice.loadBit() ? slice.loadRef() : null };
}

/** Root hashes in `masterchain_block_extra#cca5 key_block:(## 1) shard_hashes:(HashmapE 32 ^(BinTree ShardDescr))` */
function shardTops(custom: Cell): string[] {
  const slice = custom.beginParse();
  if (slice.loadUint(16) !== 0xcca5) throw new TypeError('not the extra of a masterchain block');
  slice.skip(1);
  if (!slice.loadBit()) return [];
  return visit(slice.loadRef(), 32, (leaf) => binTree(leaf.loadRef())).flat();
}

function binTree(cell: Cell): string[] {
  const slice = cell.beginParse();
  if (slice.loadBit()) return [...binTree(slice.loadRef()), ...binTree(slice.loadRef())];
  slice.skip(4 + 32 + 32 + 64 + 64);
  return [base64(slice.loadBuffer(32))];
}

/** The values of a dictionary, by rising keys. */
function visit<T>(cell: Cell, bits: number, read: (leaf: Slice) => T): T[] {
  const slice = cell.beginParse();
  const left = bits - labelLength(slice, bits);
  if (left === 0) return [read(slice)];
  return [...visit(slice.loadRef(), left - 1, read), ...visit(slice.loadRef(), left - 1, read)];
}

/** `CurrencyCollection` */
function skipCurrencies(slice: Slice): void {
  slice.loadCoins();
  if (slice.loadBit()) slice.loadRef();
}

function coreBlock(header: Header, mc_seqno: number, globalVersion: number, states: CoreStates): CoreBlock {
  const { workchain, seqno, accountBlocks, json } = header;
  const shard = hex(header.shard);
  const place = { mc_block_seqno: mc_seqno, block_ref: { workchain, shard, seqno }, globalVersion };
  const dictionary = accountBlocks.beginParse();
  const cells = dictionary.loadBit() ? visit(dictionary.loadRef(), 256, transactionCells).flat() : [];
  const transactions = cells.map((cell) => ({
    ...coreTransaction(cell, place),
    mc_seqno,
    trace_id: '',
  }));
  setStatesAfter(transactions, states, header.stateUpdate);
  const ref = { ...MASTERCHAIN, seqno: mc_seqno };
  return {
    json: { ...json, tx_count: cells.length, masterchain_block_ref: ref },
    ...{ workchain, shard, seqno, mc_seqno, transactions },
  };
}

/** A block tells the states of accounts after their last transactions. */
function setStatesAfter(transactions: readonly ListedTransaction[], states: CoreStates, update: Cell): void {
  const last = new Map(transactions.map((transaction) => [transaction.json.account as string, transaction]));
  const there = [...last].filter(([, { json }]) => json.end_status !== 'nonexist').map(([address]) => address);
  const after = states.apply(update, there);
  for (const transaction of transactions) {
    const { json, hash } = transaction;
    const address = json.account as string;
    const state = (json as unknown as WithStates).account_state_after;
    const account = last.get(address) === transaction ? after.get(address) : undefined;
    if (json.end_status === 'nonexist') {
      Object.assign(state, NONEXIST);
      states.accounts.set(address, {
        address,
        cell: null,
        last_trans_hash: hash,
        last_trans_lt: BigInt(json.lt as string),
      });
    } else if (account === undefined) Object.assign(state, UNKNOWN);
    else {
      const found = stateJson(account);
      if (found.hash !== state.hash) throw new TypeError(`the state after ${hash} is another one`);
      Object.assign(state, found);
    }
  }
}

/** `acc_trans#5 account_addr:bits256 transactions:(HashmapAug 64 ^Transaction CurrencyCollection) state_update:^` behind its extra */
function transactionCells(leaf: Slice): Cell[] {
  skipCurrencies(leaf);
  if (leaf.loadUint(4) !== 5) throw new TypeError('not an account block');
  leaf.skip(256);
  return visit(leaf.asCell(), 64, (one) => {
    skipCurrencies(one);
    return one.loadRef();
  });
}

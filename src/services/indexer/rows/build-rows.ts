import { accountKey, addressBytes, indexId } from '#drivers/store/keys.js';
import { AccountStatusCode, encodeState } from '#drivers/store/stored-state.js';
import type { TransactionWriter } from '#drivers/store/stored-transaction.js';
import type { BlockRow, MessageRow } from '#drivers/store/tables.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import type { CellTable, TableCell } from '#formats/cells/cell-table.js';
import { openExotic } from '#formats/cells/slice.js';
import { previousBlockIds } from '#formats/proofs/block-header.js';
import { type BlockId, isMasterchain } from '#formats/proofs/block-id.js';
import { NO_ACCOUNT } from '#formats/tlb/account.js';
import { Block, type BlockInfo } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import { bytesEqual, compareBytes } from '#kernel/bytes.js';
import type { BundleBlock, McBlockBundle } from '#services/indexer/fetch/mc-block-bundle.js';
import { accountTransactions } from '#services/indexer/rows/block-reader.js';
import type {
  AccountStateChange,
  BlockParents,
  BundleRows,
  BundleTransaction,
} from '#services/indexer/rows/bundle-rows.js';
import { type ShardAccountState, ShardStateAccounts } from '#services/indexer/rows/state-reader.js';
import { readTransaction, type TransactionBlock } from '#services/indexer/rows/transaction-rows.js';

/** Context of a bundle. */
export interface BundleContext {
  /**
   * The global version (config parameter 8) set by a key block.
   * @param key_block masterchain seqno; 0: the zerostate
   */
  globalVersion(key_block: number): number;
  /** Writes the transactions of the batch, and collects the codes that they share. */
  readonly writer: TransactionWriter;
}

/** A transaction before it has an id. */
interface PlacedTransaction {
  readonly facts: TransactionBlock;
  readonly account: Uint8Array;
  readonly account_key: bigint;
  readonly lt: bigint;
  readonly line: number;
  /** Set for the last transaction of an account in its block. */
  readonly states: ShardStateAccounts | null;
  /** Id of the first one of the account in its block, known once that has an id; shared by all of them. */
  readonly first: { id: bigint };
}

/**
 * Builds the rows of a bundle: blocks, transactions, messages, accounts.
 *
 * @throws cells/*, tlb/* for a malformed block, which the file hash check excludes for blocks of the network
 */
export function buildBundleRows(bundle: McBlockBundle, context: BundleContext): BundleRows {
  const { mc_seqno } = bundle;
  const blocks: BlockRow[] = [];
  const links: BlockParents[] = [];
  const placed: PlacedTransaction[] = [];
  for (const block of bundle.blocks) links.push(readBlock(block, mc_seqno, context, blocks, placed));
  placed.sort(inOrder);
  const messages: MessageRow[] = [];
  const accounts: AccountStateChange[] = [];
  const transactions = placed.map(({ facts, account, account_key, line, states, first }, ordinal) => {
    const id = indexId(mc_seqno, ordinal);
    if (first.id === 0n) first.id = id;
    const row = readTransaction(facts, line, id, { account, account_key }, context.writer, messages);
    if (states !== null) {
      const change = accountChange(facts, account, row, { states, first_tx: first.id }, context.writer);
      row.state_after = encodeState(change);
      accounts.push(change);
    }
    return row;
  });
  return { mc_seqno, blocks, links, transactions, messages, accounts };
}

/** Finds the transactions of a block, and builds its row. @returns its link to the blocks before it */
function readBlock(
  { id, data }: BundleBlock,
  mc_seqno: number,
  context: BundleContext,
  blocks: BlockRow[],
  placed: PlacedTransaction[],
): BlockParents {
  const root = parseBocRoot(data) as TableCell;
  const { table } = root;
  const block = decodeCell(Block, root);
  const info = block.info.value;
  const global_version = context.globalVersion(info.prev_key_block_seqno);
  const facts: TransactionBlock = {
    table,
    mc_seqno,
    workchain: id.workchain,
    shard: BigInt.asIntN(64, id.shard),
    seqno: id.seqno,
    gen_utime: info.gen_utime,
    start_lt: info.start_lt,
    global_version,
  };
  const parts = accountTransactions(table, (block.extra.cell as TableCell).index);
  let tx_count = 0;
  if (parts.length > 0) {
    openExotic(block.state_update.cell, CellType.merkleUpdate);
    const states = new ShardStateAccounts(block.state_update.cell.ref(1));
    for (const { account, cells, lts } of parts) {
      const account_key = keyOfAccount(id.workchain, account);
      const first = { id: 0n };
      for (let i = 0; i < cells.length; i++) {
        const last = i === cells.length - 1;
        placed.push({ facts, account, account_key, lt: lts[i]!, line: cells[i]!, states: last ? states : null, first });
      }
      tx_count += cells.length;
    }
  }
  const place = { id: indexId(mc_seqno, blocks.length), block: id };
  const prev = previousBlockIds(id, info);
  blocks.push(blockRow(place, block, { tx_count, global_version, prev }));
  return { id, prev };
}

function inOrder(a: PlacedTransaction, b: PlacedTransaction): number {
  if (a.lt !== b.lt) return a.lt < b.lt ? -1 : 1;
  return a.facts.workchain - b.facts.workchain || compareBytes(a.account, b.account);
}

/** The state after the last transaction of an account in a block. A deleted account is `account_none`. */
function accountChange(
  facts: TransactionBlock,
  id: Uint8Array,
  { hash, lt, state_hash, account_key, in_msg_line }: BundleTransaction,
  { states, first_tx }: { readonly states: ShardStateAccounts; readonly first_tx: bigint },
  writer: TransactionWriter,
): AccountStateChange {
  const { workchain, mc_seqno, gen_utime } = facts;
  const place = { mc_seqno, gen_utime, first_tx };
  const address = addressBytes(Address.ofParts(workchain, id));
  // The Merkle update shows nothing of an account that existed neither before nor after.
  const found = bytesEqual(state_hash, DELETED_ACCOUNT.state_hash) ? null : states.find(id);
  if (found === null) {
    return { address, account_key, ...place, ...DELETED_ACCOUNT, last_trans_lt: lt, last_trans_hash: hash };
  }
  // A newly set code is pruned if the previous state contained it elsewhere, e.g. in the out-message queue.
  const { code_hash } = found;
  let { code } = found;
  if (code === null && code_hash !== null && in_msg_line >= 0) code = findCell(facts.table, in_msg_line, code_hash);
  if (code !== null) writer.addCode(code);
  return changeOf(address, account_key, state_hash, place, found);
}

/** Field by field: object spread takes several times as long, and this runs for each transaction. */
function changeOf(
  address: Uint8Array,
  account_key: bigint,
  state_hash: Uint8Array,
  { mc_seqno, gen_utime, first_tx }: Pick<AccountStateChange, 'mc_seqno' | 'gen_utime' | 'first_tx'>,
  found: ShardAccountState,
): AccountStateChange {
  return {
    address,
    account_key,
    state_hash,
    mc_seqno,
    gen_utime,
    first_tx,
    status: found.status,
    balance: found.balance,
    extra_currencies: found.extra_currencies,
    extra_hash: found.extra_hash,
    pruned_extra: found.pruned_extra,
    frozen_hash: found.frozen_hash,
    code_hash: found.code_hash,
    data_hash: found.data_hash,
    last_trans_lt: found.last_trans_lt,
    last_trans_hash: found.last_trans_hash,
    data: found.data,
  };
}

const DELETED_ACCOUNT = {
  state_hash: NO_ACCOUNT.hash(),
  status: AccountStatusCode.nonexist,
  balance: 0n,
  extra_currencies: null,
  extra_hash: null,
  pruned_extra: null,
  frozen_hash: null,
  code_hash: null,
  data_hash: null,
  data: { kind: 'none' },
} as const;

function keyOfAccount(workchain: number, account: Uint8Array): bigint {
  return accountKey(addressBytes(Address.ofParts(workchain, account)));
}

/**
 * The accounts of a zerostate, as indexed before the first masterchain block.
 *
 * @param state root of a `ShardStateUnsplit`, parsed from a BoC
 */
export function zerostateAccounts(
  state: Cell,
  place: { readonly workchain: number; readonly gen_utime: number },
  writer: TransactionWriter,
): AccountStateChange[] {
  const changes: AccountStateChange[] = [];
  for (const [id, found] of new ShardStateAccounts(state).all()) {
    if (found.code !== null) writer.addCode(found.code);
    const address = addressBytes(Address.ofParts(place.workchain, id));
    const at = { mc_seqno: 0, gen_utime: place.gen_utime, first_tx: null };
    changes.push(changeOf(address, accountKey(address), found.cell.hash(0), at, found));
  }
  return changes;
}

/** Builds the rows of bundles, and looks up the global versions that they need. */
export class BundleRowsBuilder {
  readonly #read: (key_block: number) => Promise<number>;
  readonly #versions = new Map<number, number>();

  /** @param read the global version (config parameter 8) set by a key block; 0: the zerostate */
  constructor(read: (key_block: number) => Promise<number>) {
    this.#read = read;
  }

  /** Key blocks are rare: when the version of one is not known, the bundle is built a second time. */
  async build(bundle: McBlockBundle, writer: TransactionWriter): Promise<BundleRows> {
    for (;;) {
      const missing = new Set<number>();
      const context: BundleContext = {
        writer,
        globalVersion: (key_block) => {
          const version = this.#versions.get(key_block);
          if (version === undefined) missing.add(key_block);
          return version ?? 0;
        },
      };
      const rows = buildBundleRows(bundle, context);
      if (missing.size === 0) return rows;
      for (const key_block of missing) this.#versions.set(key_block, await this.#read(key_block));
    }
  }
}

/** Flags in the column `bits`. */
const FLAGS = [
  ['after_merge', 1],
  ['before_split', 2],
  ['after_split', 4],
  ['want_merge', 8],
  ['want_split', 16],
  ['key_block', 32],
  ['vert_seqno_incr', 64],
] as const satisfies readonly (readonly [keyof BlockInfo, number])[];

/** The row of a block; its hashes come from the block id. */
function blockRow(
  place: { readonly id: bigint; readonly block: BlockId },
  block: Block,
  {
    prev,
    ...counts
  }: { readonly tx_count: number; readonly global_version: number; readonly prev: readonly BlockId[] },
): BlockRow {
  const { block: id } = place;
  const info = block.info.value;
  const extra = block.extra.value;
  let bits = 0;
  for (const [flag, bit] of FLAGS) if (info[flag]) bits |= bit;
  return {
    id: place.id,
    workchain: id.workchain,
    shard: BigInt.asIntN(64, id.shard),
    seqno: id.seqno,
    root_hash: id.root_hash,
    file_hash: id.file_hash,
    global_id: block.global_id,
    version: info.version,
    bits,
    flags: info.flags,
    gen_utime: info.gen_utime,
    start_lt: info.start_lt,
    end_lt: info.end_lt,
    validator_list_hash_short: info.gen_validator_list_hash_short,
    gen_catchain_seqno: info.gen_catchain_seqno,
    min_ref_mc_seqno: info.min_ref_mc_seqno,
    prev_key_block_seqno: info.prev_key_block_seqno,
    vert_seqno: info.vert_seq_no,
    master_ref_seqno: info.master_ref?.value.master.seq_no ?? null,
    rand_seed: extra.rand_seed,
    created_by: extra.created_by,
    ...counts,
    prev_blocks: prev.flatMap(({ workchain, shard, seqno }) => position(workchain, shard, seqno)),
    shard_tops: isMasterchain(id) ? shardTops(block) : null,
  };
}

function shardTops(block: Block): bigint[] {
  const custom = block.extra.value.custom;
  if (custom === null) return [];
  return [...shardDescrs(custom.value.shard_hashes)].flatMap(({ workchain, shard, descr }) =>
    position(workchain, shard, descr.seq_no),
  );
}

/** workchain, shard (signed), seqno */
function position(workchain: number, shard: bigint, seqno: number): bigint[] {
  return [BigInt(workchain), BigInt.asIntN(64, shard), BigInt(seqno)];
}

/** Messages are small; a cell of a large one need not be found. */
const MAX_VISITS = 256;

/** Finds a cell by hash below a cell of a table, if it is complete and not too deep; null: not found. */
function findCell(table: CellTable, root: number, hash: Uint8Array): Cell | null {
  const stack = [root];
  for (let visits = 0; visits < MAX_VISITS; visits++) {
    const line = stack.pop();
    if (line === undefined) return null;
    if (isHash(table, line, hash)) return table.levelMask[line] === 0 ? table.cell(line) : null;
    for (let r = line * 4, end = r + table.refCount[line]!; r < end; r++) stack.push(table.refs[r]!);
  }
  return null;
}

function isHash(table: CellTable, line: number, hash: Uint8Array): boolean {
  const at = table.hashOffset(line);
  const { hashBytes } = table;
  for (let i = 0; i < 32; i++) if (hashBytes[at + i] !== hash[i]) return false;
  return true;
}

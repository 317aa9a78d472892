import { AccountStatusCode } from '#drivers/store/encode/account-status.js';
import { encodeState } from '#drivers/store/encode/state-summary.js';
import type { TransactionWriter } from '#drivers/store/encode/transaction-writer.js';
import { indexId } from '#drivers/store/ids.js';
import { accountKey, addressBytes } from '#drivers/store/keys.js';
import type { BlockRow, MessageRow } from '#drivers/store/rows.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import type { TableCell } from '#formats/cells/cell-table.js';
import { openExotic } from '#formats/cells/slice.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { bytesEqual, compareBytes } from '#kernel/bytes/bytes.js';
import type { Round, RoundBlock } from '#services/indexer/rounds/round.js';
import { accountTransactions } from '#services/indexer/rows/account-blocks.js';
import { blockRow } from '#services/indexer/rows/block-row.js';
import { findCell } from '#services/indexer/rows/find-cell.js';
import type { AccountChange, RoundRows, RoundTransaction } from '#services/indexer/rows/round-rows.js';
import { type FoundAccount, StateAccounts } from '#services/indexer/rows/state-accounts.js';
import { type BlockFacts, readTransaction } from '#services/indexer/rows/transaction-rows.js';

/** What a round does not tell. */
export interface RoundContext {
  /**
   * The version of the network's rules (config parameter 8) that a key block set.
   * @param key_block its seqno in the masterchain; 0: the zerostate
   */
  globalVersion(key_block: number): number;
  /** Of the batch: it writes the transactions, and gathers the codes that they share. */
  readonly writer: TransactionWriter;
}

/** A transaction before it has an id. */
interface Placed {
  readonly facts: BlockFacts;
  readonly account: Uint8Array;
  readonly account_key: bigint;
  readonly lt: bigint;
  readonly line: number;
  /** Of the last transaction of an account in its block. */
  readonly states: StateAccounts | null;
}

/**
 * The rows of a round: blocks, transactions, messages, accounts.
 *
 * @throws cells/*, tlb/* when a block is malformed, which its file hash excludes for blocks of the network
 */
export function buildRound(round: Round, context: RoundContext): RoundRows {
  const { mc_seqno } = round;
  const blocks: BlockRow[] = [];
  const placed: Placed[] = [];
  for (const block of round.blocks) readBlock(block, mc_seqno, context, blocks, placed);
  placed.sort(inOrder);
  const messages: MessageRow[] = [];
  const accounts: AccountChange[] = [];
  const transactions = placed.map(({ facts, account, account_key, line, states }, ordinal) => {
    const id = indexId(mc_seqno, ordinal);
    const row = readTransaction(facts, line, id, { account, account_key }, context.writer, messages);
    if (states !== null) {
      const change = accountChange(facts, account, row, states, context.writer);
      row.state_after = encodeState(change);
      accounts.push(change);
    }
    return row;
  });
  return { mc_seqno, blocks, transactions, messages, accounts };
}

/** Finds the transactions of a block, and makes its row. */
function readBlock(
  { id, data }: RoundBlock,
  mc_seqno: number,
  context: RoundContext,
  blocks: BlockRow[],
  placed: Placed[],
): void {
  const root = parseBocRoot(data) as TableCell;
  const { table } = root;
  const block = decodeCell(Block, root);
  const info = block.info.value;
  const global_version = context.globalVersion(info.prev_key_block_seqno);
  const facts: BlockFacts = {
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
    const states = new StateAccounts(block.state_update.cell.ref(1));
    for (const { account, cells, lts } of parts) {
      const account_key = keyOfAccount(id.workchain, account);
      for (let i = 0; i < cells.length; i++) {
        const last = i === cells.length - 1;
        placed.push({ facts, account, account_key, lt: lts[i]!, line: cells[i]!, states: last ? states : null });
      }
      tx_count += cells.length;
    }
  }
  const place = { id: indexId(mc_seqno, blocks.length), block: id };
  blocks.push(blockRow(place, block, { tx_count, global_version }));
}

function inOrder(a: Placed, b: Placed): number {
  if (a.lt !== b.lt) return a.lt < b.lt ? -1 : 1;
  return a.facts.workchain - b.facts.workchain || compareBytes(a.account, b.account);
}

/** The state after the last transaction of an account in a block. An account that is gone is the empty one. */
function accountChange(
  facts: BlockFacts,
  id: Uint8Array,
  { hash, lt, state_hash, account_key, in_msg_line }: RoundTransaction,
  states: StateAccounts,
  writer: TransactionWriter,
): AccountChange {
  const { workchain, mc_seqno, gen_utime } = facts;
  const address = addressBytes(Address.ofParts(workchain, id));
  // The update shows nothing of an account that was there neither before nor after.
  const found = bytesEqual(state_hash, GONE.state_hash) ? null : states.find(id);
  if (found === null) {
    return { address, account_key, mc_seqno, gen_utime, ...GONE, last_trans_lt: lt, last_trans_hash: hash };
  }
  // A code that is set anew is left out where the state before had it elsewhere, as in the queue with the message.
  const { code_hash } = found;
  let { code } = found;
  if (code === null && code_hash !== null && in_msg_line >= 0) code = findCell(facts.table, in_msg_line, code_hash);
  if (code !== null) writer.addCode(code);
  return changeOf(address, account_key, state_hash, { mc_seqno, gen_utime }, found);
}

/** Field by field: copying objects as they are takes several times as long, and there is one for each transaction. */
function changeOf(
  address: Uint8Array,
  account_key: bigint,
  state_hash: Uint8Array,
  { mc_seqno, gen_utime }: { readonly mc_seqno: number; readonly gen_utime: number },
  found: FoundAccount,
): AccountChange {
  return {
    address,
    account_key,
    state_hash,
    mc_seqno,
    gen_utime,
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

/** `account_none$0` */
const GONE = {
  state_hash: new Builder().storeBit(false).endCell().hash(),
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
 * The accounts of a zerostate, as they stand in the index before the first round.
 *
 * @param state the root of a `ShardStateUnsplit`, read from a bag of cells
 */
export function zerostateAccounts(
  state: Cell,
  place: { readonly workchain: number; readonly gen_utime: number },
  writer: TransactionWriter,
): AccountChange[] {
  const changes: AccountChange[] = [];
  for (const [id, found] of new StateAccounts(state).all()) {
    if (found.code !== null) writer.addCode(found.code);
    const address = addressBytes(Address.ofParts(place.workchain, id));
    const { gen_utime } = place;
    changes.push(changeOf(address, accountKey(address), found.cell.hash(0), { mc_seqno: 0, gen_utime }, found));
  }
  return changes;
}

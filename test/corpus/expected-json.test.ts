import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { AccountStatus } from '#formats/tlb/account.js';
import { Block, type ValueFlow } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import type { CurrencyCollection } from '#formats/tlb/currency.js';
import type { ShardState } from '#formats/tlb/shard-state.js';
import type { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

/**
 * What another decoder (tonkeeper/tongo) prints of a block, made from ours: each field that it has, under its name, so that
 * whole documents are compared and nothing is left out.
 */
function asPrinted(block: Block) {
  const { in_msg_descr, out_msg_descr, account_blocks } = block.extra.value;
  const hashes: string[] = [];
  const accounts: Record<string, { Transactions: Record<string, unknown> }> = {};
  for (const [account, { transactions }] of account_blocks.value) {
    const printed: Record<string, unknown> = {};
    for (const [lt, transaction] of transactions) {
      hashes.push(toHex(transaction.cell.hash()));
      printed[String(lt)] = printTransaction(transaction.value);
    }
    accounts[toHex(account)] = { Transactions: printed };
  }
  return {
    Accounts: accounts,
    TxHashes: hashes.length === 0 ? null : hashes.sort(),
    ValueFlow: printValueFlow(block.value_flow.value),
    InMsgDescrLength: in_msg_descr.value.count(),
    OutMsgDescrLength: out_msg_descr.value.count(),
    Libraries: printLibraries(block.state_update.value.new.value),
  };
}

const STATUS: Readonly<Record<AccountStatus, string>> = {
  acc_state_uninit: 'uninit',
  acc_state_frozen: 'frozen',
  acc_state_active: 'active',
  acc_state_nonexist: 'nonexist',
};

function printTransaction(transaction: Transaction): Record<string, unknown> {
  return {
    AccountAddr: toHex(transaction.account_addr),
    Lt: Number(transaction.lt),
    PrevTransHash: toHex(transaction.prev_trans_hash),
    PrevTransLt: Number(transaction.prev_trans_lt),
    Now: transaction.now,
    OutMsgCnt: transaction.outmsg_cnt,
    OrigStatus: STATUS[transaction.orig_status],
    EndStatus: STATUS[transaction.end_status],
  };
}

function printCurrency({ grams, other }: CurrencyCollection): Record<string, unknown> {
  return { Grams: String(grams), Other: Object.fromEntries([...other].map(([id, amount]) => [id, String(amount)])) };
}

function printValueFlow(flow: ValueFlow): Record<string, unknown> {
  const { from_prev_blk, to_next_blk, imported, exported } = flow.balances.value;
  const { fees_imported, recovered, created, minted } = flow.fees.value;
  return {
    FromPrevBlk: printCurrency(from_prev_blk),
    ToNextBlk: printCurrency(to_next_blk),
    Imported: printCurrency(imported),
    Exported: printCurrency(exported),
    FeesCollected: printCurrency(flow.fees_collected),
    Burned: flow.kind === 'value_flow_v2' ? printCurrency(flow.burned) : null,
    FeesImported: printCurrency(fees_imported),
    Recovered: printCurrency(recovered),
    Created: printCurrency(created),
    Minted: printCurrency(minted),
  };
}

/** Libraries that the update shows, with their publishers. */
function printLibraries(state: ShardState): Record<string, Record<string, object>> {
  const printed: Record<string, Record<string, object>> = {};
  if (state.kind !== 'shard_state') return printed;
  for (const [hash, { publishers }] of state.totals.value.libraries.entries({ pruned: 'skip' }))
    printed[toHex(hash)] = Object.fromEntries([...publishers].map(([account]) => [toHex(account), {}]));
  return printed;
}

function countFields(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, part) => sum + countFields(part), 0);
}

/** @returns number of fields compared */
function compare(blockFile: string, expectedFile: string): number {
  const expected: unknown = JSON.parse(readFileSync(expectedFile, 'utf8'));
  expect(asPrinted(decodeCell(Block, parseBocRoot(readBytes(blockFile))))).toEqual(expected);
  return countFields(expected);
}

describe('fields of blocks are those that another decoder reads', () => {
  it('a masterchain block', () => {
    const fields = compare(
      vectorPath('examples/masterchain-block.boc'),
      vectorPath('tlb/masterchain-block.expected.json'),
    );
    expect(fields).toBeGreaterThan(60);
  });
});

const blocks = vectorPath('collection/mainnet-blocks');

describe('the same, on the collection of real data', () => {
  it.each([1, 2, 3, 4, 5])('block-%i', (number) => {
    const fields = compare(`${blocks}/block-${number}.boc`, `${blocks}/block-${number}.expected.json`);
    console.info(`block-${number}: ${fields} fields are equal`);
    expect(fields).toBeGreaterThan(10);
  });
});

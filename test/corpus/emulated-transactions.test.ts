import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TransactionResult } from '#drivers/tvm/transaction.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import type { AccountBlock } from '#formats/tlb/account-block.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { ShardAccount } from '#formats/tlb/shard-account.js';
import { shardContains } from '#formats/tlb/shard-ident.js';
import { ShardState, type ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import type { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { LedgerBlock } from '#localnet/liteserver/ledger.js';
import { openReplay } from '#localnet/replay/open-replay.js';
import type { ReplayLedger } from '#localnet/replay/replay-ledger.js';
import { sharedData, vectorPath } from '#test/support/shared-data.js';
import { EMPTY_SHARD_ACCOUNT } from '#test/support/tvm-contract.js';
import { startTvm } from '#test/support/tvm-pool.js';

/** A transaction as a block has it. */
interface Recorded {
  readonly account: Uint8Array;
  readonly cell: Cell;
  readonly transaction: Transaction;
}

/** What the emulator, older than the recording node, does otherwise: nothing but extra currencies. */
const EXEMPT: ReadonlyMap<string, string> = new Map([
  [
    '0:cd53da5dce35fb47e6a7c3c694aa726853007c07a052a77042b227c3524187ba 504000001',
    'sends a dictionary of extra currencies that is none: the node skips the action, the emulator crashes',
  ],
  [
    '0:c6c0da59763a4048a05a0c4a1c247d97e122e1b8b472bca464370be0637d1696 506000003',
    'returns extra currencies: the node does not count their cells in the fee any more, the emulator does',
  ],
]);

const exempt = new Set<string>();

let pool: TvmPool;
beforeAll(async () => {
  pool = await startTvm({ maxWaiting: 1_000 });
});
afterAll(() => pool.close());

const hex = (cell: Cell): string => toHex(cell.hash());

function unsplit(state: Cell): ShardStateUnsplit[] {
  const value = decodeCell(ShardState, state);
  return value.kind === 'split_state' ? [value.left.value, value.right.value] : [value];
}

function masterchainState(ledger: ReplayLedger, seqno: number): ShardStateUnsplit {
  const block = ledger.lookup({ by: 'seqno', ...MASTERCHAIN_SHARD, seqno });
  const cell = block === null ? parseBocRoot(ledger.zerostateFile(ledger.zerostate)!) : ledger.state(block);
  return unsplit(cell)[0]!;
}

/** The states that a block starts from: two after a merge. */
function statesBefore(ledger: ReplayLedger, block: LedgerBlock): ShardStateUnsplit[] {
  return ledger.previous(block).flatMap((id) => {
    const before = ledger.block(id);
    return unsplit(before === null ? parseBocRoot(ledger.zerostateFile(id)!) : ledger.state(before));
  });
}

/** Emulates all transactions of a block, each account's on top of each other. @returns how many, and what differs */
async function emulateBlock(ledger: ReplayLedger, block: LedgerBlock) {
  const { info, extra } = decodeCell(Block, block.root);
  const { master_ref, gen_utime } = info.value;
  const { account_blocks, rand_seed } = extra.value;
  const before = statesBefore(ledger, block);
  const master = masterchainState(ledger, master_ref === null ? block.id.seqno - 1 : master_ref.value.master.seq_no);
  const config = master.custom!.value.config.config.root!;
  const libraries = master.totals.value.libraries.root;
  const differences: string[] = [];
  let count = 0;
  const emulateAccount = async (account: Uint8Array, transactions: AccountBlock['transactions']): Promise<void> => {
    const prefix = BigInt(`0x${toHex(account.subarray(0, 8))}`);
    const state = before.find(({ shard_id }) => before.length === 1 || containsPrefix(shard_id, prefix))!;
    const found = state.accounts.value.get(account);
    let shard_account = found === undefined ? EMPTY_SHARD_ACCOUNT : encodeCell(ShardAccount, found);
    for (const [lt, lazy] of transactions) {
      const recorded: Recorded = { account, cell: lazy.cell, transaction: lazy.value };
      const name = `${block.id.workchain}:${toHex(account)} ${lt}`;
      if (EXEMPT.has(name)) {
        const same = await emulate(recorded).then(
          (result) => result.accepted && hex(result.transaction) === hex(recorded.cell),
          (error) => !isTernError(error, 'tvm/crashed'),
        );
        if (same) differences.push(`${name}: is the same by now, take it off the list`);
        exempt.add(name);
        return;
      }
      const result = await emulate(recorded);
      count++;
      if (!result.accepted) {
        differences.push(`${name}: ${result.problem}`);
        return;
      }
      if (hex(result.transaction) !== hex(recorded.cell)) differences.push(`${name}: ${hex(result.transaction)}`);
      shard_account = result.shard_account;
    }
    async function emulate({ transaction }: Recorded): Promise<TransactionResult> {
      const { lt, in_msg, description } = transaction;
      const context = { shard_account, config, libraries, now: gen_utime, lt, rand_seed };
      if (in_msg !== null) return pool.emulateTransaction({ ...context, message: in_msg.cell });
      const descr = description.value;
      const which = descr.kind === 'trans_tick_tock' && descr.is_tock ? 'tock' : 'tick';
      return pool.emulateTickTock({ ...context, which });
    }
  };
  await Promise.all(
    [...account_blocks.value].map(([account, { transactions }]) => emulateAccount(account, transactions)),
  );
  return { count, differences };
}

function containsPrefix(shard: ShardStateUnsplit['shard_id'], prefix: bigint): boolean {
  const { shard_pfx_bits, shard_prefix } = shard;
  return shardContains(shard_prefix | (1n << BigInt(63 - shard_pfx_bits)), prefix);
}

describe('transactions emulated again', () => {
  it('are the same in the first blocks of the recorded network', async () => {
    const ledger = openReplay(vectorPath('recorded-chain'), { to: null, head: null });
    let total = 0;
    for (let seqno = 1; seqno <= ledger.lastSeqno; seqno++) {
      const block = ledger.lookup({ by: 'seqno', ...MASTERCHAIN_SHARD, seqno })!;
      const { count, differences } = await emulateBlock(ledger, block);
      expect(differences).toEqual([]);
      total += count;
    }
    expect(total).toBeGreaterThan(5);
  });
});

const chain = sharedData('recorded-net/chain');

describe.skipIf(chain === null)('transactions of the recorded network, emulated again', () => {
  it('are the same, ordinary ones and tick-tocks, from inside and outside', async () => {
    const ledger = openReplay(chain!, { to: null, head: null });
    const results: string[] = [];
    let total = 0;
    const began = performance.now();
    const seqnos = Array.from({ length: 275 }, (_, i) => 1 + 4 * i);
    for (const seqno of [...seqnos, 498, 500]) {
      for (const shard of [MASTERCHAIN_SHARD, { workchain: 0, shard: 1n << 63n }]) {
        const block = ledger.lookup({ by: 'seqno', ...shard, seqno });
        if (block === null) continue;
        const { count, differences } = await emulateBlock(ledger, block);
        results.push(...differences);
        total += count;
      }
    }
    console.info(`${total} transactions in ${Math.round(performance.now() - began)} ms`);
    expect(results).toEqual([]);
    expect([...exempt].sort()).toEqual([...EXEMPT.keys()].sort());
    expect(total).toBeGreaterThan(2_000);
  });
});

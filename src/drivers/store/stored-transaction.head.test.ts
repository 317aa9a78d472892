import { expect, it } from 'vitest';
import { loadTransaction, TransactionWriter, transactionHead } from '#drivers/store/stored-transaction.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';
import { buildBundleRows } from '#services/indexer/rows/build-rows.js';
import { FULL, partOf } from '#test/support/full-depth.js';
import { recordedBundles } from '#test/support/recorded-bundles.js';
import { DEV_CHAIN } from '#test/support/replayed-contracts.js';

it('is what the whole transaction says, for blocks of a recorded chain', () => {
  const { bundles: rounds, globalVersion } = recordedBundles(DEV_CHAIN);
  const writer = new TransactionWriter();
  const statuses = new Map<string, number>();
  for (const bundle of partOf(rounds, 3)) {
    for (const { boc, hash } of buildBundleRows(bundle, { globalVersion, writer }).transactions) {
      // Codes that stand elsewhere are far below the first cell.
      const whole = decodeCell(
        Transaction,
        loadTransaction(boc, () => null),
      );
      expect(transactionHead(boc), toHex(hash)).toEqual({
        account_addr: whole.account_addr,
        prev_trans_hash: whole.prev_trans_hash,
        prev_trans_lt: whole.prev_trans_lt,
        wasNonexist: whole.orig_status === 'acc_state_nonexist',
        isNonexist: whole.end_status === 'acc_state_nonexist',
      });
      const change = `${whole.orig_status} ${whole.end_status}`;
      statuses.set(change, (statuses.get(change) ?? 0) + 1);
    }
  }
  expect(statuses.get('acc_state_nonexist acc_state_active')).toBeGreaterThan(FULL ? 20 : 6);
  expect(statuses.get('acc_state_active acc_state_active')).toBeGreaterThan(FULL ? 1000 : 330);
});

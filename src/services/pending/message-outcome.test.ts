import { expect, it } from 'vitest';
import { decodeCell, encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { type ComputeSkipReason, Transaction, TransactionDescr } from '#formats/tlb/transaction.js';
import { failuresOf } from '#services/pending/message-outcome.js';
import { externalTo, liveTransaction } from '#test/support/live-cells.js';

/** A transaction in which no code ran. */
function skipped(reason: ComputeSkipReason, isBounced: boolean) {
  const { cell, account } = liveTransaction(externalTo(1, 5).cell, [], { lt: 1_000n });
  const bounce = isBounced ? ({ kind: 'tr_phase_bounce_negfunds' } as const) : null;
  const description: TransactionDescr = {
    ...{ kind: 'trans_ord', credit_first: true, storage_ph: null, credit_ph: null, action: null, aborted: true },
    ...{ compute_ph: { kind: 'tr_phase_compute_skipped', reason }, bounce, destroyed: false },
  };
  const lazy = Lazy.ofValue(TransactionDescr, description);
  return { cell: encodeCell(Transaction, { ...decodeCell(Transaction, cell), description: lazy }), account };
}

it.each([
  ['cskip_no_state', false, false],
  ['cskip_no_gas', false, false],
  ['cskip_no_state', true, true],
  ['cskip_no_gas', true, true],
  ['cskip_bad_state', false, true],
  ['cskip_suspended', false, true],
] as const)('a transaction without code to run: %s, bounced %s, is a failure: %s', (reason, isBounced, isFailure) => {
  const failures = failuresOf([skipped(reason, isBounced)]);
  expect(failures).toHaveLength(isFailure ? 1 : 0);
  if (isFailure) expect(failures[0]).toMatchObject({ phase: 'compute', exit_code: null });
});

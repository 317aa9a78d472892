import type { Address } from '#formats/address/address.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction, type TransactionDescr } from '#formats/tlb/transaction.js';
import { meaningOfExitCode } from '#services/emulation/explain-refusal.js';
import type { LiveTransaction } from '#services/pending/live-trace.js';

/** A transaction that did not do what its message asked for. */
export interface TransactionFailure {
  readonly account: Address;
  readonly hash: Uint8Array;
  readonly phase: 'compute' | 'action';
  /** Of the compute phase, or the result code of the action phase; null: no code ran. */
  readonly exit_code: number | null;
  /** A sentence for people. */
  readonly explanation: string;
}

/**
 * Finds the transactions that failed, in the given order. Coins that arrive are no failure where no code runs: because the account has
 * none, or because the message carries too little to run it.
 */
export function failuresOf(
  transactions: readonly Pick<LiveTransaction, 'cell' | 'account'>[],
): readonly TransactionFailure[] {
  return transactions.flatMap(({ cell, account }) => {
    const failure = failureOf(decodeCell(Transaction, cell).description.value);
    return failure === null ? [] : [{ ...failure, account, hash: cell.hash() }];
  });
}

type Failure = Pick<TransactionFailure, 'phase' | 'exit_code' | 'explanation'>;

function failureOf(description: TransactionDescr): Failure | null {
  if (!('compute_ph' in description)) return null;
  const { compute_ph: compute } = description;
  if (compute.kind === 'tr_phase_compute_skipped') {
    const isBounced = 'bounce' in description && description.bounce !== null;
    if (!isBounced && (compute.reason === 'cskip_no_state' || compute.reason === 'cskip_no_gas')) return null;
    return { phase: 'compute', exit_code: null, explanation: SKIPPED[compute.reason] };
  }
  const { exit_code } = compute;
  if (!compute.success) {
    const meaning = meaningOfExitCode(exit_code) ?? 'a contract-specific code, see its source or documentation';
    return { phase: 'compute', exit_code, explanation: `The contract ended with exit code ${exit_code}: ${meaning}.` };
  }
  const action = 'action' in description ? (description.action?.value ?? null) : null;
  if (action === null || action.success) return null;
  const { result_code } = action;
  const meaning = ACTION_RESULTS.get(result_code) ?? 'see the list of result codes of the action phase';
  const explanation = `The contract ran, but what it asked for failed with result code ${result_code}: ${meaning}.`;
  return { phase: 'action', exit_code: result_code, explanation };
}

const SKIPPED = {
  cskip_no_state: 'No contract is deployed at the account, and the message was returned.',
  cskip_bad_state: 'The StateInit in the message does not belong to the account.',
  cskip_no_gas: 'The message carried too little to pay for running the contract, and was returned.',
  cskip_suspended: 'The account is suspended by the configuration of the network.',
} as const;

/** Result codes of the action phase. */
const ACTION_RESULTS: ReadonlyMap<number, string> = new Map([
  [32, 'the list of actions is invalid'],
  [33, 'the list of actions is too long'],
  [34, 'an action is invalid or not supported'],
  [35, 'a message has an invalid source address'],
  [36, 'a message has an invalid destination address'],
  [37, 'the balance does not cover the value of a message'],
  [38, 'the balance does not cover the extra currencies of a message'],
  [39, 'a message does not fit into a cell after it was completed'],
  [40, 'the coins left do not pay for the processing of a message'],
  [41, 'a library reference is null'],
  [42, 'a library cannot be changed'],
  [43, 'a message or library is too large'],
  [50, 'the state of the account would be too large'],
]);

import { isAboutContract } from '#domain/contracts/answered.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import { tvmErrors } from '#drivers/tvm/errors.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { indexerErrors } from '#services/indexer/errors.js';

/**
 * Why a contract is not of a kind that it seems to be: another contract does not agree (`not-verified`) or changes its answer
 * (`unsteady`); it uses up all gas (`out-of-gas`) or time (`too-long`); it answers too much (`too-large`), throws (`threw`), answers
 * in another form (`malformed`), or brings down whoever runs it (`crashed`); what it tells could not be read for a fault of
 * Tern (`failed`).
 */
const REFUSALS = [
  'not-verified',
  'unsteady',
  'out-of-gas',
  'too-long',
  'too-large',
  'threw',
  'malformed',
  'crashed',
  'failed',
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** What an error says of a contract that was asked whether it is of a kind. */
export type Verdict =
  /** It does not even seem to be. */
  | { readonly kind: 'other' }
  | { readonly kind: 'refused'; readonly reason: Refusal }
  /** Nothing: it could not be asked now. */
  | { readonly kind: 'passing' };

const OTHER: Verdict = { kind: 'other' };
const PASSING: Verdict = { kind: 'passing' };

/** No such get method; no code. */
const ABSENT = new Set([11, -13]);

/** A machine that is busy is no reason to take a contract for one that loops; twice it is. */
const DECIDED_AFTER = 1;

const REASONS: ReadonlyMap<string, Refusal> = new Map([
  [contractDataErrors['not-verified'].code, 'not-verified'],
  [contractDataErrors['too-large'].code, 'too-large'],
  [indexerErrors['contract-unsteady'].code, 'unsteady'],
  [indexerErrors['contract-out-of-gas'].code, 'out-of-gas'],
  [indexerErrors['contract-too-large'].code, 'too-large'],
  ['tlb/vm-size', 'too-large'],
  [tvmErrors.refused.code, 'malformed'],
]);

const LATE: ReadonlyMap<string, Refusal> = new Map([
  [tvmErrors.timeout.code, 'too-long'],
  [tvmErrors.crashed.code, 'crashed'],
]);

/**
 * @param address of the contract, raw
 * @param attempts how often it could not be asked before
 */
export function verdictOf(error: unknown, address: string, attempts: number): Verdict {
  if (!isTernError(error)) return { kind: 'refused', reason: 'failed' };
  const { code, data } = error;
  if (code === contractDataErrors['unknown-code'].code) return OTHER;
  if (code === contractDataErrors['method-failed'].code) {
    if (data.address !== address) return { kind: 'refused', reason: 'not-verified' };
    return ABSENT.has(Number(data.exit_code)) ? OTHER : { kind: 'refused', reason: 'threw' };
  }
  const late = LATE.get(code);
  if (late !== undefined) return attempts < DECIDED_AFTER ? PASSING : { kind: 'refused', reason: late };
  const reason = REASONS.get(code) ?? (isAboutContract(error) ? 'malformed' : null);
  return reason === null ? PASSING : { kind: 'refused', reason };
}

/** Whether the contract does not come to an end, so that asking it for other kinds is not worth the time. */
export function isEndless(reason: Refusal): boolean {
  return reason === 'out-of-gas' || reason === 'too-long' || reason === 'crashed';
}

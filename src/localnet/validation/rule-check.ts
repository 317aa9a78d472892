import { type BlockId, printBlockId } from '#formats/proofs/block-id.js';
import type { CurrencyCollection } from '#formats/tlb/currency.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';
import { validationErrors } from '#localnet/validation/errors.js';
import { RULES, type Rule } from '#localnet/validation/rules.js';

/** A value that a rule compares. */
export type Compared = string | number | bigint | boolean | null | Uint8Array | CurrencyCollection | BlockId;

/** Where in a block a rule is looked at: `account 33…`, `message ab…`. Only made into text when the rule is broken. */
export type RulePlace = string | { readonly what: string; readonly hash: Uint8Array };

/** Looks at rules for one block, and throws validation/broken-rule at the first that does not hold. */
export class RuleCheck {
  /** `(0,8000000000000000,12)` */
  readonly block: string;

  constructor(block: string) {
    this.block = block;
  }

  /** What the rule wants, and what is there, must be the same. @throws validation/broken-rule */
  equal(rule: Rule, expected: Compared, found: Compared, place: RulePlace = ''): void {
    if (!sameValue(expected, found)) throw this.broken(rule, expected, found, place);
  }

  /** @param expected what would do, in words or as a value @throws validation/broken-rule */
  require(holds: boolean, rule: Rule, expected: Compared, found: Compared, place: RulePlace = ''): void {
    if (!holds) throw this.broken(rule, expected, found, place);
  }

  broken(rule: Rule, expected: Compared, found: Compared, place: RulePlace = ''): Error {
    return validationErrors['broken-rule']({
      block: this.block,
      rule,
      sentence: RULES[rule],
      place: typeof place === 'string' ? place : `${place.what} ${toHex(place.hash)}`,
      expected: show(expected),
      found: show(found),
    });
  }
}

function sameValue(a: Compared, b: Compared): boolean {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && bytesEqual(a, b);
  if ('grams' in a) return 'grams' in b && a.grams === b.grams && sameExtra(a, b);
  return 'seqno' in b && printBlockId(a) === printBlockId(b);
}

function sameExtra(a: CurrencyCollection, b: CurrencyCollection): boolean {
  const { root: left } = a.other;
  const { root: right } = b.other;
  if (left === null || right === null) return left === right;
  return bytesEqual(left.hash(), right.hash());
}

function show(value: Compared): string {
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof Uint8Array) return toHex(value);
  if ('seqno' in value) return printBlockId(value);
  const extra = [...value.other].map(([id, amount]) => ` + ${amount} of currency ${id}`);
  return `${value.grams}${extra.join('')}`;
}

import type { AugmentationRule } from '#formats/tlb/codec/augmented-dictionary.js';
import { type Dictionary, hashmapE, uintKey } from '#formats/tlb/codec/dictionary.js';
import { grams, varUint } from '#formats/tlb/codec/primitives.js';
import { record } from '#formats/tlb/codec/record.js';

/**
 * `extra_currencies$_ dict:(HashmapE 32 (VarUInteger 32)) = ExtraCurrencyCollection;`
 * Amounts by currency id; the dictionary itself, without a wrapping object.
 */
export const ExtraCurrencyCollection = hashmapE(uintKey(32), varUint(32));
export type ExtraCurrencyCollection = Dictionary<number, bigint>;

/** An amount of nanotons and of extra currencies. */
export interface CurrencyCollection {
  readonly grams: bigint;
  readonly other: ExtraCurrencyCollection;
}
export const CurrencyCollection = record(
  'currencies$_ grams:Grams other:ExtraCurrencyCollection = CurrencyCollection;',
  { grams, other: ExtraCurrencyCollection },
);

const NO_EXTRA_CURRENCIES: ExtraCurrencyCollection = ExtraCurrencyCollection.of([]);

/** An amount of nanotons only. */
export function onlyGrams(amount: bigint): CurrencyCollection {
  return { grams: amount, other: NO_EXTRA_CURRENCIES };
}

export const NO_CURRENCY: CurrencyCollection = onlyGrams(0n);

/** The sum, currency by currency. */
export function addCurrency(a: CurrencyCollection, b: CurrencyCollection): CurrencyCollection {
  return { grams: a.grams + b.grams, other: addExtra(a.other, b.other) };
}

function addExtra(a: ExtraCurrencyCollection, b: ExtraCurrencyCollection): ExtraCurrencyCollection {
  if (a.isEmpty) return b;
  if (b.isEmpty) return a;
  const sums = new Map(a);
  for (const [id, amount] of b) sums.set(id, (sums.get(id) ?? 0n) + amount);
  return ExtraCurrencyCollection.of(sums);
}

/** The augmentation rule of dictionaries whose nodes carry a sum of currencies; `leaf` returns the amount of one entry. */
export function currencySum<V>(leaf: (value: V) => CurrencyCollection): AugmentationRule<V, CurrencyCollection> {
  return { empty: NO_CURRENCY, leaf, combine: addCurrency };
}

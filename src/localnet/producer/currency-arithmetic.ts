import type { CurrencyCollection } from '#formats/tlb/currency.js';

/** The difference, currency by currency; `a` has at least as much of each. */
export function subtractCurrency(a: CurrencyCollection, b: CurrencyCollection): CurrencyCollection {
  let { other } = a;
  for (const [id, amount] of b.other) {
    const left = (other.get(id) ?? 0n) - amount;
    other = left === 0n ? other.delete(id) : other.set(id, left);
  }
  return { grams: a.grams - b.grams, other };
}

/** Whether both are the same amounts; currencies with nothing of them do not count. */
export function sameCurrency(a: CurrencyCollection, b: CurrencyCollection): boolean {
  if (a.grams !== b.grams) return false;
  if (a.other.isEmpty && b.other.isEmpty) return true;
  const left = new Map(a.other);
  for (const [id, amount] of b.other) {
    if ((left.get(id) ?? 0n) !== amount) return false;
    left.delete(id);
  }
  return [...left.values()].every((amount) => amount === 0n);
}

/** For messages to people: `12 nanotons, 5 of currency 239`. */
export function printCurrency({ grams, other }: CurrencyCollection): string {
  return [`${grams} nanotons`, ...[...other].map(([id, amount]) => `${amount} of currency ${id}`)].join(', ');
}

/** Numbers below 2^32 in a row: four bytes each, where an array would take more. */
export class NumberList {
  #numbers = new Uint32Array(16);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(number: number): void {
    if (this.#length === this.#numbers.length) {
      const grown = new Uint32Array(this.#length + (this.#length >> 1));
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    this.#numbers[this.#length++] = number;
  }

  /** @param index below {@link length} */
  at(index: number): number {
    return this.#numbers[index]!;
  }

  /** The least index whose number passes, the length when none does; after one that passes all do. */
  firstIndex(passes: (number: number) => boolean): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (passes(this.#numbers[middle]!)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** Index of the last number that is not greater, of rising ones; -1 when all are greater. */
export function lastUpTo(numbers: readonly number[], wanted: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

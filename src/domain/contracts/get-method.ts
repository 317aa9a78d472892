import type { VmStack } from '#formats/tlb/vm-stack.js';

/** A get method: what it takes and gives, as values. */
export interface GetMethod<Arguments extends readonly unknown[], Result> {
  readonly name: string;
  /** The arguments as the virtual machine takes them. */
  stack(...given: Arguments): VmStack;
  /**
   * The result of the virtual machine as a value. More results than declared are left alone.
   *
   * @throws contract-data/*, cells/*, tlb/* when it is not of that form
   */
  parse(stack: VmStack): Result;
}

/** A get method without arguments. */
export function getMethod<Result>(name: string, parse: (stack: VmStack) => Result): GetMethod<readonly [], Result> {
  return { name, stack: () => [], parse };
}

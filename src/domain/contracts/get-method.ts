import { contractDataErrors } from '#domain/contracts/errors.js';
import type { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { accountOf, MsgAddress } from '#formats/tlb/msg-address.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { openVmCellSlice, type VmCellSlice, type VmStackValue } from '#formats/tlb/vm-stack.js';

/** A get-method with typed arguments and result. */
export interface GetMethod<Arguments extends readonly unknown[], Result> {
  readonly name: string;
  /** The arguments as a TVM stack. */
  stack(...given: Arguments): VmStack;
  /**
   * Parses the resulting TVM stack. Additional stack entries are ignored.
   *
   * @throws contract-data/*, cells/*, tlb/* if it has another form
   */
  parse(stack: VmStack): Result;
}

/** Declares a get-method without arguments. */
export function getMethod<Result>(name: string, parse: (stack: VmStack) => Result): GetMethod<readonly [], Result> {
  return { name, stack: () => [], parse };
}

/** Reads the results of a get-method one by one, in the order of its declaration. */
export class MethodResult {
  readonly #method: string;
  readonly #stack: VmStack;
  #next = 0;

  /** @param least minimal number of results; more are ignored @throws contract-data/method-result */
  constructor(method: string, stack: VmStack, least: number) {
    this.#method = method;
    this.#stack = stack;
    if (stack.length < least) throw this.#refuse(`has ${stack.length} values; it should have ${least}`);
  }

  /** @throws contract-data/method-result */
  int(): bigint {
    const value = this.#take();
    if (value.kind === 'vm_stk_tinyint' || value.kind === 'vm_stk_int') return value.value;
    throw this.#wrong(value, 'an integer');
  }

  /** An integer that is not 0. @throws contract-data/method-result */
  flag(): boolean {
    return this.int() !== 0n;
  }

  /** A signed 64-bit integer. @throws contract-data/method-result */
  int64(): bigint {
    const value = this.int();
    if (BigInt.asIntN(64, value) !== value)
      throw this.#refuse(`has ${value} at place ${this.#next - 1}; it should fit int64`);
    return value;
  }

  /** The result of `read`; null for a null. @throws contract-data/method-result */
  orNull<T>(read: (result: this) => T): T | null {
    if (this.#stack[this.#next]?.kind !== 'vm_stk_null') return read(this);
    this.#next++;
    return null;
  }

  /** @throws contract-data/method-result */
  cell(): Cell {
    const value = this.#take();
    if (value.kind === 'vm_stk_cell') return value.cell;
    throw this.#wrong(value, 'a cell');
  }

  /** Null for a null. @throws contract-data/method-result */
  cellOrNull(): Cell | null {
    const value = this.#take();
    if (value.kind === 'vm_stk_null') return null;
    if (value.kind === 'vm_stk_cell') return value.cell;
    throw this.#wrong(value, 'a cell or null');
  }

  /** A slice, or the content of a cell. @throws contract-data/method-result, cells/* */
  slice(): Slice {
    const value = this.#take();
    if (value.kind === 'vm_stk_slice') return openVmCellSlice(value.slice);
    if (value.kind === 'vm_stk_cell') return openCell(value.cell);
    throw this.#wrong(value, 'a slice');
  }

  /** The content of a slice, which must be whole bytes. @throws contract-data/half-byte, and as {@link MethodResult.slice} */
  bytes(): Uint8Array {
    return wholeBytes(this.slice());
  }

  /** Null for `addr_none`, external addresses, and a null. @throws as {@link MethodResult.slice} */
  accountOrNull(): Address | null {
    if (this.#stack[this.#next]?.kind === 'vm_stk_null') {
      this.#next++;
      return null;
    }
    return accountOf(MsgAddress.load(this.slice()));
  }

  /** @throws as {@link MethodResult.slice} */
  account(): Address {
    const account = this.accountOrNull();
    if (account === null) throw this.#refuse(`has no address at place ${this.#next - 1}`);
    return account;
  }

  #take(): VmStackValue {
    const value = this.#stack[this.#next++];
    if (value === undefined) throw this.#refuse(`has only ${this.#stack.length} values`);
    return value;
  }

  #wrong(value: VmStackValue, wanted: string): Error {
    return this.#refuse(`has ${value.kind} at place ${this.#next - 1}; it should be ${wanted}`);
  }

  #refuse(problem: string): Error {
    return contractDataErrors['method-result']({ method: this.#method, problem });
  }
}

/** The remaining bits as bytes. @throws contract-data/half-byte */
export function wholeBytes(slice: Slice): Uint8Array {
  const { remainingBits: bits } = slice;
  if ((bits & 7) !== 0) throw contractDataErrors['half-byte']({ bits });
  return slice.loadBytes(bits >> 3);
}

/** A cell with the remaining content of a slice. Exotic cells are returned whole. */
export function cellOfSlice(slice: VmCellSlice): Cell {
  const { cell, st_bits, end_bits, st_ref, end_ref } = slice;
  const whole = st_bits === 0 && end_bits === cell.bits && st_ref === 0 && end_ref === cell.refCount;
  if (whole || cell.type !== CellType.ordinary) return cell;
  return new Builder().storeSlice(openVmCellSlice(slice)).endCell();
}

/** A Lisp-style list: pairs, each with the next one as its second item. */
export interface ConsList {
  readonly heads: readonly VmStackValue[];
  /** The second item of the last pair: `vm_stk_null` for a proper list. */
  readonly rest: VmStackValue;
}

export function consList(value: VmStackValue): ConsList {
  const heads: VmStackValue[] = [];
  let rest = value;
  while (rest.kind === 'vm_stk_tuple' && rest.data.length === 2) {
    heads.push(rest.data[0]!);
    rest = rest.data[1]!;
  }
  return { heads, rest };
}

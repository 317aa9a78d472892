import { contractDataErrors } from '#domain/contracts/errors.js';
import { wholeBytes } from '#domain/contracts/whole-bytes.js';
import type { Address } from '#formats/address/address.js';
import { accountOf } from '#formats/address/msg-address.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';
import { openVmCellSlice } from '#formats/tlb/vm-cell-slice.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import type { VmStackValue } from '#formats/tlb/vm-value.js';

/** Reads the results of a get method one by one, in the order in which it declares them. */
export class MethodResult {
  readonly #method: string;
  readonly #stack: VmStack;
  #next = 0;

  /** @param least how many results there must be; more are left alone @throws contract-data/method-result */
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

  /** An integer of 64 bits, with a sign. @throws contract-data/method-result */
  int64(): bigint {
    const value = this.int();
    if (BigInt.asIntN(64, value) !== value)
      throw this.#refuse(`has ${value} at place ${this.#next - 1}; it should fit int64`);
    return value;
  }

  /** What `read` reads; null for a null. @throws contract-data/method-result */
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

  /** A slice, or the content of a cell, from its start. @throws contract-data/method-result, cells/* */
  slice(): Slice {
    const value = this.#take();
    if (value.kind === 'vm_stk_slice') return openVmCellSlice(value.slice);
    if (value.kind === 'vm_stk_cell') return openCell(value.cell);
    throw this.#wrong(value, 'a slice');
  }

  /** All that is in a slice, which must be whole bytes. @throws contract-data/half-byte, and as {@link MethodResult.slice} */
  bytes(): Uint8Array {
    return wholeBytes(this.slice());
  }

  /** Null for `addr_none`, for addresses outside of the chain, and for a null. @throws as {@link MethodResult.slice} */
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

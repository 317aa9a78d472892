import { contractDataErrors } from '#domain/contracts/errors.js';
import { MethodResult } from '#domain/contracts/method-result.js';
import type { Cell } from '#formats/cells/cell.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';

/** What `dnsresolve` says: how much of the name it took, and what it has there. */
export interface DnsAnswer {
  /** Bytes of the name. */
  readonly taken: number;
  /** The next resolver when that is not the whole name; else the dictionary of all records. Null: it has nothing. */
  readonly value: Cell | null;
}

/**
 * `(int bits, cell value) dnsresolve(slice subdomain, int category)` (TEP-81)
 * @param length bytes of the name that was asked for
 * @throws contract-data/method-result when it is not of that form, or took more than there was
 */
export function dnsAnswerOf(stack: VmStack, length: number): DnsAnswer {
  const result = new MethodResult('dnsresolve', stack, 2);
  const bits = result.int();
  const value = result.cellOrNull();
  if (bits < 0n || bits > length * 8 || (bits & 7n) !== 0n) {
    const problem = `says that it took ${bits} of ${length * 8} bits`;
    throw contractDataErrors['method-result']({ method: 'dnsresolve', problem });
  }
  return { taken: Number(bits) / 8, value };
}

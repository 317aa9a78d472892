import { v2Errors } from '#api/v2/errors.js';
import { bocBase64 } from '#api/v2/serialize/ton-objects.js';
import { STACK_TYPE } from '#api/v2/stack/type-names.js';
import type { TypedEntry, VmList, VmTuple } from '#api/v2/stack/typed-entry.js';
import { cellOfSlice, pairChain } from '#domain/contracts/stack-shapes.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import type { VmStackValue } from '#formats/tlb/vm-value.js';

/** Deepest nesting of tuples and lists in an answer. */
export const MAX_RESULT_LEVELS = 256;

/** Results for `runGetMethodStd`. @throws v2/result-depth */
export function encodeTypedStack(stack: VmStack): TypedEntry[] {
  return stack.map((value) => typedEntry(value, 0));
}

/**
 * A value with its type. Pairs that end in null are a list (so null is an empty one); builders, continuations and NaN have
 * no form of their own.
 * @param level how many tuples and lists it is within
 * @throws v2/result-depth
 */
export function typedEntry(value: VmStackValue, level: number): TypedEntry {
  switch (value.kind) {
    case 'vm_stk_tinyint':
    case 'vm_stk_int':
      return {
        '@type': STACK_TYPE.numberEntry,
        number: { '@type': STACK_TYPE.number, number: value.value.toString() },
      };
    case 'vm_stk_cell':
      return { '@type': STACK_TYPE.cellEntry, cell: { '@type': STACK_TYPE.cell, bytes: bocBase64(value.cell) } };
    case 'vm_stk_slice':
      return {
        '@type': STACK_TYPE.sliceEntry,
        slice: { '@type': STACK_TYPE.slice, bytes: bocBase64(cellOfSlice(value.slice)) },
      };
    case 'vm_stk_null':
      return { '@type': STACK_TYPE.listEntry, list: listOf([], level) };
    case 'vm_stk_tuple':
      return tupleEntry(value, level);
    default:
      return { '@type': STACK_TYPE.unsupportedEntry };
  }
}

function tupleEntry(value: VmStackValue & { kind: 'vm_stk_tuple' }, level: number): TypedEntry {
  if (value.data.length !== 2) return { '@type': STACK_TYPE.tupleEntry, tuple: tupleOf(value.data, level) };
  const { heads, rest } = pairChain(value);
  if (rest.kind === 'vm_stk_null') return { '@type': STACK_TYPE.listEntry, list: listOf(heads, level) };
  // No pair of the chain is a list, so none of them needs to be looked at again.
  const deepest = level + heads.length;
  checkLevel(deepest);
  let entry = typedEntry(rest, deepest);
  for (let index = heads.length - 1; index >= 0; index--) {
    const elements = [typedEntry(heads[index]!, level + index + 1), entry];
    entry = { '@type': STACK_TYPE.tupleEntry, tuple: { '@type': STACK_TYPE.tuple, elements } };
  }
  return entry;
}

/** @throws v2/result-depth */
export function tupleOf(items: readonly VmStackValue[], level: number): VmTuple {
  return { '@type': STACK_TYPE.tuple, elements: elementsOf(items, level) };
}

/** @throws v2/result-depth */
export function listOf(items: readonly VmStackValue[], level: number): VmList {
  return { '@type': STACK_TYPE.list, elements: elementsOf(items, level) };
}

function elementsOf(items: readonly VmStackValue[], level: number): TypedEntry[] {
  checkLevel(level + 1);
  return items.map((item) => typedEntry(item, level + 1));
}

function checkLevel(level: number): void {
  if (level > MAX_RESULT_LEVELS) throw v2Errors['result-depth']({ limit: MAX_RESULT_LEVELS });
}

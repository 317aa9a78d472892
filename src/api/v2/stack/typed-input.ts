import { at, badEntry, fieldsOf, kindOf, shown } from '#api/v2/stack/input-error.js';
import { bocOf, integerOf, sliceOf } from '#api/v2/stack/input-values.js';
import { withoutPrefix } from '#api/v2/stack/type-names.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { VM_NULL, type VmStackValue, vmCell, vmTuple } from '#formats/tlb/vm-value.js';

/** Most values of one stack, those within tuples and lists counted. */
const MAX_VALUES = 8000;

/** Deepest nesting of tuples and lists in each other. */
const MAX_LEVELS = 512;

/** Most items of a tuple: the virtual machine knows no longer ones. */
const MAX_TUPLE = 255;

/** How many values may still be read, over all entries of a stack. */
export class StackBudget {
  #left = MAX_VALUES;

  /** @throws v2/stack-entry */
  take(count: number): void {
    this.#left -= count;
    if (this.#left < 0) throw badEntry(`the stack has more than ${MAX_VALUES} values, nested ones counted`);
  }
}

/**
 * Reads the arguments of `runGetMethodStd`: entries with `@type`, prefixed `tvm.` or `vm.`. The `@type` of what is within
 * an entry may be left out.
 *
 * @throws v2/stack-entry, v2/parameter-value, cells/*; with the path of the entry: `stack[3].tuple.elements[0]`
 */
export function decodeTypedStack(entries: unknown): VmStack {
  const budget = new StackBudget();
  return at('stack', () => elementsOf(entries, 'the stack', '', budget, 0));
}

function elementsOf(elements: unknown, what: string, path: string, budget: StackBudget, level: number): VmStackValue[] {
  if (!Array.isArray(elements)) throw badEntry(`${what} is ${kindOf(elements)}; wanted is an array of entries`);
  if (level > MAX_LEVELS) throw badEntry(`tuples and lists are nested more than ${MAX_LEVELS} deep`);
  budget.take(elements.length);
  return elements.map((entry, index) => at(`${path}[${index}]`, () => typedValue(entry, budget, level)));
}

function typedValue(entry: unknown, budget: StackBudget, level: number): VmStackValue {
  const type = typeof entry === 'object' && entry !== null ? (entry as Record<string, unknown>)['@type'] : undefined;
  if (typeof type !== 'string') {
    throw badEntry(`the entry is ${kindOf(entry)} without @type; wanted is an object such as tvm.stackEntryNumber`);
  }
  switch (withoutPrefix(type)) {
    case 'stackEntryNumber':
      return at('number', () => integerOf(contentOf(entry, 'number', 'numberDecimal', 'number')));
    case 'stackEntryCell':
      return at('cell', () => vmCell(bocOf(contentOf(entry, 'cell', 'cell', 'bytes'), 'bytes')));
    case 'stackEntrySlice':
      return at('slice', () => sliceOf(bocOf(contentOf(entry, 'slice', 'slice', 'bytes'), 'bytes')));
    case 'stackEntryTuple':
      return at('tuple', () => tupleOf(contentField(entry, 'tuple'), budget, level));
    case 'stackEntryList':
      return at('list', () => listOf(contentField(entry, 'list'), budget, level));
    case 'stackEntryUnsupported':
      throw badEntry('an unsupported entry stands for a value that cannot be written; it cannot be an argument');
    default:
      throw badEntry(`Unsupported stack entry type: ${shown(type)}`);
  }
}

function contentField(entry: unknown, name: string): unknown {
  return fieldsOf(entry, 'the entry', ['@type', name])[name];
}

function contentOf(entry: unknown, name: string, type: string, field: string): unknown {
  const content = fieldsOf(contentField(entry, name), name, ['@type', field]);
  checkType(content, type);
  return content[field];
}

function checkType(content: Readonly<Record<string, unknown>>, wanted: string): void {
  const type = content['@type'];
  if (type === undefined || (typeof type === 'string' && withoutPrefix(type) === wanted)) return;
  throw badEntry(`@type is ${shown(String(type))}; wanted is tvm.${wanted}`);
}

/** `{"@type": "tvm.tuple", "elements": [...]}` @throws v2/stack-entry */
export function tupleOf(content: unknown, budget: StackBudget, level: number): VmStackValue {
  const fields = fieldsOf(content, 'the tuple', ['@type', 'elements']);
  checkType(fields, 'tuple');
  const items = elementsOf(fields.elements, 'elements', 'elements', budget, level + 1);
  if (items.length > MAX_TUPLE)
    throw badEntry(`the tuple has ${items.length} items; at most ${MAX_TUPLE} are possible`);
  return vmTuple(items);
}

/** `{"@type": "tvm.list", "elements": [...]}`: pairs of a head and the rest, `null` at the end. @throws v2/stack-entry */
export function listOf(content: unknown, budget: StackBudget, level: number): VmStackValue {
  const fields = fieldsOf(content, 'the list', ['@type', 'elements']);
  checkType(fields, 'list');
  const items = elementsOf(fields.elements, 'elements', 'elements', budget, level + 1);
  return items.reduceRight((rest, item) => vmTuple([item, rest]), VM_NULL);
}

import { at, badEntry, fieldsOf, kindOf, shown } from '#api/v2/stack/input-error.js';
import { bocOf, builderOf, integerOf, sliceOf } from '#api/v2/stack/input-values.js';
import { cellOfTree } from '#api/v2/stack/legacy-cell.js';
import { withoutPrefix } from '#api/v2/stack/type-names.js';
import { listOf, StackBudget, tupleOf } from '#api/v2/stack/typed-input.js';
import type { Cell } from '#formats/cells/cell.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { VM_NULL, type VmStackValue, vmCell } from '#formats/tlb/vm-value.js';

type ReadContent = (content: unknown, budget: StackBudget) => VmStackValue;

const readCell: ReadContent = (content) => vmCell(cellIn(content));
const readSlice: ReadContent = (content) => sliceOf(cellIn(content));
const readBuilder: ReadContent = (content) => builderOf(cellIn(content));
const readTuple: ReadContent = (content, budget) => tupleOf(content, budget, 0);
const readList: ReadContent = (content, budget) => listOf(content, budget, 0);

/** By the first element of an entry, a prefix taken off. */
const readers: ReadonlyMap<string, ReadContent> = new Map<string, ReadContent>([
  ['num', integerOf],
  ['int', integerOf],
  ['number', integerOf],
  ['integer', integerOf],
  ['cell', readCell],
  ['Cell', readCell],
  ['slice', readSlice],
  ['Slice', readSlice],
  ['builder', readBuilder],
  ['Builder', readBuilder],
  ['tuple', readTuple],
  ['Tuple', readTuple],
  ['list', readList],
  ['List', readList],
  ['null', readNull],
  ['Null', readNull],
]);

/**
 * Reads the arguments of `runGetMethod`: pairs of a type and a value, in all forms that servers and clients have ever
 * agreed on.
 *
 * | type | value |
 * |---|---|
 * | `num`, `int`, `number`, `integer` | JSON integer, or text in decimal or hexadecimal |
 * | `cell`, `slice`, `builder`, with `tvm.` also `tvm.Cell` ... | bag of cells in base64; `{bytes}` with the same; the tree of cells `{data: {b64, len}, refs, special}`, as object or as JSON text |
 * | `tuple`, `list` | `{elements}` with typed entries |
 * | `null` | null or an empty text |
 *
 * @throws v2/stack-entry, v2/parameter-value, cells/*; with the path of the entry: `stack[3]`
 */
export function decodeLegacyStack(entries: unknown): VmStack {
  return at('stack', () => {
    if (!Array.isArray(entries)) throw badEntry(`the stack is ${kindOf(entries)}; wanted is an array of entries`);
    const budget = new StackBudget();
    budget.take(entries.length);
    return entries.map((entry, index) => at(`[${index}]`, () => legacyValue(entry, budget)));
  });
}

function legacyValue(entry: unknown, budget: StackBudget): VmStackValue {
  if (!Array.isArray(entry) || entry.length !== 2) {
    const found = Array.isArray(entry) ? `an array of ${entry.length} elements` : kindOf(entry);
    throw badEntry(`the entry is ${found}; wanted is an array of two, type and value`);
  }
  const [type, content] = entry;
  if (typeof type !== 'string') throw badEntry(`the type of the entry is ${kindOf(type)}; wanted is a string`);
  const read = readers.get(withoutPrefix(type));
  if (read === undefined) throw badEntry(`Unsupported stack entry type: ${shown(type)}`);
  return read(content, budget);
}

function readNull(content: unknown): VmStackValue {
  if (content !== null && content !== '') throw badEntry(`null has ${kindOf(content)} as value; wanted is null`);
  return VM_NULL;
}

function cellIn(content: unknown): Cell {
  if (typeof content === 'string') {
    return content.trimStart().startsWith('{') ? cellOfTree(parsed(content)) : bocOf(content, 'the cell');
  }
  if (typeof content === 'object' && content !== null && 'bytes' in content) {
    return bocOf(fieldsOf(content, 'the cell', ['bytes', 'object']).bytes, 'bytes');
  }
  return cellOfTree(content);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badEntry('the cell is no JSON that can be read');
  }
}

import { type TSchema, Type } from '@sinclair/typebox';
import { base64Length, decodeBase64 } from '#api/v2/parameters.js';
import {
  badEntry,
  cellOfTree,
  jsonTypeOf,
  objectFields,
  quotedText,
  STACK_TYPE,
  withinPath,
  withoutPrefix,
} from '#api/v2/stack-forms.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { type Cell, CellType, cellTypeName } from '#formats/cells/cell.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { MAX_STACK_BYTES, VM_NULL, type VmStackValue, vmCell, vmInt, vmSlice, vmTuple } from '#formats/tlb/vm-stack.js';

/**
 * Schemas of the arguments of get methods, for the document only: the decoders of stacks check them. They accept more than
 * the entries of results.
 */

const inner = Type.Optional(
  Type.String({ description: 'Name of the type, prefixed `vm.` or `tvm.`; may be left out.' }),
);

function part(fields: Record<string, TSchema>, description: string) {
  return Type.Optional(Type.Object({ '@type': inner, ...fields }, { description, additionalProperties: false }));
}

const { numberEntry, cellEntry, sliceEntry, tupleEntry, listEntry } = STACK_TYPE;
const entryTypes = [numberEntry, cellEntry, sliceEntry, tupleEntry, listEntry];
const bytes = Type.String({ description: 'Bag of cells in base64.', contentEncoding: 'base64' });

/** An argument of `runGetMethodStd`, and of the tuples and lists of both. */
export const TvmStackArgument = Type.Recursive(
  (This) =>
    Type.Object(
      {
        '@type': Type.Unsafe<string>(
          Type.String({
            description: 'Type of the value.',
            enum: [...entryTypes, ...entryTypes.map((name) => `t${name}`)],
          }),
        ),
        number: part(
          { number: Type.Union([Type.String(), Type.Integer()], { description: 'Decimal, or `0x…`.' }) },
          'Of a number.',
        ),
        cell: part({ bytes }, 'Of a cell.'),
        slice: part({ bytes }, 'Of a slice.'),
        tuple: part({ elements: Type.Array(This, { description: 'Items, up to 255.' }) }, 'Of a tuple.'),
        list: part({ elements: Type.Array(This, { description: 'Items.' }) }, 'Of a list.'),
      },
      {
        description: 'A value with its type, and the one field of that type.',
        examples: [{ '@type': numberEntry, number: { '@type': STACK_TYPE.number, number: '5' } }],
        additionalProperties: false,
      },
    ),
  { $id: 'TvmStackArgument' },
);

const LegacyArgumentObject = Type.Object(
  {
    '@type': inner,
    bytes: Type.Optional(bytes),
    object: Type.Optional(Type.Unknown({ description: 'Ignored: results have it beside `bytes`.' })),
    elements: Type.Optional(Type.Array(TvmStackArgument, { description: 'Items of a tuple or a list.' })),
    data: Type.Optional(
      Type.Object(
        {},
        { description: 'Data of a cell: `b64` and the number of bits `len`.', additionalProperties: true },
      ),
    ),
    refs: Type.Optional(Type.Array(Type.Unknown(), { description: 'References of the cell.' })),
    special: Type.Optional(Type.Boolean({ description: 'Whether the cell is exotic.' })),
  },
  { $id: 'LegacyStackArgumentObject', additionalProperties: false },
);

/** An argument of `runGetMethod`. */
export const LegacyStackArgument = Type.Array(
  Type.Union([Type.String(), Type.Integer(), Type.Null(), LegacyArgumentObject]),
  {
    $id: 'LegacyStackArgument',
    minItems: 2,
    maxItems: 2,
    description: 'A value as a pair of type and content.',
    examples: [['num', '5']],
  },
);

type ReadContent = (content: unknown, budget: StackBudget) => VmStackValue;

const readCell: ReadContent = (content, budget) => vmCell(cellIn(content, budget));
const readSlice: ReadContent = (content, budget) => sliceOf(cellIn(content, budget));
const readBuilder: ReadContent = (content, budget) => builderOf(cellIn(content, budget));
const readTuple: ReadContent = (content, budget) => tupleValue(content, budget, 0);
const readList: ReadContent = (content, budget) => listValue(content, budget, 0);

/** By the type of an entry, without its prefix. */
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
 * Reads the arguments of `runGetMethod`: pairs of a type and a value, in all forms that clients use.
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
  return withinPath('stack', () => {
    if (!Array.isArray(entries)) throw badEntry(`the stack is ${jsonTypeOf(entries)}; expected is an array of entries`);
    const budget = new StackBudget();
    budget.take(entries.length);
    return entries.map((entry, index) => withinPath(`[${index}]`, () => legacyValue(entry, budget)));
  });
}

function legacyValue(entry: unknown, budget: StackBudget): VmStackValue {
  if (!Array.isArray(entry) || entry.length !== 2) {
    const found = Array.isArray(entry) ? `an array of ${entry.length} elements` : jsonTypeOf(entry);
    throw badEntry(`the entry is ${found}; expected is an array of two, type and value`);
  }
  const [type, content] = entry;
  if (typeof type !== 'string') throw badEntry(`the type of the entry is ${jsonTypeOf(type)}; expected is a string`);
  const read = readers.get(withoutPrefix(type));
  if (read === undefined) throw badEntry(`Unsupported stack entry type: ${quotedText(type)}`);
  return read(content, budget);
}

function readNull(content: unknown): VmStackValue {
  if (content !== null && content !== '') throw badEntry(`null has ${jsonTypeOf(content)} as value; expected is null`);
  return VM_NULL;
}

function cellIn(content: unknown, budget: StackBudget): Cell {
  if (typeof content === 'string') {
    return content.trimStart().startsWith('{')
      ? cellOfTree(parsed(content))
      : cellFromBase64(content, 'the cell', budget);
  }
  if (typeof content === 'object' && content !== null && 'bytes' in content) {
    return cellFromBase64(objectFields(content, 'the cell', ['bytes', 'object']).bytes, 'bytes', budget);
  }
  return cellOfTree(content);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badEntry('the cell is not valid JSON');
  }
}

/** Most values of one stack, nested ones included. */
const MAX_VALUES = 8000;

/** Deepest nesting of tuples and lists in each other. */
const MAX_LEVELS = 512;

/** Most items of a tuple of the TVM. */
const MAX_TUPLE = 255;

/** How many more values and bytes of cells may be read, over all entries of a stack. */
class StackBudget {
  #left = MAX_VALUES;
  #bytesLeft = MAX_STACK_BYTES;

  /** @throws v2/stack-entry */
  take(count: number): void {
    this.#left -= count;
    if (this.#left < 0) throw badEntry(`the stack has more than ${MAX_VALUES} values, nested ones counted`);
  }

  /** Before they are parsed. @throws v2/stack-entry */
  takeBytes(count: number): void {
    this.#bytesLeft -= count;
    if (this.#bytesLeft < 0)
      throw badEntry(`the stack has more than ${MAX_STACK_BYTES} bytes of cells, which nodes do not take`);
  }
}

/**
 * Reads the arguments of `runGetMethodStd`: entries with `@type`, prefixed `tvm.` or `vm.`. The `@type` inside an entry may be
 * left out.
 *
 * @throws v2/stack-entry, v2/parameter-value, cells/*; with the path of the entry: `stack[3].tuple.elements[0]`
 */
export function decodeTypedStack(entries: unknown): VmStack {
  const budget = new StackBudget();
  return withinPath('stack', () => elementsOf(entries, 'the stack', '', budget, 0));
}

function elementsOf(elements: unknown, what: string, path: string, budget: StackBudget, level: number): VmStackValue[] {
  if (!Array.isArray(elements)) throw badEntry(`${what} is ${jsonTypeOf(elements)}; expected is an array of entries`);
  if (level > MAX_LEVELS) throw badEntry(`tuples and lists are nested more than ${MAX_LEVELS} deep`);
  budget.take(elements.length);
  return elements.map((entry, index) => withinPath(`${path}[${index}]`, () => typedValue(entry, budget, level)));
}

function typedValue(entry: unknown, budget: StackBudget, level: number): VmStackValue {
  const type = typeof entry === 'object' && entry !== null ? (entry as Record<string, unknown>)['@type'] : undefined;
  if (typeof type !== 'string') {
    throw badEntry(
      `the entry is ${jsonTypeOf(entry)} without @type; expected is an object such as tvm.stackEntryNumber`,
    );
  }
  switch (withoutPrefix(type)) {
    case 'stackEntryNumber':
      return withinPath('number', () => integerOf(contentOf(entry, 'number', 'numberDecimal', 'number')));
    case 'stackEntryCell':
      return withinPath('cell', () =>
        vmCell(cellFromBase64(contentOf(entry, 'cell', 'cell', 'bytes'), 'bytes', budget)),
      );
    case 'stackEntrySlice':
      return withinPath('slice', () =>
        sliceOf(cellFromBase64(contentOf(entry, 'slice', 'slice', 'bytes'), 'bytes', budget)),
      );
    case 'stackEntryTuple':
      return withinPath('tuple', () => tupleValue(contentField(entry, 'tuple'), budget, level));
    case 'stackEntryList':
      return withinPath('list', () => listValue(contentField(entry, 'list'), budget, level));
    case 'stackEntryUnsupported':
      throw badEntry('an unsupported entry stands for a value that cannot be represented; it cannot be an argument');
    default:
      throw badEntry(`Unsupported stack entry type: ${quotedText(type)}`);
  }
}

function contentField(entry: unknown, name: string): unknown {
  return objectFields(entry, 'the entry', ['@type', name])[name];
}

function contentOf(entry: unknown, name: string, type: string, field: string): unknown {
  const content = objectFields(contentField(entry, name), name, ['@type', field]);
  checkType(content, type);
  return content[field];
}

function checkType(content: Readonly<Record<string, unknown>>, wanted: string): void {
  const type = content['@type'];
  if (type === undefined || (typeof type === 'string' && withoutPrefix(type) === wanted)) return;
  throw badEntry(`@type is ${quotedText(String(type))}; expected is tvm.${wanted}`);
}

/** `{"@type": "tvm.tuple", "elements": [...]}` @throws v2/stack-entry */
function tupleValue(content: unknown, budget: StackBudget, level: number): VmStackValue {
  const fields = objectFields(content, 'the tuple', ['@type', 'elements']);
  checkType(fields, 'tuple');
  const items = elementsOf(fields.elements, 'elements', 'elements', budget, level + 1);
  if (items.length > MAX_TUPLE)
    throw badEntry(`the tuple has ${items.length} items; at most ${MAX_TUPLE} are possible`);
  return vmTuple(items);
}

/** `{"@type": "tvm.list", "elements": [...]}`: pairs of a head and the rest, `null` at the end. @throws v2/stack-entry */
function listValue(content: unknown, budget: StackBudget, level: number): VmStackValue {
  const fields = objectFields(content, 'the list', ['@type', 'elements']);
  checkType(fields, 'list');
  const items = elementsOf(fields.elements, 'elements', 'elements', budget, level + 1);
  return items.reduceRight((rest, item) => vmTuple([item, rest]), VM_NULL);
}

const MIN = -(1n << 256n);
const MAX = (1n << 256n) - 1n;

/** Characters of a 257-bit number in the longest sensible notation. */
const MAX_CHARACTERS = 128;

/**
 * An integer of the TVM: a JSON integer, or a decimal or hexadecimal string (`0x1f`), with or without a sign.
 * @throws v2/stack-entry
 */
function integerOf(value: unknown): VmStackValue {
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return vmInt(value);
    if (Number.isInteger(value)) {
      throw badEntry('the number is too large for a JSON number; give it as a string, "0x…" or decimal');
    }
    throw badEntry(`${value} is not an integer`);
  }
  if (typeof value !== 'string') throw badEntry(`a number is ${jsonTypeOf(value)}; expected is an integer or a string`);
  const match = /^\s*([+-]?)(0[xX][0-9a-fA-F]+|[0-9]+)\s*$/.exec(value);
  if (match === null) throw badEntry(`${quotedText(value)} is not an integer, decimal or hexadecimal with 0x`);
  if (value.length > MAX_CHARACTERS) throw badEntry(`${quotedText(value)} does not fit 257 bits with a sign`);
  const magnitude = BigInt(match[2] as string);
  const integer = match[1] === '-' ? -magnitude : magnitude;
  if (integer < MIN || integer > MAX) throw badEntry(`${quotedText(value)} does not fit 257 bits with a sign`);
  return vmInt(integer);
}

/** The only root of a bag of cells in base64. @throws v2/stack-entry, v2/parameter-value, cells/* */
function cellFromBase64(value: unknown, what: string, budget: StackBudget): Cell {
  if (typeof value !== 'string')
    throw badEntry(`${what} is ${jsonTypeOf(value)}; expected is a bag of cells in base64`);
  if (value === '') throw badEntry(`${what} is empty; expected is a bag of cells in base64`);
  budget.takeBytes(base64Length(value));
  return parseBocRoot(decodeBase64(value));
}

/** A slice of a whole cell. @throws v2/stack-entry for an exotic cell */
function sliceOf(cell: Cell): VmStackValue {
  if (cell.type !== CellType.ordinary) throw badEntry(`a slice of ${cellTypeName(cell.type)} cannot be made`);
  return vmSlice(cell);
}

/** A builder with the content of a cell. @throws v2/stack-entry for an exotic cell */
function builderOf(cell: Cell): VmStackValue {
  if (cell.type !== CellType.ordinary) throw badEntry(`a builder cannot hold ${cellTypeName(cell.type)}`);
  return { kind: 'vm_stk_builder', cell };
}

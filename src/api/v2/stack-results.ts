import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { v2Errors } from '#api/v2/errors.js';
import {
  type LegacyCell,
  type LegacyEntry,
  MAX_RESULT_CELLS,
  STACK_TYPE,
  type TypedEntry,
  treeOfCell,
  type VmList,
  type VmTuple,
} from '#api/v2/stack-forms.js';
import {
  bocBase64,
  bytesField,
  InternalTransactionId,
  TonBlockIdExt,
  TvmCell,
  typeName,
  v2Object,
} from '#api/v2/ton-objects.js';
import { cellOfSlice, consList } from '#domain/contracts/get-method.js';
import type { Cell } from '#formats/cells/cell.js';
import type { VmStack, VmStackValue } from '#formats/tlb/vm-stack.js';

const TvmNumberDecimal = v2Object('TvmNumberDecimal', {
  '@type': typeName(STACK_TYPE.number),
  number: Type.String({ description: 'Integer of 257 bits, a decimal number as text.' }),
});

const TvmSlice = v2Object('TvmSlice', {
  '@type': typeName(STACK_TYPE.slice),
  bytes: bytesField('Bag of cells: a cell with the content of the slice.'),
});

const TvmStackEntryNumber = v2Object('TvmStackEntryNumber', {
  '@type': typeName(STACK_TYPE.numberEntry),
  number: TvmNumberDecimal,
});
const TvmStackEntryCell = v2Object('TvmStackEntryCell', { '@type': typeName(STACK_TYPE.cellEntry), cell: TvmCell });
const TvmStackEntrySlice = v2Object('TvmStackEntrySlice', {
  '@type': typeName(STACK_TYPE.sliceEntry),
  slice: TvmSlice,
});
const TvmStackEntryUnsupported = v2Object(
  'TvmStackEntryUnsupported',
  { '@type': typeName(STACK_TYPE.unsupportedEntry) },
  { description: 'A value that cannot be represented: a builder, a continuation, or NaN.' },
);

function tupleSchema(entry: TSchema) {
  return v2Object('TvmTuple', {
    '@type': typeName(STACK_TYPE.tuple),
    elements: Type.Array(entry, { description: 'Items, up to 255.' }),
  });
}

function listSchema(entry: TSchema) {
  return v2Object('TvmList', {
    '@type': typeName(STACK_TYPE.list),
    elements: Type.Array(entry, { description: 'Items; empty: null.' }),
  });
}

/** A value with its type. */
const TvmStackEntry = Type.Unsafe<TypedEntry>(
  Type.Recursive(
    (This) =>
      Type.Union(
        [
          TvmStackEntrySlice,
          TvmStackEntryCell,
          TvmStackEntryNumber,
          v2Object('TvmStackEntryTuple', { '@type': typeName(STACK_TYPE.tupleEntry), tuple: tupleSchema(This) }),
          v2Object('TvmStackEntryList', { '@type': typeName(STACK_TYPE.listEntry), list: listSchema(This) }),
          TvmStackEntryUnsupported,
        ],
        { discriminator: { propertyName: '@type' } },
      ),
    { $id: 'TvmStackEntry' },
  ),
);

/** A cell as a tree. */
const LegacyTvmCell = Type.Unsafe<LegacyCell>(
  Type.Recursive(
    (This) =>
      Type.Object(
        {
          data: Type.Object(
            {
              b64: bytesField('Data, padded with zero bits.'),
              len: Type.Integer({ description: 'Number of bits.', format: 'int32' }),
            },
            { description: 'Data of the cell.', additionalProperties: false },
          ),
          refs: Type.Array(This, { description: 'References, up to 4.' }),
          special: Type.Boolean({ description: 'Whether the cell is exotic: a library reference or a proof.' }),
        },
        { description: 'A cell as a tree.', additionalProperties: false },
      ),
    { $id: 'LegacyTvmCell' },
  ),
);

const LegacyStackEntryCell = v2Object('LegacyStackEntryCell', {
  bytes: bytesField('Bag of cells.'),
  object: Type.Optional(LegacyTvmCell),
});

/** A pair of type and value. */
const LegacyStackEntry = Type.Unsafe<LegacyEntry>(
  Type.Array(
    Type.Union([
      Type.String(),
      Type.Integer({ format: 'int64' }),
      LegacyStackEntryCell,
      tupleSchema(TvmStackEntry),
      listSchema(TvmStackEntry),
    ]),
    {
      $id: 'LegacyStackEntry',
      minItems: 2,
      maxItems: 2,
      description: 'A value as a pair of type and content.',
    },
  ),
);

const gasUsed = Type.Integer({ description: 'Gas used by the run.', format: 'int64' });
const exitCode = Type.Integer({
  description: '0 and 1 are success; -13: the account has no code; others were thrown by the contract.',
  format: 'int32',
});

export const RunGetMethodResult = v2Object(
  'RunGetMethodResult',
  {
    '@type': typeName('smc.runResult'),
    gas_used: gasUsed,
    stack: Type.Array(LegacyStackEntry, {
      description:
        'Results in the order in which the method declares them: `num` with hexadecimal text, `cell` (slices as well), `tuple`, `list` (null is an empty one), `unsupported`.',
    }),
    exit_code: exitCode,
    block_id: TonBlockIdExt,
    last_transaction_id: InternalTransactionId,
  },
  { description: 'Result of a get method, on the account state as of `block_id`.' },
);
export type RunGetMethodResult = Static<typeof RunGetMethodResult>;

export const RunGetMethodStdResult = v2Object(
  'RunGetMethodStdResult',
  {
    '@type': typeName('smc.runResult'),
    gas_used: gasUsed,
    stack: Type.Array(TvmStackEntry, { description: 'Results in the order in which the method declares them.' }),
    exit_code: exitCode,
  },
  { description: 'Result of a get method.' },
);
export type RunGetMethodStdResult = Static<typeof RunGetMethodStdResult>;

/**
 * Results for `runGetMethod`. Slices have the type `cell`, as clients expect; null is an empty list; the items of tuples and
 * lists are typed.
 * @throws v2/result-depth, v2/result-size
 */
export function encodeLegacyStack(stack: VmStack): LegacyEntry[] {
  const cells = new ResultCells();
  return stack.map((value) => legacyEntry(value, cells));
}

/** Characters of base64 of all cells of a result: a contract can put a cell on the stack as often as it likes. */
const MAX_RESULT_CHARACTERS = 2 ** 21;

/** Writes the cells of one result. */
class ResultCells {
  #left = MAX_RESULT_CHARACTERS;
  readonly #trees = { left: MAX_RESULT_CELLS };

  /** A bag of cells in base64. @throws v2/result-size */
  boc(cell: Cell): string {
    const text = bocBase64(cell);
    this.#left -= text.length;
    if (this.#left < 0) throw v2Errors['result-size']({ limit: MAX_RESULT_CHARACTERS });
    return text;
  }

  /** A cell as a tree; `null` when it is too large, or too many cells were written. */
  tree(cell: Cell): LegacyCell | null {
    return treeOfCell(cell, this.#trees);
  }
}

function legacyEntry(value: VmStackValue, cells: ResultCells): LegacyEntry {
  switch (value.kind) {
    case 'vm_stk_tinyint':
    case 'vm_stk_int':
      return ['num', hexOf(value.value)];
    case 'vm_stk_cell':
      return cellEntry(value.cell, cells);
    case 'vm_stk_slice':
      return cellEntry(cellOfSlice(value.slice), cells);
    case 'vm_stk_null':
    case 'vm_stk_tuple': {
      const entry = typedEntry(value, 0, cells);
      if ('tuple' in entry) return ['tuple', entry.tuple];
      if ('list' in entry) return ['list', entry.list];
      return ['unsupported', ''];
    }
    default:
      return ['unsupported', ''];
  }
}

function cellEntry(cell: Cell, cells: ResultCells): LegacyEntry {
  const bytes = cells.boc(cell);
  const object = cells.tree(cell);
  return ['cell', object === null ? { bytes } : { bytes, object }];
}

/** `0x2a`, `-0x1`, `0x0` */
function hexOf(value: bigint): string {
  return value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`;
}

/** Deepest nesting of tuples and lists in a result. */
export const MAX_RESULT_LEVELS = 256;

/** Results for `runGetMethodStd`. @throws v2/result-depth, v2/result-size */
export function encodeTypedStack(stack: VmStack): TypedEntry[] {
  const cells = new ResultCells();
  return stack.map((value) => typedEntry(value, 0, cells));
}

/**
 * A value with its type. A chain of pairs that ends in null is a list (so null is an empty one); builders, continuations and
 * NaN cannot be represented.
 * @param level nesting depth in tuples and lists
 * @throws v2/result-depth, v2/result-size
 */
function typedEntry(value: VmStackValue, level: number, cells: ResultCells): TypedEntry {
  switch (value.kind) {
    case 'vm_stk_tinyint':
    case 'vm_stk_int':
      return {
        '@type': STACK_TYPE.numberEntry,
        number: { '@type': STACK_TYPE.number, number: value.value.toString() },
      };
    case 'vm_stk_cell':
      return { '@type': STACK_TYPE.cellEntry, cell: { '@type': STACK_TYPE.cell, bytes: cells.boc(value.cell) } };
    case 'vm_stk_slice':
      return {
        '@type': STACK_TYPE.sliceEntry,
        slice: { '@type': STACK_TYPE.slice, bytes: cells.boc(cellOfSlice(value.slice)) },
      };
    case 'vm_stk_null':
      return { '@type': STACK_TYPE.listEntry, list: listJson([], level, cells) };
    case 'vm_stk_tuple':
      return tupleEntry(value, level, cells);
    default:
      return { '@type': STACK_TYPE.unsupportedEntry };
  }
}

function tupleEntry(value: VmStackValue & { kind: 'vm_stk_tuple' }, level: number, cells: ResultCells): TypedEntry {
  if (value.data.length !== 2) return { '@type': STACK_TYPE.tupleEntry, tuple: tupleJson(value.data, level, cells) };
  const { heads, rest } = consList(value);
  if (rest.kind === 'vm_stk_null') return { '@type': STACK_TYPE.listEntry, list: listJson(heads, level, cells) };
  // No pair of the chain is a list, so none of them needs to be checked again.
  const deepest = level + heads.length;
  checkLevel(deepest);
  let entry = typedEntry(rest, deepest, cells);
  for (let index = heads.length - 1; index >= 0; index--) {
    const elements = [typedEntry(heads[index]!, level + index + 1, cells), entry];
    entry = { '@type': STACK_TYPE.tupleEntry, tuple: { '@type': STACK_TYPE.tuple, elements } };
  }
  return entry;
}

/** @throws v2/result-depth */
function tupleJson(items: readonly VmStackValue[], level: number, cells: ResultCells): VmTuple {
  return { '@type': STACK_TYPE.tuple, elements: elementsOf(items, level, cells) };
}

/** @throws v2/result-depth */
function listJson(items: readonly VmStackValue[], level: number, cells: ResultCells): VmList {
  return { '@type': STACK_TYPE.list, elements: elementsOf(items, level, cells) };
}

function elementsOf(items: readonly VmStackValue[], level: number, cells: ResultCells): TypedEntry[] {
  checkLevel(level + 1);
  return items.map((item) => typedEntry(item, level + 1, cells));
}

function checkLevel(level: number): void {
  if (level > MAX_RESULT_LEVELS) throw v2Errors['result-depth']({ limit: MAX_RESULT_LEVELS });
}

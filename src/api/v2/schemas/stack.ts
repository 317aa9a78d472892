import { type Static, type TSchema, Type } from '@sinclair/typebox';
import {
  bytesField,
  InternalTransactionId,
  namedObject,
  TonBlockIdExt,
  TvmCell,
  typeName,
} from '#api/v2/schemas/ton-objects.js';
import { STACK_TYPE } from '#api/v2/stack/type-names.js';
import type { LegacyCell, LegacyEntry, TypedEntry } from '#api/v2/stack/typed-entry.js';

const TvmNumberDecimal = namedObject('TvmNumberDecimal', {
  '@type': typeName(STACK_TYPE.number),
  number: Type.String({ description: 'Integer of 257 bits, a decimal number as text.' }),
});

const TvmSlice = namedObject('TvmSlice', {
  '@type': typeName(STACK_TYPE.slice),
  bytes: bytesField('Bag of cells: a cell with what the slice holds.'),
});

const TvmStackEntryNumber = namedObject('TvmStackEntryNumber', {
  '@type': typeName(STACK_TYPE.numberEntry),
  number: TvmNumberDecimal,
});
const TvmStackEntryCell = namedObject('TvmStackEntryCell', { '@type': typeName(STACK_TYPE.cellEntry), cell: TvmCell });
const TvmStackEntrySlice = namedObject('TvmStackEntrySlice', {
  '@type': typeName(STACK_TYPE.sliceEntry),
  slice: TvmSlice,
});
const TvmStackEntryUnsupported = namedObject(
  'TvmStackEntryUnsupported',
  { '@type': typeName(STACK_TYPE.unsupportedEntry) },
  { description: 'A value without a form of its own: a builder, a continuation, or NaN.' },
);

function tupleOf(entry: TSchema) {
  return namedObject('TvmTuple', {
    '@type': typeName(STACK_TYPE.tuple),
    elements: Type.Array(entry, { description: 'Items, up to 255.' }),
  });
}

function listOf(entry: TSchema) {
  return namedObject('TvmList', {
    '@type': typeName(STACK_TYPE.list),
    elements: Type.Array(entry, { description: 'Items; none: null.' }),
  });
}

/** A value with its type. */
export const TvmStackEntry = Type.Unsafe<TypedEntry>(
  Type.Recursive(
    (This) =>
      Type.Union(
        [
          TvmStackEntrySlice,
          TvmStackEntryCell,
          TvmStackEntryNumber,
          namedObject('TvmStackEntryTuple', { '@type': typeName(STACK_TYPE.tupleEntry), tuple: tupleOf(This) }),
          namedObject('TvmStackEntryList', { '@type': typeName(STACK_TYPE.listEntry), list: listOf(This) }),
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
              len: Type.Integer({ description: 'How many bits there are.', format: 'int32' }),
            },
            { description: 'Data of the cell.', additionalProperties: false },
          ),
          refs: Type.Array(This, { description: 'Cells that it refers to, up to 4.' }),
          special: Type.Boolean({ description: 'Whether the cell is exotic: a library reference or a proof.' }),
        },
        { description: 'A cell, written out as a tree.', additionalProperties: false },
      ),
    { $id: 'LegacyTvmCell' },
  ),
);

const LegacyStackEntryCell = namedObject('LegacyStackEntryCell', {
  bytes: bytesField('Bag of cells.'),
  object: Type.Optional(LegacyTvmCell),
});

/** A pair of type and value. */
export const LegacyStackEntry = Type.Unsafe<LegacyEntry>(
  Type.Array(
    Type.Union([
      Type.String(),
      Type.Integer({ format: 'int64' }),
      LegacyStackEntryCell,
      tupleOf(TvmStackEntry),
      listOf(TvmStackEntry),
    ]),
    {
      $id: 'LegacyStackEntry',
      minItems: 2,
      maxItems: 2,
      description: 'A value: its type and what it is.',
    },
  ),
);

const gasUsed = Type.Integer({ description: 'Gas that the run took.', format: 'int64' });
const exitCode = Type.Integer({
  description: '0 and 1 are success; -13: the account has no code; others are what the contract threw.',
  format: 'int32',
});

export const RunGetMethodResult = namedObject(
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
  { description: 'What a get method gave, on the state of the account after `block_id`.' },
);
export type RunGetMethodResult = Static<typeof RunGetMethodResult>;

export const RunGetMethodStdResult = namedObject(
  'RunGetMethodStdResult',
  {
    '@type': typeName('smc.runResult'),
    gas_used: gasUsed,
    stack: Type.Array(TvmStackEntry, { description: 'Results in the order in which the method declares them.' }),
    exit_code: exitCode,
  },
  { description: 'What a get method gave.' },
);
export type RunGetMethodStdResult = Static<typeof RunGetMethodStdResult>;

import { type TSchema, Type } from '@sinclair/typebox';
import { STACK_TYPE } from '#api/v2/stack/type-names.js';

/**
 * What arguments of get methods may look like, for the document: wider than the entries of answers. The readers of stacks
 * do the checking.
 */

const inner = Type.Optional(
  Type.String({ description: 'Name of the type, `vm.` or `tvm.` in front; may be left out.' }),
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
          Type.String({ description: 'What it is.', enum: [...entryTypes, ...entryTypes.map((name) => `t${name}`)] }),
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
        description: 'A value with its type, and the one field that goes with the type.',
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
    object: Type.Optional(Type.Unknown({ description: 'Not looked at: answers have it beside `bytes`.' })),
    elements: Type.Optional(Type.Array(TvmStackArgument, { description: 'Items of a tuple or a list.' })),
    data: Type.Optional(
      Type.Object(
        {},
        { description: 'Data of a cell: `b64` and `len`, the number of bits.', additionalProperties: true },
      ),
    ),
    refs: Type.Optional(Type.Array(Type.Unknown(), { description: 'Cells that the cell refers to.' })),
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
    description: 'A value: its type and what it is.',
    examples: [['num', '5']],
  },
);

import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { Account } from '#formats/tlb/account.js';
import { Block } from '#formats/tlb/block.js';
import { type Codec, decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { ConfigParams, configParam } from '#formats/tlb/config/config-params.js';
import { Message } from '#formats/tlb/message.js';
import { recognizeCell } from '#formats/tlb/recognize.js';
import { ShardState } from '#formats/tlb/shard-state.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { VmStack, type VmStackValue } from '#formats/tlb/vm-stack.js';
import { walkValue } from '#formats/tlb/walk-value.js';
import { bytesEqual } from '#kernel/bytes.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';
import type { FuzzTarget } from '#test/fuzz/fuzz-target.js';
import type { Random } from '#test/fuzz/random.js';
import { damageBelow, damagedTree, exampleRoots, randomCellBelow } from '#test/fuzz/seeds.js';

const fromDecoding = (error: TernError) => error.code.startsWith('tlb/') || error.code.startsWith('cells/');

/** A real structure in which one cell on the way down is damaged. */
function damagedStructure(random: Random): Uint8Array {
  return serializeBoc(damageBelow(random.pick(exampleRoots), random));
}

/** As a reader that wants everything, within a bound: shared cells could make it see them again and again. */
function readAll(value: unknown, bound: number): void {
  let left = bound;
  walkValue(value, { enter: () => --left > 0 });
}

/** A type that a part of a block or state may have; what decodes must come out of the encoder as it was. */
function decodeOneOf(codecs: readonly Codec<unknown>[]) {
  return (input: Uint8Array): void => {
    const cell = parseBocRoot(input);
    for (const codec of codecs) {
      const value = decoded(codec, cell);
      if (value === undefined) continue;
      if (!bytesEqual(encodeCell(codec, value).hash(), cell.hash()))
        throw new RangeError(`${codec.type} is written otherwise than it was read`);
      readAll(value, input.length * 4);
    }
  };
}

function decoded(codec: Codec<unknown>, cell: Cell): unknown {
  try {
    return decodeCell(codec, cell);
  } catch (error) {
    if (isTernError(error) && fromDecoding(error)) return undefined;
    throw error;
  }
}

/** A part of an example with one damaged cell. */
function damagedPart(random: Random): Uint8Array {
  const part = randomCellBelow(random.pick(exampleRoots), random);
  return serializeBoc(part.type === CellType.ordinary ? damageBelow(part, random) : part);
}

const stack = decodeOneOf([VmStack]);

export const fuzzTargets: readonly FuzzTarget[] = [
  {
    name: 'tlb-structure',
    make: damagedStructure,
    run: (input) => readAll(recognizeCell(parseBocRoot(input)).value, input.length * 4),
    allowed: fromDecoding,
  },
  {
    name: 'tlb-part',
    make: damagedPart,
    run: decodeOneOf([Block, ShardState, Transaction, Message, Account, VmStack]),
    allowed: fromDecoding,
  },
  {
    name: 'tlb-noise',
    make: (random) => damagedTree(random),
    run: (input) => readAll(recognizeCell(parseBocRoot(input)).value, input.length * 4),
    allowed: fromDecoding,
  },
  {
    name: 'vm-stack',
    make: (random) => serializeBoc(damageBelow(encodeCell(VmStack, randomStack(random)), random)),
    run: stack,
    allowed: fromDecoding,
  },
  {
    name: 'config-params',
    make: (random) => serializeBoc(damageBelow(exampleConfig(), random)),
    run: (input) => {
      const { config } = decodeCell(ConfigParams, parseBocRoot(input));
      for (const index of [8, 12, 18, 20, 24, 28, 29, 34] as const) readAll(configParam(config, index), input.length);
    },
    allowed: fromDecoding,
  },
];

function exampleConfig(): Cell {
  const config = exampleRoots.find((root) => recognizeCell(root).type === '(Hashmap 32 ^Cell)') as Cell;
  return encodeCell(ConfigParams, { config_addr: new Uint8Array(32), config: recognizeCell(config).value } as never);
}

function randomStack(random: Random): VmStack {
  return Array.from({ length: random.below(6) }, () => randomStackValue(random, 3));
}

function randomStackValue(random: Random, depth: number): VmStackValue {
  const cell = randomCellBelow(random.pick(exampleRoots), random);
  switch (random.below(depth > 0 ? 6 : 5)) {
    case 0:
      return { kind: 'vm_stk_null' };
    case 1:
      return { kind: 'vm_stk_tinyint', value: BigInt(random.uint32()) };
    case 2:
      return { kind: 'vm_stk_int', value: -(2n ** 256n) };
    case 3:
      return { kind: 'vm_stk_nan' };
    case 4:
      return { kind: 'vm_stk_cell', cell };
    default:
      return {
        kind: 'vm_stk_tuple',
        data: Array.from({ length: random.below(5) }, () => randomStackValue(random, depth - 1)),
      };
  }
}

import { type Cell, CellType } from '#formats/cells/cell.js';
import { openExotic, Slice } from '#formats/cells/slice.js';
import { Account, ShardAccount, StateInit } from '#formats/tlb/account.js';
import { Block, BlockExtra, BlockInfo, McBlockExtra, merkleUpdate, ValueFlow } from '#formats/tlb/block.js';
import { MsgEnvelope } from '#formats/tlb/block-messages.js';
import { BlockProof } from '#formats/tlb/block-proof.js';
import { type Codec, decodeCell } from '#formats/tlb/codec/codec.js';
import { hashmap, intKey } from '#formats/tlb/codec/dictionary.js';
import { cellRef } from '#formats/tlb/codec/primitives.js';
import { CONFIG_PARAMS, type ConfigDictionary, isConfigParamIndex } from '#formats/tlb/config/config-params.js';
import { tlbErrors } from '#formats/tlb/errors.js';
import { Message, MessageRelaxed } from '#formats/tlb/message.js';
import { McStateExtra, ShardState } from '#formats/tlb/shard-state.js';
import { AccountBlock, Transaction } from '#formats/tlb/transaction.js';
import { VmStack } from '#formats/tlb/vm-stack.js';
import { walkValue } from '#formats/tlb/walk-value.js';
import { isTernError } from '#kernel/tern-error.js';

/** A cell with its detected type. */
export interface Recognized {
  /** The TL-B type, or `Cell` when no known type matches. */
  readonly type: string;
  readonly value: unknown;
}

/** Types with long tags: a cell with such a tag is of that type, or damaged. */
const TAGGED: readonly { readonly tag: number; readonly bits: number; readonly codec: Codec<unknown> }[] = [
  { tag: 0x11ef55aa, bits: 32, codec: Block },
  { tag: 0x9023afe2, bits: 32, codec: ShardState },
  { tag: 0x5f327da5, bits: 32, codec: ShardState },
  { tag: 0x9bc7a987, bits: 32, codec: BlockInfo },
  { tag: 0x4a33f6fd, bits: 32, codec: BlockExtra },
  { tag: 0xb8e48dfb, bits: 32, codec: ValueFlow },
  { tag: 0x3ebf98b7, bits: 32, codec: ValueFlow },
];

const anyConfig = hashmap(intKey(32), cellRef);

/**
 * The dictionary of a configuration. It has no tag and is detected by its parameters: most of them must match their type.
 * Not all, since networks have used some numbers for other data.
 */
const Config: Codec<ConfigDictionary> = {
  ...anyConfig,
  load: (slice) => {
    const config = anyConfig.load(slice);
    let fitting = 0;
    let others = 0;
    for (const [index, cell] of config) {
      if (!isConfigParamIndex(index)) continue;
      if (guess(CONFIG_PARAMS[index].codec, cell) === undefined) others++;
      else fitting++;
    }
    if (fitting <= others) {
      throw tlbErrors.constraint({ bit: slice.bitOffset, value: 'a dictionary', rule: 'mostly known parameters' });
    }
    return config;
  },
};

/** Types whose tag is too short for certainty; the first one that decodes the whole cell is chosen. */
const GUESSED: readonly Codec<unknown>[] = [
  BlockProof,
  Transaction,
  AccountBlock,
  McBlockExtra,
  McStateExtra,
  Account,
  ShardAccount,
  Message,
  MessageRelaxed,
  MsgEnvelope,
  Config,
  VmStack,
  StateInit,
];

/** The type name without its parameter: `Message X` is shown as `Message`. */
function nameOf(codec: Codec<unknown>): string {
  return codec.type.replace(/ X$/, '');
}

/** Maximum number of parts that a guess may visit. */
const GUESS_PARTS = 200_000;

const byName: ReadonlyMap<string, Codec<unknown>> = new Map(
  [...TAGGED.map((each) => each.codec), ...GUESSED].map((codec) => [nameOf(codec), codec]),
);

/** The names of the types that {@link decodeAs} knows. */
export const knownTypes: readonly string[] = [...byName.keys()];

/** Decodes a cell as a type of {@link knownTypes}, whole; `null` when there is no such type. @throws as decodeCell */
export function decodeAs(type: string, cell: Cell): Recognized | null {
  const codec = byName.get(type);
  return codec === undefined ? null : { type, value: decodeCell(codec, cell) };
}

/**
 * Detects the type of a cell: a block, a state, a proof, an account, a transaction, a message, the config, a stack, or
 * just a cell (the value is then the cell). The content of a Merkle proof is detected in turn.
 *
 * @throws when a cell has the tag of a block or state, but is damaged
 */
export function recognizeCell(cell: Cell): Recognized {
  if (cell.type === CellType.merkleProof) return recognizeProof(cell);
  if (cell.type === CellType.merkleUpdate) {
    const codec = merkleUpdate(ShardState);
    return { type: codec.type, value: decodeCell(codec, cell) };
  }
  if (cell.type !== CellType.ordinary) return { type: 'Cell', value: cell };
  const slice = new Slice(cell);
  for (const { tag, bits, codec } of TAGGED) {
    if (cell.bits >= bits && slice.preloadUint(bits) === tag)
      return { type: nameOf(codec), value: decodeCell(codec, cell) };
  }
  for (const codec of GUESSED) {
    const value = guess(codec, cell);
    if (value !== undefined) return { type: nameOf(codec), value };
  }
  return { type: 'Cell', value: cell };
}

function recognizeProof(cell: Cell): Recognized {
  const slice = openExotic(cell, CellType.merkleProof);
  const value = {
    virtual_hash: slice.loadBytes(32),
    depth: slice.loadUint(16),
    virtual_root: recognizeCell(slice.loadRef()),
  };
  return { type: 'MERKLE_PROOF', value };
}

function guess(codec: Codec<unknown>, cell: Cell): unknown {
  let left = GUESS_PARTS;
  try {
    const value = decodeCell(codec, cell);
    walkValue(value, { enter: () => --left > 0 });
    return left > 0 ? value : undefined;
  } catch (error) {
    if (isTernError(error)) return undefined;
    throw error;
  }
}

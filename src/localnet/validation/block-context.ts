import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { BLOCK_FILE, serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { checkDictionary } from '#formats/cells/dict-build.js';
import { sha256 } from '#formats/cells/digests.js';
import { HashIndex } from '#formats/cells/hash-index.js';
import { applyMerkleUpdate } from '#formats/cells/merkle-update.js';
import { openCell } from '#formats/cells/slice.js';
import { checkBlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, printPosition, type Shard } from '#formats/proofs/block-id.js';
import type { Block, BlockExtra, BlockInfo, McBlockExtra } from '#formats/tlb/block.js';
import { inMsgDescr, outMsgDescr } from '#formats/tlb/block-messages.js';
import { AugmentedDictionary, type AugmentedType } from '#formats/tlb/codec/augmented-dictionary.js';
import { type Codec, decodeCell, type Lazy } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit, splitStateCell } from '#formats/tlb/shard-state.js';
import { type AnyDictionary, type Place, pathOf, walkValue } from '#formats/tlb/walk-value.js';
import { bytesEqual } from '#kernel/bytes.js';
import { isTernError, TernError } from '#kernel/tern-error.js';
import type { NewBlock } from '#localnet/ledger/block-bundle.js';
import { validationErrors } from '#localnet/validation/errors.js';
import type { McStateView } from '#localnet/validation/masterchain-view.js';
import { type Deviation, RuleCheck } from '#localnet/validation/rules.js';
import type { KnownEndLt, ListedShard, NeighbourQueue, ShardBefore } from '#localnet/validation/shard-before.js';

/** A decoded block with its applied state update. */
export interface OpenBlock {
  readonly rules: RuleCheck;
  readonly id: BlockId;
  readonly shard: Shard;
  readonly root: Cell;
  readonly block: Block;
  readonly info: BlockInfo;
  readonly extra: BlockExtra;
  /** Of a masterchain block. */
  readonly mcExtra: McBlockExtra | null;
  /** The previous blocks and the states after them, two after a merge. */
  readonly previous: readonly ListedShard[];
  readonly stateRoot: Cell;
  readonly after: ShardStateUnsplit;
}

/** A block with everything that its rules refer to. */
export interface BlockContext extends OpenBlock {
  /** The masterchain state that the block refers to; for a masterchain block, the previous one. */
  readonly reference: McStateView;
  /** Of a masterchain block, the state after it. */
  readonly afterView: McStateView | null;
  /** Version of the rules. */
  readonly globalVersion: number;
  readonly before: ShardBefore;
  readonly neighbours: readonly NeighbourQueue[];
  readonly endLt: KnownEndLt;
  /** State overrides: not part of an ordinary network, but allowed in a local one. */
  readonly deviations: Deviation[];
}

/** A known complete state. */
export interface KnownState extends ListedShard {
  readonly root: Cell;
}

/**
 * Parses the block file, compares its hashes with the id, and applies its state update. All values given besides the
 * file are checked.
 *
 * @param stateAfter finds the state after a block
 * @throws validation/broken-rule, validation/malformed, validation/unknown-state
 */
export function openBlock(given: NewBlock, stateAfter: (id: BlockId) => KnownState | null): OpenBlock {
  const { id, bytes } = given;
  const rules = new RuleCheck(printPosition(id));
  rules.equal('file-hash', id.file_hash, sha256(bytes));
  const root = readable(rules.block, () => parseBocRoot(bytes));
  rules.equal('root-hash', id.root_hash, root.hash());
  rules.equal('root-hash', 0, root.level, 'level');
  rules.require(bytesEqual(serializeBoc(root, BLOCK_FILE), bytes), 'file-form', 'the form that nodes write', 'another');
  rules.equal('given-block', root.hash(), given.root.hash(), 'root');
  const { block, info, prev } = readable(rules.block, () => checkBlockHeader(root, id));
  const extra = readable(rules.block, () => block.extra.value);
  const mcExtra = readable(rules.block, () => extra.custom?.value ?? null);

  rules.equal('given-block', prev.length, given.prev.length, 'number of blocks before');
  const previous = prev.map((each, i) => {
    rules.equal('given-block', each, given.prev[i]!, 'block before');
    const known = stateAfter(each);
    if (known === null) throw validationErrors['unknown-state']({ block: rules.block, needed: printPosition(each) });
    return known;
  });
  const [first, second] = previous as [KnownState, KnownState?];
  const from = second === undefined ? first.root : splitStateCell(first.root, second.root);
  let stateRoot: Cell;
  try {
    stateRoot = applyMerkleUpdate(from, block.state_update.cell);
  } catch (error) {
    if (!isTernError(error)) throw error;
    throw rules.broken('state-update', 'an update of the state before', error.message);
  }
  rules.equal('given-block', stateRoot.hash(), given.state.hash(), 'state');
  const after = readable(rules.block, () => decodeCell(ShardStateUnsplit, stateRoot));
  rules.equal('given-block', info.gen_utime, given.gen_utime, 'gen_utime');
  rules.equal('given-block', info.end_lt, given.end_lt, 'end_lt');
  const shard = { workchain: id.workchain, shard: id.shard };
  return { rules, id, shard, root, block, info, extra, mcExtra, previous, stateRoot, after };
}

/** @throws validation/malformed instead of what decoding throws */
export function readable<T>(block: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TernError) || error.code.startsWith('validation/')) throw error;
    throw validationErrors.malformed({ block, problem: error.message }, error);
  }
}

type AnyType = AugmentedType<unknown, unknown, unknown>;

/**
 * Decodes a block completely, including the new part of the state, and checks that each dictionary has the form that
 * building it from its entries gives. Augmented dictionaries in the state, which are pruned in the update, are checked
 * elsewhere, by applying the changes again.
 *
 * @throws validation/malformed, validation/broken-rule
 */
export function checkWholeBlock(context: BlockContext): void {
  const { block, rules } = context;
  const seen = new SeenCells();
  const visit = (value: unknown, inState: boolean): void =>
    walkValue(value, {
      enter: (node, place) => {
        if (place?.parent === null && place.step === UPDATE && !inState) return false;
        if (node.kind === 'lazy' && !seen.isNew(node.value)) return false;
        if (node.kind === 'dictionary' && !(inState && node.value instanceof AugmentedDictionary))
          checkOne(context, node.value, place);
        return true;
      },
    });
  readable(rules.block, () => {
    visit(block, false);
    visit(block.state_update, true);
  });
}

/** Transactions and messages are referenced from several places of a block; each is decoded once per type. */
class SeenCells {
  readonly #byCodec = new Map<Codec<unknown>, HashIndex>();

  isNew({ codec, cell }: Lazy<unknown>): boolean {
    const known = this.#byCodec.get(codec) ?? new HashIndex();
    this.#byCodec.set(codec, known);
    const { size } = known;
    return known.add(cell.hash()) === size;
  }
}

/** The field whose cells are partly pruned. */
const UPDATE = 'state_update';

/** Decodes a complete state and checks all dictionaries in it, for zerostates. @throws as above */
export function checkWholeState(state: ShardStateUnsplit, rules: RuleCheck): void {
  const seen = new SeenCells();
  readable(rules.block, () =>
    walkValue(state, {
      enter: (node, place) => {
        if (node.kind === 'lazy' && !seen.isNew(node.value)) return false;
        if (node.kind === 'dictionary') checkOne({ rules, globalVersion: 0 }, node.value, place);
        return true;
      },
    }),
  );
}

function checkOne(
  { rules, globalVersion }: Pick<BlockContext, 'rules' | 'globalVersion'>,
  dictionary: AnyDictionary,
  place: Place | null,
): void {
  const { root } = dictionary;
  const bits = dictionary.type.key.bits;
  try {
    if (!(dictionary instanceof AugmentedDictionary)) {
      if (root !== null) checkDictionary(root, bits, { pruned: 'skip' });
      return;
    }
    const { augmentation, extra } = typeOf(dictionary, place, globalVersion);
    const builder = new Builder();
    extra.store(dictionary.extra, builder);
    checkDictionary(root, bits, { augmentation, pruned: 'skip', rootExtra: openCell(builder.endCell()) });
  } catch (error) {
    if (!isTernError(error)) throw error;
    const rule = error.code === 'cells/dict-augmentation' ? 'augmentation' : 'dictionary-form';
    throw rules.broken(rule, 'what building it gives', error.message, pathOf(place));
  }
}

/** Extras of message dictionaries depend on the global version, which decoding does not know. */
function typeOf(
  dictionary: AugmentedDictionary<unknown, unknown, unknown>,
  place: Place | null,
  version: number,
): AnyType {
  if (place?.step === 'in_msg_descr') return inMsgDescr(version).dictionaryType as unknown as AnyType;
  if (place?.step === 'out_msg_descr') return outMsgDescr(version).dictionaryType as unknown as AnyType;
  return dictionary.type as AnyType;
}

import { Builder } from '#formats/cells/builder.js';
import { checkDictionary } from '#formats/cells/dict-check.js';
import { HashIndex } from '#formats/cells/hash-index.js';
import { openCell } from '#formats/cells/slice.js';
import { AugmentedDictionary, type AugmentedType } from '#formats/tlb/codec/augmented-dictionary.js';
import type { Codec } from '#formats/tlb/codec/codec.js';
import type { Lazy } from '#formats/tlb/codec/lazy.js';
import { inMsgDescr } from '#formats/tlb/in-msg.js';
import { outMsgDescr } from '#formats/tlb/out-msg.js';
import type { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { type AnyDictionary, type Place, pathOf, walkValue } from '#formats/tlb/walk-value.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { BlockContext } from '#localnet/validation/block-context.js';
import { readable } from '#localnet/validation/open-block.js';
import type { RuleCheck } from '#localnet/validation/rule-check.js';

type AnyType = AugmentedType<unknown, unknown, unknown>;

/**
 * Decodes a block to the last bit, the new part of the state included, and checks that each dictionary in it is what
 * building it from its entries gives. Augmented ones in the state, of which the update leaves parts out, are checked
 * elsewhere: by making the changes again.
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

/** Transactions and messages are referred to from several places of a block: what was decoded as a type is not again. */
class SeenCells {
  readonly #byCodec = new Map<Codec<unknown>, HashIndex>();

  isNew({ codec, cell }: Lazy<unknown>): boolean {
    const known = this.#byCodec.get(codec) ?? new HashIndex();
    this.#byCodec.set(codec, known);
    const { size } = known;
    return known.add(cell.hash()) === size;
  }
}

/** The field whose parts are left out. */
const UPDATE = 'state_update';

/** Decodes a whole state, and checks all dictionaries in it: for the states that a chain begins with. @throws as above */
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

/** Extras of the messages depend on the version of the rules, which decoding does not know. */
function typeOf(
  dictionary: AugmentedDictionary<unknown, unknown, unknown>,
  place: Place | null,
  version: number,
): AnyType {
  if (place?.step === 'in_msg_descr') return inMsgDescr(version).dictionaryType as unknown as AnyType;
  if (place?.step === 'out_msg_descr') return outMsgDescr(version).dictionaryType as unknown as AnyType;
  return dictionary.type as AnyType;
}

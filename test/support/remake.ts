import { Cell } from '#formats/cells/cell.js';
import { EXTRA_FLAGS_VERSION, inMsgDescr, outMsgDescr } from '#formats/tlb/block-messages.js';
import { AugmentedDictionary, type AugmentedType } from '#formats/tlb/codec/augmented-dictionary.js';
import { type Codec, decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { Dictionary } from '#formats/tlb/codec/dictionary.js';
import { CONFIG_PARAMS, isConfigParamIndex } from '#formats/tlb/config/config-params.js';
import { type AnyDictionary, type Place, pathOf, type VisitedNode, walkValue } from '#formats/tlb/walk-value.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/**
 * Hash of parameter 79 of the test network at masterchain block 4324374: jetton_bridge_params_v0 as it was before it had a
 * tag. Today's schema has no such form; it stays a cell.
 */
export const UNTAGGED_BRIDGE = '944b154b92d4b616376f9ef1ca05a50cf0be2456848bef60ae112c61b87535af';

/** What was made again, and what could not be since a proof leaves parts of it out. */
export interface RemakeCounts {
  values: number;
  dictionaries: number;
  augmented: number;
  entries: number;
  partlyPruned: number;
}

/** Something that did not come out the same. */
export interface RemakeFailure {
  readonly path: string;
  readonly expected: string;
  readonly found: string;
}

/**
 * Makes values again: encodes the value of each cell, and builds each dictionary from its keys and decoded values, extras
 * included. What holds cells takes them over, and each of them is made again in its turn: so when all hashes agree, the
 * whole value was encoded.
 */
export class Remaker {
  readonly counts: RemakeCounts = { values: 0, dictionaries: 0, augmented: 0, entries: 0, partlyPruned: 0 };
  readonly failures: RemakeFailure[] = [];
  readonly #seen = new Set<string>();

  /** @param globalVersion of the block, since the extras of message descriptions depend on it */
  remake(value: unknown, globalVersion: number = EXTRA_FLAGS_VERSION): void {
    walkValue(value, { enter: (node, place) => this.#enter(node, place, globalVersion) });
  }

  #enter(node: VisitedNode, place: Place | null, globalVersion: number): boolean {
    if (node.kind === 'lazy') {
      const { value: lazy } = node;
      const hash = toHex(lazy.cell.hash());
      if (!this.#isNew(`${lazy.type} ${hash}`)) return false;
      this.counts.values++;
      this.#compare(place, hash, encodeCell(lazy.codec, lazy.value));
    } else if (node.kind === 'dictionary') {
      const { root } = node.value;
      if (root === null || this.#isNew(`${keyOf(node.value)} ${toHex(root.hash())}`))
        this.#dictionary(node.value, place, globalVersion);
    } else if (node.kind === 'opaque' && place?.parent?.step === 'config' && node.value instanceof Cell) {
      this.#configParam(Number(place.key), node.value, place);
    }
    return true;
  }

  /** A parameter of the configuration: a cell by the schema, but its number tells what is in it. */
  #configParam(index: number, cell: Cell, place: Place): void {
    const hash = toHex(cell.hash());
    if (!isConfigParamIndex(index) || hash === UNTAGGED_BRIDGE || !this.#isNew(`ConfigParam ${index} ${hash}`)) return;
    const { codec } = CONFIG_PARAMS[index] as { readonly codec: Codec<unknown> };
    this.counts.values++;
    const value = decodeCell(codec, cell);
    this.#compare(place, hash, encodeCell(codec, value));
    walkValue(value, { enter: (node, at) => this.#enter(node, at ?? place, EXTRA_FLAGS_VERSION) });
  }

  #dictionary(dictionary: AnyDictionary, place: Place | null, globalVersion: number): void {
    try {
      const entries = [...dictionary.entries()] as [unknown, unknown][];
      if (dictionary instanceof AugmentedDictionary) {
        const type = typeOf(dictionary, place, globalVersion);
        const again = AugmentedDictionary.of(type, entries);
        this.counts.augmented++;
        this.#compareRoots(place, dictionary, again);
        const extra = encodeCell(type.extra, dictionary.extra);
        this.#compare(place, toHex(extra.hash()), encodeCell(type.extra, again.extra));
      } else {
        this.counts.dictionaries++;
        this.#compareRoots(place, dictionary, Dictionary.of(dictionary.type, entries));
      }
      this.counts.entries += entries.length;
    } catch (error) {
      if (!isTernError(error, 'cells/pruned-branch')) throw error;
      this.counts.partlyPruned++;
    }
  }

  #compareRoots(place: Place | null, before: AnyDictionary, after: AnyDictionary): void {
    const [expected, found] = [before, after].map(({ root }) => (root === null ? 'empty' : toHex(root.hash())));
    if (expected !== found) this.#fail(place, String(expected), String(found));
  }

  #compare(place: Place | null, expected: string, cell: { hash(): Uint8Array }): void {
    const found = toHex(cell.hash());
    if (expected !== found) this.#fail(place, expected, found);
  }

  #fail(place: Place | null, expected: string, found: string): void {
    this.failures.push({ path: pathOf(place), expected, found });
  }

  #isNew(id: string): boolean {
    if (this.#seen.has(id)) return false;
    this.#seen.add(id);
    return true;
  }
}

function keyOf(dictionary: AnyDictionary): string {
  const { key, value } = dictionary.type;
  return `${key.bits} ${(value as Codec<unknown>).type}`;
}

type AnyType = AugmentedType<unknown, unknown, unknown>;

function typeOf(dictionary: AnyDictionary, place: Place | null, globalVersion: number): AnyType {
  if (place?.step === 'in_msg_descr') return inMsgDescr(globalVersion).dictionaryType as unknown as AnyType;
  if (place?.step === 'out_msg_descr') return outMsgDescr(globalVersion).dictionaryType as unknown as AnyType;
  return dictionary.type as AnyType;
}

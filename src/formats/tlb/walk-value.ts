import { Address } from '#formats/address/address.js';
import { Cell, CellType } from '#formats/cells/cell.js';
import { Slice } from '#formats/cells/slice.js';
import { AugmentedDictionary } from '#formats/tlb/codec/augmented-dictionary.js';
import { Lazy } from '#formats/tlb/codec/codec.js';
import { Dictionary } from '#formats/tlb/codec/dictionary.js';
import { BitString, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/** Any dictionary. */
// biome-ignore lint/suspicious/noExplicitAny: dictionaries of all types
export type AnyDictionary = Dictionary<any, any> | AugmentedDictionary<any, any, any>;

/** A value without parts. */
export type LeafValue = null | boolean | number | bigint | string | Uint8Array | BitString | Address;

/**
 * One part of a decoded value.
 *
 * - `leaf`: a number, a hash, an address, an absent part (`null`)
 * - `object`, `array`, `dictionary`, `lazy`: has parts; that of a `lazy` is its value
 * - `pruned`: a value in a cell that a proof leaves out
 * - `opaque`: cells that the schema says nothing about (`^Cell`, `Any`), and library references in place of a value
 */
export type VisitedNode =
  | { readonly kind: 'leaf'; readonly value: LeafValue }
  | { readonly kind: 'object'; readonly value: object }
  | { readonly kind: 'array'; readonly value: readonly unknown[] }
  | { readonly kind: 'dictionary'; readonly value: AnyDictionary }
  | { readonly kind: 'lazy'; readonly value: Lazy<unknown> }
  | { readonly kind: 'pruned'; readonly value: Lazy<unknown> | Cell; readonly cell: Cell }
  | { readonly kind: 'opaque'; readonly value: Cell | Slice };

/** Where a part stands: the way from the root, last step first. The root is `null`. */
export interface Place {
  readonly parent: Place | null;
  /** Name of the field, `[index]`, or `[key]` with the key as text. */
  readonly step: string;
  /** The key of an entry of a dictionary, as the dictionary gives it. */
  readonly key?: unknown;
}

/** The name under which the extra of an augmented dictionary stands among its parts. */
export const EXTRA_STEP = 'extra';

/** What to do at each part. */
export interface ValueVisitor {
  /** On the way in; tells whether to go inside. */
  enter(node: VisitedNode, place: Place | null): boolean;
  /** On the way out of a part that has parts and was not left out. */
  leave?(node: VisitedNode, place: Place | null): void;
}

/** Written as paths of errors are: `extra.account_blocks[3333…].transactions`. Lazies make no step of their own. */
export function pathOf(place: Place | null): string {
  const steps: string[] = [];
  for (let at = place; at !== null; at = at.parent) steps.push(at.step);
  let path = '';
  for (const step of steps.reverse()) path += path === '' || step.startsWith('[') ? step : `.${step}`;
  return path;
}

/** A part that is being visited: those of its own parts that are still to come. */
interface Frame {
  readonly node: VisitedNode;
  readonly place: Place | null;
  readonly parts: Iterator<Part, undefined>;
}
interface Part {
  readonly place: Place | null;
  readonly value: unknown;
}

/**
 * Visits a decoded value and all its parts in order, decoding what is lazy as it goes. Of dictionaries, what a proof leaves
 * out is passed over. Takes no stack however deep the value is; but cells that occur in several places are visited in each,
 * so who walks values of unknown senders keeps count in `enter`.
 *
 * @param at where the value itself stands, when it is a part of one that is being visited
 * @throws what decoding a part throws, with the path to it
 */
export function walkValue(root: unknown, visitor: ValueVisitor, at: Place | null = null): void {
  const frames: Frame[] = [];
  const visit = (value: unknown, place: Place | null): void => {
    const node = nodeOf(value);
    const inside = visitor.enter(node, place) !== false;
    if (inside && node.kind !== 'leaf' && node.kind !== 'pruned' && node.kind !== 'opaque')
      frames.push({ node, place, parts: partsOf(node, place) });
  };
  visit(root, at);
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const part = nextPart(frame);
    if (part !== undefined) {
      visit(part.value, part.place);
    } else {
      frames.pop();
      visitor.leave?.(frame.node, frame.place);
    }
  }
}

function nextPart(frame: Frame): Part | undefined {
  try {
    return frame.parts.next().value;
  } catch (error) {
    const path = pathOf(frame.place);
    throw isTernError(error) && path !== '' ? error.within(path) : error;
  }
}

function nodeOf(value: unknown): VisitedNode {
  if (typeof value !== 'object' || value === null) return { kind: 'leaf', value: value as LeafValue };
  if (value instanceof Lazy) return cellNode(value.cell, value) ?? { kind: 'lazy', value };
  if (value instanceof Dictionary || value instanceof AugmentedDictionary) return { kind: 'dictionary', value };
  if (value instanceof Uint8Array || value instanceof Address || value instanceof BitString)
    return { kind: 'leaf', value };
  if (value instanceof Cell) return cellNode(value, value) ?? { kind: 'opaque', value };
  if (value instanceof Slice) return { kind: 'opaque', value };
  if (Array.isArray(value)) return { kind: 'array', value };
  return { kind: 'object', value };
}

function cellNode(cell: Cell, value: Lazy<unknown> | Cell): VisitedNode | null {
  if (cell.type === CellType.prunedBranch) return { kind: 'pruned', value, cell };
  if (cell.type === CellType.libraryReference) return { kind: 'opaque', value: cell };
  return null;
}

type Composite = Exclude<VisitedNode, { readonly kind: 'leaf' | 'pruned' | 'opaque' }>;

function* partsOf(node: Composite, place: Place | null): Generator<Part, undefined> {
  switch (node.kind) {
    case 'lazy':
      yield { place, value: node.value.value };
      return;
    case 'array':
      for (let i = 0; i < node.value.length; i++)
        yield { place: { parent: place, step: `[${i}]` }, value: node.value[i] };
      return;
    case 'object':
      for (const [step, value] of Object.entries(node.value)) yield { place: { parent: place, step }, value };
      return;
    case 'dictionary': {
      const { value } = node;
      if (value instanceof AugmentedDictionary)
        yield { place: { parent: place, step: EXTRA_STEP }, value: value.extra };
      for (const [key, part] of value.entries({ pruned: 'skip' }))
        yield { place: { parent: place, step: `[${keyText(key)}]`, key }, value: part };
    }
  }
}

/** A key as text: hex of bytes, the parts of a composed key with commas between them. */
export function keyText(key: unknown): string {
  if (key instanceof Uint8Array) return toHex(key);
  if (typeof key !== 'object' || key === null) return String(key);
  return Object.values(key).map(keyText).join(',');
}

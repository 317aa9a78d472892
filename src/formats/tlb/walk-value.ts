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

/** A value without parts of its own. */
export type LeafValue = null | boolean | number | bigint | string | Uint8Array | BitString | Address;

/**
 * One part of a decoded value.
 *
 * - `leaf`: a number, a hash, an address, an absent part (`null`)
 * - `object`, `array`, `dictionary`, `lazy`: has parts; the part of a `lazy` is its value
 * - `pruned`: a value in a pruned cell
 * - `opaque`: cells not described by the schema (`^Cell`, `Any`), and library references in place of a value
 */
export type VisitedNode =
  | { readonly kind: 'leaf'; readonly value: LeafValue }
  | { readonly kind: 'object'; readonly value: object }
  | { readonly kind: 'array'; readonly value: readonly unknown[] }
  | { readonly kind: 'dictionary'; readonly value: AnyDictionary }
  | { readonly kind: 'lazy'; readonly value: Lazy<unknown> }
  | { readonly kind: 'pruned'; readonly value: Lazy<unknown> | Cell; readonly cell: Cell }
  | { readonly kind: 'opaque'; readonly value: Cell | Slice };

/** The position of a part: the path from the root, last step first. The root is `null`. */
export interface Place {
  readonly parent: Place | null;
  /** Name of the field, `[index]`, or `[key]` with the key as text. */
  readonly step: string;
  /** The decoded key of a dictionary entry. */
  readonly key?: unknown;
}

/** The step of the extra of an augmented dictionary. */
export const EXTRA_STEP = 'extra';

/** Callbacks of {@link walkValue}. */
export interface ValueVisitor {
  /** Called before the parts of a node; returns whether to visit them. */
  enter(node: VisitedNode, place: Place | null): boolean;
  /** Called after the parts of a node have been visited. */
  leave?(node: VisitedNode, place: Place | null): void;
}

/** The path in the notation of errors: `extra.account_blocks[3333…].transactions`. A `Lazy` adds no step. */
export function pathOf(place: Place | null): string {
  const steps: string[] = [];
  for (let at = place; at !== null; at = at.parent) steps.push(at.step);
  let path = '';
  for (const step of steps.reverse()) path += path === '' || step.startsWith('[') ? step : `.${step}`;
  return path;
}

/** A node that is being visited, and its remaining parts. */
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
 * Visits a decoded value and all its parts in order, decoding lazy values on the way. Pruned parts of dictionaries are
 * skipped. It is not recursive, however deep the value is; but cells that occur in several places are visited in each,
 * so count in `enter` when walking values of untrusted senders.
 *
 * @param at the position of the value itself, when it is a part of a larger one
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

/** A key as text: hex for bytes, comma-separated parts for composite keys. */
export function keyText(key: unknown): string {
  if (key instanceof Uint8Array) return toHex(key);
  if (typeof key !== 'object' || key === null) return String(key);
  return Object.values(key).map(keyText).join(',');
}

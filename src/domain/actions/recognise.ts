import { completeDetails } from '#domain/actions/action-type.js';
import { ActionBlock, type BlockKey, DEPLOYS, type MessageNode, startOf } from '#domain/actions/block.js';
import { actionsErrors } from '#domain/actions/errors.js';
import { blocksOf, type Matcher, reasonOf } from '#domain/actions/matcher.js';
import type { Meaning, MissReason, Pattern } from '#domain/actions/pattern.js';
import type { Address } from '#formats/address/address.js';

/** A pattern that found its first step, and not the rest. */
export interface NearMiss {
  readonly pattern: string;
  /** Position in the trace of the transaction that its first step is about. */
  readonly transaction: number;
  readonly reason: MissReason;
}

/** Near misses that are kept of one trace. */
const MAX_NEAR_MISSES = 100;

/** Opcodes of messages that only return what was not used, or that a message failed. */
const EXCESSES = 0xd53276db;
const BOUNCED = 0xffffffff;

/** The blocks of a trace while patterns are applied to it, found by their keys. */
export class BlockTree {
  /** All blocks, those that became parts of others included. */
  readonly blocks: ActionBlock[] = [];
  readonly nearMisses: NearMiss[] = [];
  readonly #byKey = new Map<BlockKey, ActionBlock[]>();
  readonly #matcher: Matcher;
  /** The pattern that is applied. */
  pattern: string | null = null;

  /** @param blocks in order of their start, linked by `next` and `previous` */
  constructor(blocks: Iterable<ActionBlock>, matcher: Matcher) {
    this.#matcher = matcher;
    for (const block of blocks) this.#add(block);
  }

  /** Applies a pattern to all blocks that may be its first step. */
  apply(pattern: Pattern): void {
    const candidates = this.#candidates(pattern.step.keys);
    if (candidates.length === 0) return;
    this.pattern = pattern.name;
    for (const block of candidates) if (block.parent === null) this.#try(pattern, block);
    this.pattern = null;
  }

  #candidates(keys: readonly BlockKey[]): readonly ActionBlock[] {
    const found: ActionBlock[] = [];
    let sources = 0;
    for (const key of keys) {
      const blocks = this.#byKey.get(key);
      if (blocks === undefined) continue;
      sources++;
      for (const block of blocks) if (block.parent === null) found.push(block);
    }
    return sources > 1 || this.#isUnordered ? found.sort(byStart) : found;
  }

  /** Whether blocks were made after the first ones, and so stand after later blocks. */
  #isUnordered = false;

  #add(block: ActionBlock): void {
    this.blocks.push(block);
    this.#index(block.kind, block);
    if (block.opcode !== null) this.#index(block.opcode, block);
    if (block.deployments.length === 1) this.#index(DEPLOYS, block);
  }

  #index(key: BlockKey, block: ActionBlock): void {
    const blocks = this.#byKey.get(key);
    if (blocks === undefined) this.#byKey.set(key, [block]);
    else blocks.push(block);
  }

  #try(pattern: Pattern, block: ActionBlock): void {
    const matcher = this.#matcher;
    matcher.takeReason();
    const match = matcher.match(pattern.step, block);
    if (match === null) {
      this.#missed(pattern, block, matcher.takeReason());
      return;
    }
    let meant: Meaning;
    try {
      meant = pattern.build(match as never, matcher);
      const blocks = blocksOf(match);
      for (const one of meant.also ?? []) if (one !== null && one !== undefined) blocks.add(one);
      for (const one of meant.without ?? []) if (one !== null && one !== undefined) blocks.delete(one);
      addReturned(blocks, pattern.takesBounced ? null : block);
      this.#merge(pattern, meant, blocks);
    } catch (error) {
      this.#missed(pattern, block, reasonOf(error, 'meaning'));
    }
  }

  #missed(pattern: Pattern, block: ActionBlock, reason: MissReason | null): void {
    // Blocks that are found by kind are of many protocols: that they are not of this one is no news.
    if (reason === null || block.opcode === null || !pattern.step.keys.includes(block.opcode)) return;
    if (this.nearMisses.length >= MAX_NEAR_MISSES) return;
    this.nearMisses.push({ pattern: pattern.name, transaction: block.first.position, reason });
  }

  /** Makes one block of several. They follow from the first of them, or from the same block as it. */
  #merge(pattern: Pattern, meant: Meaning, parts: ReadonlySet<ActionBlock>): void {
    const ordered = [...parts].sort(byStart);
    const first = ordered[0]!;
    let hasSiblings = false;
    for (const part of ordered) {
      if (part.parent !== null) throw actionsErrors.mismatch({ problem: `${part.kind} is a part of another action` });
      if (part === first || (part.previous !== null && parts.has(part.previous))) continue;
      hasSiblings = true;
      if (part.previous === first.previous) continue;
      throw actionsErrors.mismatch({ problem: `${part.kind} does not follow from the other messages` });
    }
    this.#matcher.spend(ordered.length);
    const nodes: MessageNode[] = [];
    const deployments: ActionBlock[] = [];
    for (const part of ordered) {
      for (const node of part.nodes) nodes.push(node);
      for (const one of part.deployments) deployments.push(one);
    }
    const block = new ActionBlock(meant.kind ?? pattern.name, null, nodes, ordered, deployments);
    block.pattern = pattern.name;
    block.failed = meant.failed ?? false;
    block.broken = (meant.broken ?? false) || ordered.some(({ broken }) => broken);
    block.data = meant.data;
    block.hasSiblings = hasSiblings && meant.sender !== true;
    const parties = (meant.parties ?? []).filter((party): party is Address => party !== null && party !== undefined);
    block.action = { type: meant.type, details: completeDetails(meant.type.fields, meant.details), parties };
    block.previous = first.previous;
    for (const part of ordered) {
      part.parent = block;
      first.previous?.next.delete(part);
      for (const next of part.next) {
        if (parts.has(next)) continue;
        next.previous = block;
        block.next.add(next);
      }
    }
    first.previous?.next.add(block);
    this.#isUnordered = true;
    this.#add(block);
  }
}

/** In order of start; parts of one transaction in the order of their messages. */
export function byStart(a: ActionBlock, b: ActionBlock): number {
  const one = startOf(a.first);
  const other = startOf(b.first);
  if (one !== other) return one < other ? -1 : 1;
  return a.first.position - b.first.position;
}

/** Messages that follow directly and only return what was sent. */
function addReturned(blocks: Set<ActionBlock>, notBouncedBy: ActionBlock | null): void {
  for (const block of [...blocks]) {
    for (const next of block.next) {
      if (next.parent !== null) continue;
      if (next.opcode === EXCESSES || (next.opcode === BOUNCED && block !== notBouncedBy)) blocks.add(next);
    }
  }
}

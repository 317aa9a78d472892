import type { Cell } from '#formats/cells/cell.js';
import { applyMerkleUpdate } from '#formats/cells/merkle-update.js';
import { type BlockId, isMasterchain, printPosition, sameBlock } from '#formats/proofs/block-id.js';
import { checkZerostate } from '#formats/proofs/shard-state.js';
import { splitStateCell } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { replayErrors } from '#localnet/replay/errors.js';
import type { RecordedBlock, RecordedContent, RecordedZerostate } from '#localnet/replay/recorded-folder.js';

/** A block of the chain, with the state after it. */
export interface ChainBlock extends Omit<RecordedBlock, 'stateUpdate'> {
  readonly mc_seqno: number;
  readonly state: Cell;
}

/** The recorded chain from its zerostates on. */
export interface RecordedChain {
  readonly zerostates: readonly RecordedZerostate[];
  /** Masterchain blocks from seqno 1 on. */
  readonly masterchain: readonly ChainBlock[];
  /** Shard blocks, each after those that it follows. */
  readonly shards: readonly ChainBlock[];
}

/**
 * Orders the blocks of a folder from the masterchain zerostate to the head, and computes all states by applying the
 * state update of each block. Equal parts of states share their cells.
 *
 * @param to seqno of the masterchain block to end with; null for the newest block
 * @throws replay/no-blocks, replay/no-such-head, replay/missing-block, replay/no-zerostate, replay/other-zerostate,
 * replay/wrong-state
 */
export function buildChain(content: RecordedContent, to: number | null): RecordedChain {
  return new ChainBuilder(content).build(to);
}

class ChainBuilder {
  readonly #content: RecordedContent;
  readonly #placed = new Map<string, ChainBlock>();
  readonly #zerostates = new Map<string, RecordedZerostate>();
  readonly #shards: ChainBlock[] = [];

  constructor(content: RecordedContent) {
    this.#content = content;
  }

  build(to: number | null): RecordedChain {
    const masterchain: ChainBlock[] = [];
    for (const found of this.#masterchain(to)) {
      const mc_seqno = found.id.seqno;
      for (const shard of found.shards) this.#placeShard(shard, found);
      masterchain.push(this.#place(found, mc_seqno));
    }
    return { zerostates: [...this.#zerostates.values()], masterchain, shards: this.#shards };
  }

  /** The masterchain blocks in order. */
  #masterchain(to: number | null): RecordedBlock[] {
    const { folder, blocks } = this.#content;
    const all = [...blocks.values()].filter(({ id }) => isMasterchain(id));
    const last = all.reduce((most, { id }) => Math.max(most, id.seqno), 0);
    if (last === 0) throw replayErrors['no-blocks']({ folder });
    const seqno = to ?? last;
    const head = seqno > last ? undefined : all.find(({ id }) => id.seqno === seqno);
    if (head === undefined) throw replayErrors['no-such-head']({ option: '--to', wanted: seqno, last });
    const chain = [head];
    for (let block = head; block.id.seqno > 1; chain.push(block)) {
      block = this.#find(block.prev[0]!, printPosition(block.id));
    }
    chain.reverse();
    this.#findZerostate(chain[0]!.prev[0]!, printPosition(chain[0]!.id));
    return chain;
  }

  /** Adds the newest block of a shard and the blocks before it that were not added yet. */
  #placeShard(top: BlockId, by: RecordedBlock): void {
    const waiting: RecordedBlock[] = [];
    const pending: { readonly id: BlockId; readonly after: string }[] = [{ id: top, after: printPosition(by.id) }];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { id, after } = next;
      if (id.seqno === 0) {
        this.#findZerostate(id, after);
        continue;
      }
      if (this.#placed.has(toHex(id.root_hash))) continue;
      const found = this.#find(id, after);
      waiting.push(found);
      for (const prev of found.prev) pending.push({ id: prev, after: printPosition(id) });
    }
    waiting.sort((a, b) => a.id.seqno - b.id.seqno);
    for (const found of waiting) {
      if (!this.#placed.has(toHex(found.id.root_hash))) this.#shards.push(this.#place(found, by.id.seqno));
    }
  }

  #place(found: RecordedBlock, mc_seqno: number): ChainBlock {
    const [first, second] = found.prev.map((prev) => this.#stateAfter(prev)) as [Cell, Cell?];
    const before = second === undefined ? first : splitStateCell(first, second);
    const { stateUpdate, ...rest } = found;
    let state: Cell;
    try {
      state = applyMerkleUpdate(before, stateUpdate);
    } catch (error) {
      if (!isTernError(error)) throw error;
      const { file, id } = found;
      throw replayErrors['wrong-state']({ file, block: printPosition(id), problem: error.message }, error);
    }
    const block: ChainBlock = { ...rest, mc_seqno, state };
    this.#placed.set(toHex(found.id.root_hash), block);
    return block;
  }

  #stateAfter(id: BlockId): Cell {
    const key = toHex(id.root_hash);
    return id.seqno === 0 ? this.#zerostates.get(key)!.root : this.#placed.get(key)!.state;
  }

  /** @throws replay/missing-block */
  #find(id: BlockId, after: string): RecordedBlock {
    const { folder, blocks } = this.#content;
    const found = blocks.get(toHex(id.root_hash));
    if (found === undefined || !sameBlock(found.id, id)) {
      throw replayErrors['missing-block']({ folder, block: printPosition(id), after: `block ${after}` });
    }
    return found;
  }

  /** @throws replay/no-zerostate, replay/other-zerostate */
  #findZerostate(id: BlockId, after: string): void {
    const key = toHex(id.root_hash);
    if (this.#zerostates.has(key)) return;
    const { folder, zerostates } = this.#content;
    const candidates = zerostates.filter((each) => each.id.workchain === id.workchain);
    const found = candidates.find((each) => toHex(each.id.root_hash) === key);
    const where = `block ${after}`;
    if (found === undefined) {
      const [other] = candidates;
      if (other === undefined) throw replayErrors['no-zerostate']({ folder, workchain: id.workchain, root_hash: key });
      throw otherZerostate(other, 'root hash', id.root_hash, other.id.root_hash, where);
    }
    if (toHex(found.id.file_hash) !== toHex(id.file_hash)) {
      throw otherZerostate(found, 'file hash', id.file_hash, found.id.file_hash, where);
    }
    if (isMasterchain(id)) checkZerostate(found.root, id);
    this.#zerostates.set(key, found);
  }
}

function otherZerostate(
  { file }: RecordedZerostate,
  field: string,
  expected: Uint8Array,
  found: Uint8Array,
  where: string,
): Error {
  return replayErrors['other-zerostate']({ file, field, expected: toHex(expected), found: toHex(found), where });
}

/**
 * Compares the masterchain zerostate with the one in a global config.
 * @throws replay/other-zerostate
 */
export function checkConfiguredZerostate(zerostate: RecordedZerostate, file: string, config: unknown): void {
  const named = (config as { validator?: { zero_state?: Record<string, unknown> } } | null)?.validator?.zero_state;
  if (named === undefined || named === null) return;
  for (const field of ['root_hash', 'file_hash'] as const) {
    const expected = named[field];
    const found = Buffer.from(zerostate.id[field]).toString('base64');
    if (expected === undefined || expected === found) continue;
    const where = `validator.zero_state.${field} of ${file}`;
    throw replayErrors['other-zerostate']({ file: zerostate.file, field, expected: String(expected), found, where });
  }
}

import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { verifyBlockFile } from '#formats/proofs/block-header.js';
import { type BlockId, isMasterchain, printPosition, sameBlock } from '#formats/proofs/block-id.js';
import { signatureSetOf, verifyBlockProof } from '#formats/proofs/block-proof.js';
import type { BlockQuery } from '#formats/proofs/shard-block.js';
import { checkZerostate, keyBlockConfig, stateConfig } from '#formats/proofs/shard-state.js';
import type { SignatureSet } from '#formats/proofs/signatures.js';
import { validatorConfigOf } from '#formats/proofs/validators.js';
import { shardContains, shardHex } from '#formats/tlb/block-id.js';
import { BlockProof } from '#formats/tlb/block-proof.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { toHex } from '#kernel/bytes.js';
import type { CancelSchedule, Clock } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';
import { replayErrors } from '#localnet/replay/errors.js';
import { ParsedBlocks } from '#localnet/replay/parsed-blocks.js';
import {
  buildChain,
  type ChainBlock,
  checkConfiguredZerostate,
  type RecordedChain,
} from '#localnet/replay/recorded-chain.js';
import {
  type RecordedContent,
  type RecordedProof,
  type RecordedZerostate,
  readFolder,
  sortContent,
} from '#localnet/replay/recorded-folder.js';

/** Which part of a recorded chain is served. */
export interface ReplayRange {
  /** The last masterchain block; null for all recorded ones. */
  readonly to: number | null;
  /** Initial head, 0 for zerostates only; null for the last block. */
  readonly head: number | null;
}

/** A recorded chain that was read and checked. */
export interface Recording {
  readonly chain: RecordedChain;
  readonly proofs: ReadonlyMap<string, RecordedProof>;
}

/**
 * Reads and checks the chain in a folder: hashes, order, zerostates, states, and validator signatures where the folder
 * has proofs.
 *
 * @param to the last masterchain block; null for all recorded ones
 * @throws replay/*; the message names file and field
 */
export function readRecording(folder: string, to: number | null): Recording {
  const recorded = readFolder(folder);
  const content = sortContent(recorded);
  const chain = buildChain(content, to);
  const zerostate = chain.zerostates.find(({ id }) => id.workchain === -1)!;
  for (const { file, config } of recorded.configs) checkConfiguredZerostate(zerostate, file, config);
  checkAllSignatures(chain, content);
  return { chain, proofs: content.proofs };
}

/** The ledger of the chain in a folder; see {@link readRecording}. */
export function openReplay(folder: string, { to, head }: ReplayRange): ReplayLedger {
  return new ReplayLedger(readRecording(folder, to), head);
}

/** @throws replay/wrong-signatures */
function checkAllSignatures(chain: RecordedChain, content: RecordedContent): void {
  const zerostate = chain.zerostates.find(({ id }) => id.workchain === -1)!;
  let config = validatorConfigOf(stateConfig(checkZerostate(zerostate.root, zerostate.id)).config);
  for (const { id, bytes } of chain.masterchain) {
    const proof = content.proofs.get(toHex(id.root_hash));
    if (proof?.signed !== true) continue;
    try {
      const { header } = verifyBlockProof(proof.bytes, id, config);
      if (header.info.key_block) config = validatorConfigOf(keyBlockConfig(verifyBlockFile(bytes, id)).config);
    } catch (error) {
      if (!isTernError(error)) throw error;
      const data = { file: proof.file, block: printPosition(id), problem: error.message };
      throw replayErrors['wrong-signatures'](data, error);
    }
  }
}

/** Size of block files whose parsed cells are cached, in bytes. */
const PARSED_BYTES = 16 * 2 ** 20;

class ReplayBlock implements LedgerBlock {
  readonly id: BlockId;
  readonly bytes: Uint8Array;
  readonly gen_utime: number;
  readonly end_lt: bigint;
  readonly mc_seqno: number;
  readonly prev: readonly BlockId[];
  readonly state: Cell;
  readonly #parsed: ParsedBlocks;

  constructor({ id, bytes, prev, gen_utime, end_lt, mc_seqno, state }: ChainBlock, parsed: ParsedBlocks) {
    this.id = id;
    this.bytes = bytes;
    this.prev = prev;
    this.gen_utime = gen_utime;
    this.end_lt = end_lt;
    this.mc_seqno = mc_seqno;
    this.state = state;
    this.#parsed = parsed;
  }

  get root(): Cell {
    return this.#parsed.root(this.bytes);
  }
}

/** A recorded chain, visible up to its head. The head can be moved forward. */
export class ReplayLedger implements Ledger {
  readonly zerostate: BlockId;
  readonly #zerostates: readonly RecordedZerostate[];
  readonly #masterchain: readonly ReplayBlock[];
  readonly #byRootHash = new Map<string, ReplayBlock>();
  readonly #index = new BlockIndex();
  readonly #keyBlocks: readonly BlockId[];
  readonly #proofs: ReadonlyMap<string, RecordedProof>;
  readonly #listeners = new Set<() => void>();
  #headSeqno: number;

  /** @param headSeqno initial head, at most the last masterchain block; 0 for zerostates only; null for the last block */
  constructor({ chain, proofs }: Recording, headSeqno: number | null) {
    const parsed = new ParsedBlocks(PARSED_BYTES);
    const open = (block: ChainBlock): ReplayBlock => {
      const opened = new ReplayBlock(block, parsed);
      this.#byRootHash.set(toHex(block.id.root_hash), opened);
      this.#index.add(opened);
      return opened;
    };
    this.#zerostates = chain.zerostates;
    this.#masterchain = chain.masterchain.map(open);
    for (const block of chain.shards) open(block);
    this.#keyBlocks = chain.masterchain.filter(({ key_block }) => key_block).map(({ id }) => id);
    this.#proofs = proofs;
    this.#headSeqno = headSeqno ?? chain.masterchain.length;
    this.zerostate = chain.zerostates.find(({ id }) => isMasterchain(id))!.id;
  }

  get head(): LedgerBlock | null {
    return this.#masterchain[this.#headSeqno - 1] ?? null;
  }

  /** Seqno of the last recorded masterchain block. */
  get lastSeqno(): number {
    return this.#masterchain.length;
  }

  /** Time of a masterchain block, in unix seconds. */
  timeOf(seqno: number): number {
    return this.#masterchain[seqno - 1]!.gen_utime;
  }

  /** Moves the head forward and notifies the listeners. */
  advanceTo(seqno: number): void {
    if (seqno <= this.#headSeqno) return;
    this.#headSeqno = Math.min(seqno, this.lastSeqno);
    for (const listener of [...this.#listeners]) listener();
  }

  /** Previous blocks: two after a merge; a zerostate has seqno 0. */
  previous(block: LedgerBlock): readonly BlockId[] {
    return (block as ReplayBlock).prev;
  }

  block(id: BlockId): LedgerBlock | null {
    const block = this.#byRootHash.get(toHex(id.root_hash));
    return block !== undefined && sameBlock(block.id, id) ? this.#shown(block) : null;
  }

  lookup(query: BlockQuery): LedgerBlock | null {
    return this.#shown(this.#index.find(query));
  }

  hasWorkchain(workchain: number): boolean {
    return this.#index.hasWorkchain(workchain);
  }

  state(block: LedgerBlock): Cell {
    return (block as ReplayBlock).state;
  }

  keyBlockUpTo(seqno: number): BlockId {
    return this.#keyBlocks.findLast((id) => id.seqno <= seqno) ?? this.zerostate;
  }

  keyBlockFrom(seqno: number): BlockId | null {
    const found = this.#keyBlocks.find((id) => id.seqno >= seqno);
    return found !== undefined && found.seqno <= this.#headSeqno ? found : null;
  }

  zerostateFile(id: BlockId): Uint8Array | null {
    return this.#zerostates.find((zerostate) => sameBlock(zerostate.id, id))?.bytes ?? null;
  }

  signatures(block: LedgerBlock): SignatureSet | null {
    const proof = this.#proofs.get(toHex(block.id.root_hash));
    if (proof === undefined) return null;
    const { signatures } = decodeCell(BlockProof, parseBocRoot(proof.bytes));
    return signatures === null ? null : signatureSetOf(signatures.value);
  }

  onHead(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #shown<B extends LedgerBlock>(block: B | null): B | null {
    return block !== null && block.mc_seqno <= this.#headSeqno ? block : null;
  }
}

/** The blocks of one shard, ascending in seqno and lt, not descending in time. */
interface ShardBlocks {
  readonly shard: bigint;
  readonly blocks: LedgerBlock[];
}

/** Looks up blocks by account prefix and seqno, lt or time. */
export class BlockIndex {
  readonly #workchains = new Map<number, Map<string, ShardBlocks>>();

  /** Adds a block; the blocks of a shard must be added in order. */
  add(block: LedgerBlock): void {
    const { workchain, shard } = block.id;
    let shards = this.#workchains.get(workchain);
    if (shards === undefined) {
      shards = new Map();
      this.#workchains.set(workchain, shards);
    }
    const key = shardHex(shard);
    const known = shards.get(key);
    if (known === undefined) shards.set(key, { shard, blocks: [block] });
    else known.blocks.push(block);
  }

  hasWorkchain(workchain: number): boolean {
    return this.#workchains.has(workchain);
  }

  /** The first block that matches the query, among all shards that contain the prefix. */
  find(query: BlockQuery): LedgerBlock | null {
    const reaches = test(query);
    let first: LedgerBlock | null = null;
    for (const { shard, blocks } of this.#workchains.get(query.workchain)?.values() ?? []) {
      if (!shardContains(shard, query.shard)) continue;
      const found = blocks[firstIndex(blocks, reaches)];
      if (found !== undefined && (first === null || found.id.seqno < first.id.seqno)) first = found;
    }
    if (query.by === 'seqno' && first?.id.seqno !== query.seqno) return null;
    return first;
  }
}

/** A test that holds for the block that is looked up and all later ones. */
function test(query: BlockQuery): (block: LedgerBlock) => boolean {
  switch (query.by) {
    case 'seqno':
      return ({ id }) => id.seqno >= query.seqno;
    case 'lt':
      return ({ end_lt }) => end_lt >= query.lt;
    case 'utime':
      return ({ gen_utime }) => gen_utime >= query.utime;
  }
}

/** The least index whose block passes, or the length. */
function firstIndex(blocks: readonly LedgerBlock[], passes: (block: LedgerBlock) => boolean): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (passes(blocks[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Speed of the head: a multiple of the recorded speed, or masterchain blocks per second. */
export type ReplayPace =
  | { readonly kind: 'times'; readonly factor: number }
  | { readonly kind: 'blocks'; readonly perSecond: number };

/**
 * Moves the head of a ledger forward until the last block. Blocks that are due at the same time are shown at once, so
 * that the average pace holds.
 *
 * @returns stops it
 */
export function paceHead(ledger: ReplayLedger, pace: ReplayPace, clock: Clock): () => void {
  const first = ledger.head?.id.seqno ?? 0;
  const begin = clock.now();
  let cancel: CancelSchedule = () => {};
  let stopped = false;
  const dueAfter = (seqno: number): number =>
    pace.kind === 'blocks'
      ? ((seqno - first) / pace.perSecond) * 1000
      : ((ledger.timeOf(seqno) - ledger.timeOf(Math.max(first, 1))) / pace.factor) * 1000;
  const step = (): void => {
    if (stopped) return;
    const passed = clock.now() - begin;
    let head = ledger.head?.id.seqno ?? 0;
    while (head < ledger.lastSeqno && dueAfter(head + 1) <= passed) head++;
    ledger.advanceTo(head);
    if (head < ledger.lastSeqno) cancel = clock.schedule(Math.max(dueAfter(head + 1) - passed, 1), step);
  };
  step();
  return () => {
    stopped = true;
    cancel();
  };
}

const MAX_RATE = 1_000_000;

/**
 * Parses `real`, `10x` (a multiple of the recorded speed) or `5` (masterchain blocks per second).
 * @throws replay/bad-option
 */
export function parsePace(text: string): ReplayPace {
  if (text === 'real') return { kind: 'times', factor: 1 };
  const match = /^(\d+(?:\.\d+)?)(x?)$/.exec(text);
  const rate = Number(match?.[1]);
  if (match === null || !(rate > 0 && rate <= MAX_RATE)) {
    const accepted = `real, 10x, or a number of blocks a second, above 0 and at most ${MAX_RATE}`;
    throw replayErrors['bad-option']({ option: '--pace', found: `"${text}"`, accepted });
  }
  return match[2] === 'x' ? { kind: 'times', factor: rate } : { kind: 'blocks', perSecond: rate };
}

/** Parses the seqno of a masterchain block. @throws replay/bad-option */
export function parseSeqno(option: string, text: string): number {
  const seqno = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (seqno >= 1 && seqno < 2 ** 32) return seqno;
  throw replayErrors['bad-option']({ option, found: `"${text}"`, accepted: 'a seqno of the masterchain, from 1 on' });
}

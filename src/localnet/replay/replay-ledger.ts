import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { type BlockId, isMasterchain, sameBlock } from '#formats/proofs/block-id.js';
import { signatureSetOf } from '#formats/proofs/block-proof.js';
import type { BlockQuery } from '#formats/proofs/lookup-block.js';
import type { SignatureSet } from '#formats/proofs/signature-set.js';
import { BlockProof } from '#formats/tlb/block-proof.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { toHex } from '#kernel/bytes/bytes.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';
import { BlockIndex } from '#localnet/replay/block-index.js';
import { ParsedBlocks } from '#localnet/replay/parsed-blocks.js';
import type { ChainBlock, RecordedChain } from '#localnet/replay/recorded-chain.js';
import type { FoundProof, FoundZerostate } from '#localnet/replay/recorded-content.js';

/** Files of blocks whose cells are kept, in bytes. */
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

/** A recorded chain, of which as much is shown as its head commits. The head can be moved forward. */
export class ReplayLedger implements Ledger {
  readonly zerostate: BlockId;
  readonly #zerostates: readonly FoundZerostate[];
  readonly #masterchain: readonly ReplayBlock[];
  readonly #byRootHash = new Map<string, ReplayBlock>();
  readonly #index = new BlockIndex();
  readonly #keyBlocks: readonly BlockId[];
  readonly #proofs: ReadonlyMap<string, FoundProof>;
  readonly #listeners = new Set<() => void>();
  #headSeqno: number;

  /** @param headSeqno the first head, at most the last block of the masterchain; 0 for nothing but zerostates */
  constructor(chain: RecordedChain, proofs: ReadonlyMap<string, FoundProof>, headSeqno = chain.masterchain.length) {
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
    this.#headSeqno = headSeqno;
    this.zerostate = chain.zerostates.find(({ id }) => isMasterchain(id))!.id;
  }

  get head(): LedgerBlock | null {
    return this.#masterchain[this.#headSeqno - 1] ?? null;
  }

  /** Seqno of the last block of the masterchain that was recorded. */
  get lastSeqno(): number {
    return this.#masterchain.length;
  }

  /** Time of a masterchain block, in unix seconds. */
  timeOf(seqno: number): number {
    return this.#masterchain[seqno - 1]!.gen_utime;
  }

  /** Moves the head on, and tells those who wait for that. */
  advanceTo(seqno: number): void {
    if (seqno <= this.#headSeqno) return;
    this.#headSeqno = Math.min(seqno, this.lastSeqno);
    for (const listener of [...this.#listeners]) listener();
  }

  /** The blocks before a block: two after a merge; of seqno 0 for a zerostate. */
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

import { isMasterchain, type Shard } from '#formats/proofs/block-id.js';
import type { BlockQuery } from '#formats/proofs/lookup-block.js';
import { shardContains, shardHex } from '#formats/tlb/shard-ident.js';
import type { BlockRecord } from '#localnet/ledger/block-record.js';
import { NumberList } from '#localnet/ledger/number-list.js';

/** The blocks of one shard, by their number in the chain: of rising seqno and lt, and of time that does not fall. */
interface ShardBlocks {
  readonly shard: bigint;
  readonly numbers: NumberList;
}

/** Which blocks belong to which shard, and which are key blocks: four bytes a block. What else is known is in the files. */
export class BlockLists {
  readonly #workchains = new Map<number, Map<string, ShardBlocks>>();
  readonly #masterchain = new NumberList();
  readonly #keyBlocks = new NumberList();
  #count = 0;

  /** Number of blocks. */
  get count(): number {
    return this.#count;
  }

  /** Number of masterchain blocks. */
  get rounds(): number {
    return this.#masterchain.length;
  }

  /** Adds the next block. */
  add({ id, key_block }: Pick<BlockRecord, 'id' | 'key_block'>): void {
    const number = this.#count++;
    this.#shard(id).push(number);
    if (!isMasterchain(id)) return;
    this.#masterchain.push(number);
    if (key_block) this.#keyBlocks.push(id.seqno);
  }

  hasWorkchain(workchain: number): boolean {
    return this.#workchains.has(workchain);
  }

  /** Numbers of the blocks of a round: the first one, and the one of the masterchain, which is the last. */
  round(mc_seqno: number): { readonly first: number; readonly last: number } {
    const first = mc_seqno === 1 ? 0 : this.#masterchain.at(mc_seqno - 2) + 1;
    return { first, last: this.#masterchain.at(mc_seqno - 1) };
  }

  /** Seqno of the newest key block up to a seqno; 0 when there is none. */
  keyBlockUpTo(seqno: number): number {
    const after = this.#keyBlocks.firstIndex((key) => key > seqno);
    return after === 0 ? 0 : this.#keyBlocks.at(after - 1);
  }

  /** Seqno of the oldest key block from a seqno on; `null` when there is none. */
  keyBlockFrom(seqno: number): number | null {
    const index = this.#keyBlocks.firstIndex((key) => key >= seqno);
    return index === this.#keyBlocks.length ? null : this.#keyBlocks.at(index);
  }

  /**
   * The first block, in the chain of the shards that a prefix belongs to, that the question is about.
   *
   * @param read gives the block with a number
   */
  find(query: BlockQuery, read: (number: number) => BlockRecord): BlockRecord | null {
    const reaches = test(query);
    let first: BlockRecord | null = null;
    for (const { shard, numbers } of this.#workchains.get(query.workchain)?.values() ?? []) {
      if (!shardContains(shard, query.shard)) continue;
      const index = numbers.firstIndex((number) => reaches(read(number)));
      const found = index === numbers.length ? null : read(numbers.at(index));
      if (found !== null && (first === null || found.id.seqno < first.id.seqno)) first = found;
    }
    return query.by === 'seqno' && first?.id.seqno !== query.seqno ? null : first;
  }

  /** The block of just this shard with a seqno. */
  inShard({ workchain, shard }: Shard, seqno: number, read: (number: number) => BlockRecord): BlockRecord | null {
    const numbers = this.#workchains.get(workchain)?.get(shardHex(shard))?.numbers;
    if (numbers === undefined) return null;
    const index = numbers.firstIndex((number) => read(number).id.seqno >= seqno);
    const found = index === numbers.length ? null : read(numbers.at(index));
    return found?.id.seqno === seqno ? found : null;
  }

  #shard({ workchain, shard }: Shard): NumberList {
    let shards = this.#workchains.get(workchain);
    if (shards === undefined) {
      shards = new Map();
      this.#workchains.set(workchain, shards);
    }
    const key = shardHex(shard);
    let blocks = shards.get(key);
    if (blocks === undefined) {
      blocks = { shard, numbers: new NumberList() };
      shards.set(key, blocks);
    }
    return blocks.numbers;
  }
}

/** Says of a block whether it or one before it is looked for. */
function test(query: BlockQuery): (block: BlockRecord) => boolean {
  switch (query.by) {
    case 'seqno':
      return ({ id }) => id.seqno >= query.seqno;
    case 'lt':
      return ({ end_lt }) => end_lt >= query.lt;
    case 'utime':
      return ({ gen_utime }) => gen_utime >= query.utime;
  }
}

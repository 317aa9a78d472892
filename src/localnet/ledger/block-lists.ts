import { type BlockPosition, isMasterchain, type Shard } from '#formats/proofs/block-id.js';
import type { BlockQuery } from '#formats/proofs/lookup-block.js';
import { shardContains } from '#formats/tlb/shard-ident.js';
import { NumberList } from '#localnet/ledger/number-list.js';

/** The blocks of one shard, by their number in the chain: of rising seqno and lt, and of time that does not fall. */
interface ShardBlocks {
  readonly shard: bigint;
  readonly numbers: NumberList;
}

/** Reads what blocks are looked for by, given the number of a block. */
export interface BlockKeys {
  seqno(number: number): number;
  end_lt(number: number): bigint;
  gen_utime(number: number): number;
}

/** Which blocks belong to which shard, and which are key blocks: four bytes a block. What else is known is in the files. */
export class BlockLists {
  readonly #workchains = new Map<number, Map<bigint, ShardBlocks>>();
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
  add(id: BlockPosition, key_block: boolean): void {
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

  /** Number of the first block, in the chain of the shards that a prefix belongs to, that the question is about. */
  find(query: BlockQuery, keys: BlockKeys): number | null {
    const reaches = test(query, keys);
    let first: number | null = null;
    for (const { shard, numbers } of this.#workchains.get(query.workchain)?.values() ?? []) {
      if (!shardContains(shard, query.shard)) continue;
      const index = numbers.firstIndex(reaches);
      if (index === numbers.length) continue;
      const found = numbers.at(index);
      if (first === null || keys.seqno(found) < keys.seqno(first)) first = found;
    }
    return first !== null && query.by === 'seqno' && keys.seqno(first) !== query.seqno ? null : first;
  }

  /** Number of the block of just this shard with a seqno. */
  inShard({ workchain, shard, seqno }: BlockPosition, keys: BlockKeys): number | null {
    const numbers = this.#workchains.get(workchain)?.get(shard)?.numbers;
    if (numbers === undefined) return null;
    // There is one for each seqno, but where a shard was split for a while.
    const last = numbers.length - 1;
    const guess = last - (keys.seqno(numbers.at(last)) - seqno);
    if (guess >= 0 && guess <= last && keys.seqno(numbers.at(guess)) === seqno) return numbers.at(guess);
    const index = numbers.firstIndex((number) => keys.seqno(number) >= seqno);
    return index > last || keys.seqno(numbers.at(index)) !== seqno ? null : numbers.at(index);
  }

  #shard({ workchain, shard }: Shard): NumberList {
    let shards = this.#workchains.get(workchain);
    if (shards === undefined) {
      shards = new Map();
      this.#workchains.set(workchain, shards);
    }
    let blocks = shards.get(shard);
    if (blocks === undefined) {
      blocks = { shard, numbers: new NumberList() };
      shards.set(shard, blocks);
    }
    return blocks.numbers;
  }
}

/** Says of the number of a block whether it or one before it is looked for. */
function test(query: BlockQuery, keys: BlockKeys): (number: number) => boolean {
  switch (query.by) {
    case 'seqno':
      return (number) => keys.seqno(number) >= query.seqno;
    case 'lt':
      return (number) => keys.end_lt(number) >= query.lt;
    case 'utime':
      return (number) => keys.gen_utime(number) >= query.utime;
  }
}

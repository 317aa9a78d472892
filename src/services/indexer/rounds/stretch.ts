import type { BlockId } from '#formats/proofs/block-id.js';
import type { BlockFileRead } from '#services/chain/block-data.js';
import { CommittedShards, type ShardTops, shardTopsOf } from '#services/indexer/rounds/committed-shards.js';
import { type Round, roundOf } from '#services/indexer/rounds/round.js';

/** How the parts of a stretch are read. */
export interface StretchReads {
  /** The id of a masterchain block, proven. */
  proven(seqno: number): Promise<BlockId>;
  /** The file of a block, named by one that was read. */
  file(id: BlockId, mc_seqno: number): Promise<BlockFileRead>;
  /** What the masterchain block before the stretch commits. */
  before(first: BlockFileRead): Promise<ShardTops>;
}

/** A masterchain block and what it commits. */
interface Masterchain {
  readonly file: BlockFileRead;
  readonly tops: ShardTops;
}

/** Rounds in a row: one proof for the last masterchain block, and from there back from link to link. */
export class Stretch {
  readonly first: number;
  readonly last: number;
  /** In their order. */
  readonly rounds: Promise<readonly Round[]>;
  /** What the last masterchain block commits; there long before the rounds. */
  readonly lastTops: Promise<ShardTops>;
  readonly #reads: StretchReads;

  constructor(first: number, last: number, reads: StretchReads) {
    this.first = first;
    this.last = last;
    this.#reads = reads;
    const end = this.#end();
    this.lastTops = end.then(({ tops }) => tops);
    this.rounds = end.then((file) => this.#back(file));
    // Both are looked at later, if at all.
    for (const promise of [this.lastTops, this.rounds]) promise.catch(() => {});
  }

  get length(): number {
    return this.last - this.first + 1;
  }

  async #end(): Promise<Masterchain> {
    const file = await this.#reads.file(await this.#reads.proven(this.last), this.last);
    return { file, tops: shardTopsOf(file) };
  }

  async #back(end: Masterchain): Promise<readonly Round[]> {
    const rounds: Promise<Round>[] = [];
    let { file } = end;
    let shards = this.#shards(file, end.tops);
    try {
      for (let seqno = this.last; seqno > this.first; seqno--) {
        const before = await this.#reads.file(file.header.prev[0]!, seqno - 1);
        const tops = shardTopsOf(before);
        rounds.push(complete(file, shards, tops));
        file = before;
        shards = this.#shards(file, tops);
      }
      rounds.push(complete(file, shards, await this.#reads.before(file)));
    } finally {
      for (const round of rounds) round.catch(() => {});
    }
    return Promise.all(rounds.reverse());
  }

  #shards({ id }: BlockFileRead, tops: ShardTops): CommittedShards {
    return new CommittedShards(tops, (shard) => this.#reads.file(shard, id.seqno));
  }
}

async function complete(file: BlockFileRead, shards: CommittedShards, before: ShardTops): Promise<Round> {
  return roundOf(file, await shards.since(before));
}

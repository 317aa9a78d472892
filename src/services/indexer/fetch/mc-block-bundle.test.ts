import { describe, expect, it } from 'vitest';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { BlockFileRead } from '#services/chain/blocks.js';
import {
  CommittedShardBlocks,
  type CommittedShardTop,
  type CommittedShardTops,
} from '#services/indexer/fetch/mc-block-bundle.js';

const WHOLE = 1n << 63n;
const LEFT = 1n << 62n;
const RIGHT = WHOLE | LEFT;

/** Names of blocks such as `L12`: whole, left or right shard and seqno, followed by those of the blocks before it. */
const chain: Readonly<Record<string, readonly string[]>> = {
  W1: ['W0'],
  W2: ['W1'],
  W3: ['W2'],
  L4: ['W3'],
  R4: ['W3'],
  L5: ['L4'],
  R5: ['R4'],
  R6: ['R5'],
  W7: ['L5', 'R6'],
  W8: ['W7'],
};

function idOf(name: string): BlockId {
  const shard = name.startsWith('W') ? WHOLE : name.startsWith('L') ? LEFT : RIGHT;
  const root_hash = new Uint8Array(32);
  root_hash.set(new TextEncoder().encode(name));
  return { workchain: 0, shard, seqno: Number(name.slice(1)), root_hash, file_hash: root_hash };
}

function nameOf({ shard, seqno }: BlockId): string {
  return `${shard === WHOLE ? 'W' : shard === LEFT ? 'L' : 'R'}${seqno}`;
}

/** Tops by name; with `!` those that the masterchain block says it registers. */
function topsOf(names: readonly string[]): CommittedShardTops {
  const tops = names.map((name): [string, CommittedShardTop] => {
    const id = idOf(name.replace('!', ''));
    return [Buffer.from(id.root_hash).toString('hex'), { id, isRegisteredHere: name.endsWith('!') }];
  });
  return new Map(tops);
}

async function newBlocks(before: readonly string[], tops: readonly string[]) {
  const read: string[] = [];
  const shards = new CommittedShardBlocks(topsOf(tops), async (id) => {
    const name = nameOf(id);
    read.push(name);
    await new Promise((resolve) => setImmediate(resolve));
    return { id, data: id.root_hash, header: { prev: chain[name]!.map(idOf) } } as unknown as BlockFileRead;
  });
  const early = [...read];
  const found = await shards.since(topsOf(before));
  return { found: found.map(({ id }) => nameOf(id)).sort(), read: read.sort(), early };
}

describe('the newly committed blocks of shards', () => {
  it.each<[string, string[], string[], string[]]>([
    ['none', ['W2'], ['W2'], []],
    ['one', ['W2'], ['W3!'], ['W3']],
    ['the first ones', [], ['W2!'], ['W1', 'W2']],
    ['none after a zerostate', [], ['W0!'], []],
    ['several of a shard', ['W1'], ['W3!'], ['W2', 'W3']],
    ['a split', ['W3'], ['L4!', 'R4!'], ['L4', 'R4']],
    ['a split, of a block that is new too', ['W2'], ['L4!', 'R4!'], ['L4', 'R4', 'W3']],
    ['one half of a split shard', ['L4', 'R4'], ['L4', 'R5!'], ['R5']],
    ['a merge', ['L5', 'R6'], ['W7!'], ['W7']],
    ['a merge, and blocks before it', ['L4', 'R4'], ['W8!'], ['L5', 'R5', 'R6', 'W7', 'W8']],
    ['a split and the merge of its halves', ['W2'], ['W7!'], ['L4', 'L5', 'R4', 'R5', 'R6', 'W3', 'W7']],
  ])('are %s, each read once', async (_, before, tops, expected) => {
    const { found, read } = await newBlocks(before, tops);
    expect(found).toEqual(expected);
    expect(read).toEqual(expected);
  });

  it('are fetched as soon as the masterchain block names them, but follow from links alone', async () => {
    expect((await newBlocks(['L4', 'R4'], ['L5!', 'R5'])).early).toEqual(['L5']);
    expect((await newBlocks(['L4', 'R4'], ['L5', 'R5'])).found).toEqual(['L5', 'R5']);
    expect((await newBlocks(['L5', 'R5'], ['L5!', 'R5'])).found).toEqual([]);
  });

  it('fail with the read that failed', async () => {
    const shards = new CommittedShardBlocks(topsOf(['W3!']), () => Promise.reject(new RangeError('gone')));
    await new Promise((resolve) => setImmediate(resolve));
    await expect(shards.since(topsOf(['W2']))).rejects.toThrow('gone');
    // Not waited for, not an unhandled rejection either.
    expect(await shards.since(topsOf(['W3']))).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { blockIdFromTl, blockIdToTl, blockPositionFromTl, blockPositionToTl } from '#formats/tl/block-id.js';

const hashes = { root_hash: new Uint8Array(32), file_hash: new Uint8Array(32) };

describe('shards and seqnos', () => {
  it.each([
    [
      { workchain: -1, shard: -(2n ** 63n), seqno: -1 },
      { workchain: -1, shard: 2n ** 63n, seqno: 0xffffffff },
    ],
    [
      { workchain: 0, shard: 2n ** 62n, seqno: 5 },
      { workchain: 0, shard: 2n ** 62n, seqno: 5 },
    ],
    [
      { workchain: 0, shard: -(2n ** 62n), seqno: 5 },
      { workchain: 0, shard: 3n * 2n ** 62n, seqno: 5 },
    ],
  ])('have a sign in TL only: %o', (inTl, elsewhere) => {
    expect(blockPositionFromTl(inTl)).toEqual(elsewhere);
    expect(blockPositionToTl(elsewhere)).toEqual(inTl);
    expect(blockIdFromTl({ ...inTl, ...hashes })).toEqual({ ...elsewhere, ...hashes });
    expect(blockIdToTl({ ...elsewhere, ...hashes })).toEqual({ ...inTl, ...hashes });
  });
});

import { describe, expect, it } from 'vitest';
import { type BlockId, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { ProvenBlocks } from '#services/chain/proven-blocks.js';
import { errorOf } from '#test/support/error-code.js';

function block(seqno: number, fill = seqno): BlockId {
  return { ...MASTERCHAIN_SHARD, seqno, root_hash: new Uint8Array(32).fill(fill), file_hash: new Uint8Array(32) };
}

describe('what is known of proven blocks', () => {
  it('grows together from several proofs', () => {
    const proven = new ProvenBlocks(4);
    proven.add({ id: block(1), gen_utime: null, mc_seqno: 1 });
    proven.add({ id: block(1), gen_utime: 12, mc_seqno: null });
    expect(proven.get(block(1))).toEqual({ id: block(1), gen_utime: 12, mc_seqno: 1 });
    expect(proven.get(block(2))).toBeNull();
  });

  it('keeps those that were used last', () => {
    const proven = new ProvenBlocks(3);
    for (const seqno of [1, 2, 3]) proven.add({ id: block(seqno), gen_utime: null, mc_seqno: seqno });
    proven.get(block(1));
    proven.add({ id: block(4), gen_utime: null, mc_seqno: 4 });
    expect([1, 2, 3, 4].map((seqno) => proven.get(block(seqno)) !== null)).toEqual([true, false, true, true]);
    expect(proven.size).toBe(3);
  });

  it('does not have two for one place', () => {
    const proven = new ProvenBlocks(3);
    proven.add({ id: block(1), gen_utime: null, mc_seqno: 1 });
    const error = errorOf(() => proven.add({ id: block(1, 7), gen_utime: null, mc_seqno: 1 }));
    expect([error.code, error.class]).toEqual(['chain/two-blocks', 'upstream']);
  });
});

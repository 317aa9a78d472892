import { describe, expect, it } from 'vitest';
import { Builder } from '#formats/cells/builder.js';
import { shardIdent } from '#formats/tlb/block-id.js';
import {
  BlockSignatures,
  ExtraCollatedData,
  type ProofChain,
  proofChain,
  TopBlockDescr,
  TopBlockDescrSet,
} from '#formats/tlb/block-proof.js';
import { type Codec, encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { ProcessedInfo } from '#formats/tlb/out-msg-queue.js';
import { itRefuses, roundTrip } from '#test/support/codec-harness.js';

const header = (number: number) => new Builder().storeUint(number, 8).endCell();

function chain(length: number): ProofChain {
  const prev = length > 1 ? Lazy.ofValue(proofChain(length - 1) as Codec<ProofChain>, chain(length - 1)) : null;
  return { root: header(length), prev };
}

const descr = (len: number): TopBlockDescr => ({
  proof_for: {
    shard_id: shardIdent(0, 0xc000000000000000n),
    seq_no: 12,
    root_hash: new Uint8Array(32).fill(1),
    file_hash: new Uint8Array(32).fill(2),
  },
  signatures: Lazy.ofValue(BlockSignatures, {
    kind: 'block_signatures_ordinary',
    validator_list_hash_short: 1,
    catchain_seqno: 2,
    sig_count: 0,
    sig_weight: 0n,
    signatures: emptySignatures(),
  }),
  len,
  chain: chain(len),
});

function emptySignatures() {
  const cell = new Builder().storeUint(0x11, 8).storeUint(0, 160).storeBit(false).endCell();
  return Lazy.ofCell(BlockSignatures, cell).value.signatures;
}

describe('descriptions of top shard blocks', () => {
  it.each([1, 2, 8])('with a chain of %i proofs', (len) => {
    let link: ProofChain | null = roundTrip(TopBlockDescr, encodeCell(TopBlockDescr, descr(len))).chain;
    for (let left = len; left > 0; left--) {
      expect(link?.root.hash()).toEqual(header(left).hash());
      link = link?.prev?.value ?? null;
    }
    expect(link).toBeNull();
  });

  it('come as a set', () => {
    const key = { workchain: 0, shard: 0xc000000000000000n };
    const collection = roundTrip(
      TopBlockDescrSet,
      encodeCell(TopBlockDescrSet, {
        collection: emptySet().collection.set(key, Lazy.ofValue(TopBlockDescr, descr(3))),
      }),
    ).collection;
    expect(collection.get(key)?.value.len).toBe(3);
    expect(collection.get({ workchain: -1, shard: 0xc000000000000000n })).toBeUndefined();
  });

  it('come with the load of the block', () => {
    const proc_info = ProcessedInfo.of([
      [
        { shard: 1n << 63n, mc_seqno: 7 },
        { last_msg_lt: 5n, last_msg_hash: new Uint8Array(32) },
      ],
    ]);
    const read = roundTrip(
      ExtraCollatedData,
      encodeCell(ExtraCollatedData, { underload: true, overload: false, proc_info }),
    );
    expect([...read.proc_info].map(([key]) => key)).toEqual([{ shard: 1n << 63n, mc_seqno: 7 }]);
  });

  function emptySet() {
    const cell = new Builder().storeUint(0x4ac789f3, 32).storeBit(false).endCell();
    return Lazy.ofCell(TopBlockDescrSet, cell).value;
  }
  const torn = (len: number) =>
    new Builder()
      .storeUint(0xd5, 8)
      .storeBuilder(new Builder().storeUint(0, 2 + 6 + 32 + 64 + 32 + 512))
      .storeBit(false)
      .storeUint(len, 8)
      .storeRef(header(1))
      .endCell();
  itRefuses(TopBlockDescr, [
    { id: 'no proof', cell: torn(0), code: 'tlb/constraint', path: 'len' },
    { id: 'nine proofs', cell: torn(9), code: 'tlb/constraint', path: 'len' },
    { id: 'a shorter chain', cell: torn(2), code: 'cells/slice-no-reference', path: 'chain.prev' },
  ]);
});

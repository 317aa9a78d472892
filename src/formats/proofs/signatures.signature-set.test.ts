import { describe, expect, it } from 'vitest';
import { sha256 } from '#formats/cells/digests.js';
import { type BlockId, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import {
  candidateBlock,
  type SignatureSet,
  type SimplexSignatureSet,
  signedBytes,
} from '#formats/proofs/signatures.js';
import { concatBytes, fromHex, toHex } from '#kernel/bytes.js';
import { errorCode } from '#test/support/error-code.js';

const fill = (byte: number, length = 32): Uint8Array => new Uint8Array(length).fill(byte);
const hex = (text: string): Uint8Array => fromHex(text)!;

const block: BlockId = { ...MASTERCHAIN_SHARD, seqno: 100500, root_hash: fill(0x41), file_hash: fill(0x42) };
const blockTl = concatBytes(hex('ffffffff000000000000008094880100'), fill(0x41), fill(0x42));
const candidates = {
  withoutParents: concatBytes(hex('dcbcf9e8'), blockTl, fill(0x77), hex('a9cccb22')),
  withParent: concatBytes(hex('dcbcf9e8'), blockTl, fill(0x77), hex('f19a4b1a3fcd91b64c000000'), fill(0x99)),
  empty: concatBytes(hex('33d9b472'), blockTl, hex('4c000000'), fill(0x99)),
};

function simplex(candidate: Uint8Array): SimplexSignatureSet {
  return {
    kind: 'simplex',
    validator_set_hash: 0,
    catchain_seqno: 0,
    signatures: [],
    session_id: fill(0x51),
    slot: 77,
    candidate,
  };
}

describe('signed bytes', () => {
  it('of ordinary signatures are the two hashes of the block', () => {
    const set: SignatureSet = { kind: 'ordinary', validator_set_hash: 0, catchain_seqno: 0, signatures: [] };
    expect(toHex(signedBytes(set, block))).toBe(`706e0bc5${'41'.repeat(32)}${'42'.repeat(32)}`);
  });

  it('of simplex signatures are a vote for the candidate, as the published vector has it', () => {
    const bytes = signedBytes(simplex(candidates.withoutParents), block);
    const candidateHash = '56e9d055d2510447f3473eadc80465621f4210230e13b7670a21befff521ffb3';
    expect(toHex(sha256(candidates.withoutParents))).toBe(candidateHash);
    expect(toHex(bytes)).toBe(`f83de3a8${'51'.repeat(32)}2c05e1a7403fcd91b64d000000${candidateHash}000000`);
    expect(bytes.length).toBe(84);
  });

  it.each(Object.entries(candidates))('know the block of a candidate: %s', (_, candidate) => {
    expect(candidateBlock(candidate)).toEqual(block);
  });

  it('are refused for another block than the candidate is about', () => {
    for (const other of [
      { ...block, seqno: 100501 },
      { ...block, workchain: 0 },
      { ...block, shard: 1n },
      { ...block, root_hash: fill(0x40) },
      { ...block, file_hash: fill(0x40) },
    ]) {
      expect(errorCode(() => signedBytes(simplex(candidates.withoutParents), other))).toBe('proofs/signature-block');
    }
  });

  it.each([
    ['nothing', new Uint8Array(0)],
    ['another type', concatBytes(hex('00000000'), candidates.empty.subarray(4))],
    ['another parent type', concatBytes(candidates.withoutParents.subarray(0, 116), hex('00000000'))],
    [
      'a bare id of the parent',
      concatBytes(candidates.withParent.subarray(0, 120), hex('4c000000'), fill(0x99), fill(0, 4)),
    ],
    ['a byte too many', concatBytes(candidates.withoutParents, fill(0, 1))],
    ['a parent cut off', candidates.withParent.subarray(0, 120)],
    ['a byte too few', candidates.empty.subarray(0, 119)],
  ])('are refused when the candidate is %s', (_, candidate) => {
    expect(errorCode(() => candidateBlock(candidate))).toBe('proofs/signature-candidate');
  });
});

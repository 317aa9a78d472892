import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { verifyBlockProof, verifyBlockProofLink } from '#formats/proofs/block-proof.js';
import { keyBlockConfig } from '#formats/proofs/shard-state.js';
import { validatorConfigOf } from '#formats/proofs/validators.js';
import { BlockProof, type BlockSignatures, CryptoSignaturePair, SignedCertificate } from '#formats/tlb/block-proof.js';
import { decodeCell, encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { hashmapE, uintKey } from '#formats/tlb/codec/dictionary.js';
import { blockIdOfProof, changeSignatures } from '#test/support/block-proof-files.js';
import { errorCode, errorOf } from '#test/support/error-code.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

const load = (name: string): Uint8Array => readBytes(vectorPath(`proofs/${name}`));
const keyProof = load('key_proof__3236530');
const keyBlock = blockIdOfProof(keyProof);
const config = validatorConfigOf(keyBlockConfig(verifyBlockProofLink(keyProof, keyBlock).header).config);
const proof = load('proof__3236531');
const id = blockIdOfProof(proof);

const pairDictionary = hashmapE(uintKey(16), CryptoSignaturePair);

/** A proof file with signatures numbered again. */
function withPairs(change: (pairs: CryptoSignaturePair[]) => CryptoSignaturePair[], weight?: bigint): Uint8Array {
  return changeSignatures(proof, (set) => {
    const pairs = change([...set.signatures].map(([, pair]) => pair));
    const signatures = pairDictionary.of(pairs.map((pair, i) => [i, pair] as const));
    return { ...set, signatures, sig_count: pairs.length, sig_weight: weight ?? set.sig_weight };
  });
}

describe('the proof of a masterchain block', () => {
  it('is signed by the shuffled validators that the last key block names', () => {
    expect(config).toMatchObject({ main: 100, shuffle_mc_validators: true });
    expect(config.validators.length).toBe(117);
    const proven = verifyBlockProof(proof, id, config);
    expect(proven.signed_weight).toBe(673180912920353605n);
    expect(proven.header.info).toMatchObject({ seq_no: 3236531, key_block: false, prev_key_block_seqno: 3236530 });
    expect(
      verifyBlockProof(load('proof__3236533'), blockIdOfProof(load('proof__3236533')), config).header.info,
    ).toMatchObject({ gen_catchain_seqno: 51551 });
  });

  it('of the key block that switches shuffling on is signed by validators that are not shuffled yet', () => {
    const before = { ...config, shuffle_mc_validators: false };
    expect(verifyBlockProof(keyProof, keyBlock, before).header.info.key_block).toBe(true);
    expect(errorCode(() => verifyBlockProof(keyProof, keyBlock, config))).toBe('proofs/validator-set-hash');
  });

  it('is refused for another block', () => {
    const others: BlockId[] = [
      { ...id, workchain: 0 },
      { ...id, shard: 1n << 62n },
      { ...id, seqno: id.seqno + 1 },
      { ...id, root_hash: keyBlock.root_hash },
      { ...id, file_hash: keyBlock.file_hash },
    ];
    for (const other of others)
      expect(errorCode(() => verifyBlockProof(proof, other, config))).toBe('proofs/other-block');
  });

  it('is refused when it claims to be of another block, at the link that breaks', () => {
    const claim = (change: Partial<BlockProof['proof_for']>): [Uint8Array, BlockId] => {
      const value = decodeCell(BlockProof, parseBocRoot(proof));
      const bytes = serializeBoc([encodeCell(BlockProof, { ...value, proof_for: { ...value.proof_for, ...change } })]);
      return [bytes, blockIdOfProof(bytes)];
    };
    const codeOf = ([bytes, claimed]: [Uint8Array, BlockId]) =>
      errorCode(() => verifyBlockProof(bytes, claimed, config));
    expect(codeOf(claim({ seq_no: 5 }))).toBe('proofs/header');
    expect(codeOf(claim({ root_hash: keyBlock.root_hash }))).toBe('proofs/root-hash');
    expect(codeOf(claim({ file_hash: keyBlock.file_hash }))).toBe('proofs/signature-invalid');
    expect(codeOf(claim({ shard_id: { shard_pfx_bits: 0, workchain_id: 0, shard_prefix: 0n } }))).toBe('proofs/header');
  });

  it.each<[string, (set: BlockSignatures) => BlockSignatures]>([
    [
      'proofs/validator-set-hash',
      (set) => ({ ...set, validator_list_hash_short: (set.validator_list_hash_short ^ 1) >>> 0 }),
    ],
    ['proofs/catchain-seqno', (set) => ({ ...set, catchain_seqno: set.catchain_seqno + 1 })],
    ['proofs/signature-count', (set) => ({ ...set, sig_count: set.sig_count + 1 })],
    ['proofs/signature-weight-declared', (set) => ({ ...set, sig_weight: set.sig_weight + 1n })],
  ])('is refused with changed signatures: %s', (code, change) => {
    expect(errorCode(() => verifyBlockProof(changeSignatures(proof, change), id, config))).toBe(code);
  });

  it('is refused with a wrong, a foreign, a repeated signature, and with too few', () => {
    const codeOf = (bytes: Uint8Array) => errorCode(() => verifyBlockProof(bytes, id, config));
    const first = (change: (pair: CryptoSignaturePair) => CryptoSignaturePair) =>
      withPairs(([pair, ...rest]) => [change(pair!), ...rest]);
    const foreign = new Uint8Array(32);
    expect(codeOf(first((pair) => ({ ...pair, sign: { kind: 'ed25519_signature', R: foreign, s: foreign } })))).toBe(
      'proofs/signature-invalid',
    );
    expect(codeOf(first((pair) => ({ ...pair, node_id_short: foreign })))).toBe('proofs/signature-unknown-node');
    const pubkey = { pubkey: foreign };
    const certificate = { temp_key: pubkey, valid_since: 0, valid_until: 0 };
    const simple = { kind: 'ed25519_signature', R: foreign, s: foreign } as const;
    const signed_cert = Lazy.ofValue(SignedCertificate, { certificate, certificate_signature: simple });
    const chained = { kind: 'chained_signature', signed_cert, temp_key_signature: simple } as const;
    expect(codeOf(first((pair) => ({ ...pair, sign: chained })))).toBe('proofs/signature-kind');
    expect(codeOf(withPairs((pairs) => [...pairs, pairs[0]!]))).toBe('proofs/signature-duplicate-node');
    expect(codeOf(withPairs((pairs) => pairs.slice(1)))).toBe('proofs/signature-weight-declared');
    expect(codeOf(withPairs((pairs) => pairs.slice(0, 20)))).toBe('proofs/signature-weight');
    expect(codeOf(withPairs(() => []))).toBe('proofs/signature-count');
  });

  it('is refused without signatures, which a proof link does not need', () => {
    const value = decodeCell(BlockProof, parseBocRoot(proof));
    const link = serializeBoc([encodeCell(BlockProof, { ...value, signatures: null })]);
    expect(verifyBlockProofLink(link, id).header.info.seq_no).toBe(3236531);
    const error = errorOf(() => verifyBlockProof(link, id, config));
    expect(error.code).toBe('proofs/signatures-missing');
    expect(error.path).toBe('proof.signatures');
  });

  it('is refused as malformed when it is something else or damaged', () => {
    expect(errorCode(() => verifyBlockProof(new Uint8Array(5), id, config))).toBe('proofs/malformed');
    expect(errorCode(() => verifyBlockProof(proof.subarray(0, 5000), id, config))).toBe('proofs/malformed');
    const { path, class: errorClass, data } = errorOf(() => verifyBlockProof(proof.subarray(1), id, config));
    expect({ path, errorClass, code: data.code }).toEqual({
      path: 'proof',
      errorClass: 'upstream',
      code: 'cells/boc-magic',
    });
  });
});

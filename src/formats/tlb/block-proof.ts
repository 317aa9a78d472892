import type { Cell } from '#formats/cells/cell.js';
import { BlockIdExt } from '#formats/tlb/block-id.js';
import { type Codec, deferred, type Lazy, maybe, ref, type ValueOf } from '#formats/tlb/codec/codec.js';
import { hashmapE, uintKey } from '#formats/tlb/codec/dictionary.js';
import { bits256, bool, cellRef, constrained, uint8, uint32, uint64 } from '#formats/tlb/codec/primitives.js';
import { dependent, type RecordCodec, record, union, variant } from '#formats/tlb/codec/record.js';
import { ProcessedInfo } from '#formats/tlb/out-msg-queue.js';
import { shardKey } from '#formats/tlb/shard-hashes.js';

/** An Ed25519 public key. */
export const SigPubKey = record('ed25519_pubkey#8e81278a pubkey:bits256 = SigPubKey;', { pubkey: bits256 });
export type SigPubKey = ValueOf<typeof SigPubKey>;

/** The two halves of an Ed25519 signature. */
export const CryptoSignatureSimple = variant('ed25519_signature#5 R:bits256 s:bits256 = CryptoSignatureSimple;', {
  R: bits256,
  s: bits256,
});
export type CryptoSignatureSimple = ValueOf<typeof CryptoSignatureSimple>;

/** A temporary key and its validity period in unix seconds. */
export const Certificate = record(
  'certificate#4 temp_key:SigPubKey valid_since:uint32 valid_until:uint32 = Certificate;',
  { temp_key: SigPubKey, valid_since: uint32, valid_until: uint32 },
);
export type Certificate = ValueOf<typeof Certificate>;

/** The data that the permanent key signs for a certificate. */
export const CertificateEnv = record('certificate_env#a419b7d certificate:Certificate = CertificateEnv;', {
  certificate: Certificate,
});
export type CertificateEnv = ValueOf<typeof CertificateEnv>;

/** A certificate and the permanent key's signature of its {@link CertificateEnv}. */
export interface SignedCertificate {
  readonly certificate: Certificate;
  readonly certificate_signature: CryptoSignature;
}
export const SignedCertificate: RecordCodec<SignedCertificate> = record(
  'signed_certificate$_ certificate:Certificate certificate_signature:CryptoSignature = SignedCertificate;',
  {
    certificate: Certificate,
    certificate_signature: deferred('CryptoSignature', (): Codec<CryptoSignature> => CryptoSignature),
  },
);

/** A signature by a temporary key: the certificate of that key, and the signature itself. */
export const ChainedSignature = variant(
  'chained_signature#f signed_cert:^SignedCertificate temp_key_signature:CryptoSignatureSimple = CryptoSignature;',
  { signed_cert: ref(SignedCertificate), temp_key_signature: CryptoSignatureSimple },
);
export type ChainedSignature = ValueOf<typeof ChainedSignature>;

/** A validator's signature by its permanent key (as all are today) or by a temporary one. */
export type CryptoSignature = CryptoSignatureSimple | ChainedSignature;
export const CryptoSignature: Codec<CryptoSignature> = union('CryptoSignature', [
  CryptoSignatureSimple,
  ChainedSignature,
]);

/** A signature and the short id of its node: SHA-256 of the public key in TL form. */
export const CryptoSignaturePair = record(
  'sig_pair$_ node_id_short:bits256 sign:CryptoSignature = CryptoSignaturePair;',
  { node_id_short: bits256, sign: CryptoSignature },
);
export type CryptoSignaturePair = ValueOf<typeof CryptoSignaturePair>;

/** Signatures by an index without meaning. */
const signatures = hashmapE(uintKey(16), CryptoSignaturePair);

/**
 * The validators' signatures of a block: `ordinary` ones sign its two hashes, `simplex` ones the vote for a candidate,
 * whose description is in `candidate_data` (bytes as snake data).
 */
export const BlockSignatures = union('BlockSignatures', [
  variant(
    `block_signatures_ordinary#11 validator_list_hash_short:uint32 catchain_seqno:uint32 sig_count:uint32 sig_weight:uint64
      signatures:(HashmapE 16 CryptoSignaturePair) = BlockSignatures;`,
    {
      validator_list_hash_short: uint32,
      catchain_seqno: uint32,
      sig_count: uint32,
      sig_weight: uint64,
      signatures,
    },
  ),
  variant(
    `block_signatures_simplex#12 validator_list_hash_short:uint32 catchain_seqno:uint32 sig_count:uint32 sig_weight:uint64
      signatures:(HashmapE 16 CryptoSignaturePair) session_id:bits256 slot:uint32 candidate_data:^Cell
      = BlockSignatures;`,
    {
      validator_list_hash_short: uint32,
      catchain_seqno: uint32,
      sig_count: uint32,
      sig_weight: uint64,
      signatures,
      session_id: bits256,
      slot: uint32,
      candidate_data: cellRef,
    },
  ),
]);
export type BlockSignatures = ValueOf<typeof BlockSignatures>;

/** A proof of a block header (`root` is a Merkle proof of the block); proofs of masterchain blocks carry signatures. */
export const BlockProof = record(
  'block_proof#c3 proof_for:BlockIdExt root:^Cell signatures:(Maybe ^BlockSignatures) = BlockProof;',
  { proof_for: BlockIdExt, root: cellRef, signatures: maybe(ref(BlockSignatures)) },
);
export type BlockProof = ValueOf<typeof BlockProof>;

/** Maximum number of blocks of a shard that a masterchain block may commit at once. */
const LONGEST_CHAIN = 8;

/** Proofs of block headers (`root`), each followed by the proof of the previous block. */
export interface ProofChain {
  readonly root: Cell;
  readonly prev: Lazy<ProofChain> | null;
}

const nothing: Codec<null> = { type: 'ProofChain 0', load: () => null, store: () => {} };
const chains: Codec<ProofChain>[] = [];
for (let length = 1; length <= LONGEST_CHAIN; length++) {
  const before = chains.at(-1);
  const prev: Codec<Lazy<ProofChain> | null> =
    before === undefined ? nothing : (ref(before) as Codec<Lazy<ProofChain> | null>);
  chains.push(
    record('chain_link$_ {n:#} root:^Cell prev:n?^(ProofChain n) = ProofChain (n + 1);', { root: cellRef, prev }),
  );
}

/** The codec of `ProofChain length`, `length` from 1 to 8. */
export function proofChain(length: number): Codec<ProofChain> {
  return chains[length - 1] as Codec<ProofChain>;
}

/** A new shard block proposed to the masterchain, with header proofs back to the last committed one. */
export const TopBlockDescr = record(
  `top_block_descr#d5 proof_for:BlockIdExt signatures:(Maybe ^BlockSignatures) len:(## 8) { len >= 1 } { len <= 8 }
    chain:(ProofChain len) = TopBlockDescr;`,
  {
    proof_for: BlockIdExt,
    signatures: maybe(ref(BlockSignatures)),
    len: constrained(uint8, '1 <= len <= 8', (len) => len >= 1 && len <= LONGEST_CHAIN),
    chain: dependent('len', proofChain),
  },
);
export type TopBlockDescr = ValueOf<typeof TopBlockDescr>;

/** Collated data of a masterchain block: the new shard blocks that it commits. */
export const TopBlockDescrSet = record(
  'top_block_descr_set#4ac789f3 collection:(HashmapE 96 ^TopBlockDescr) = TopBlockDescrSet;',
  { collection: hashmapE(shardKey, ref(TopBlockDescr)) },
);
export type TopBlockDescrSet = ValueOf<typeof TopBlockDescrSet>;

/** Collated data of a block: the load observed by the collator. */
export const ExtraCollatedData = record(
  'extra_collated_data#ea59be4c underload:Bool overload:Bool proc_info:ProcessedInfo = ExtraCollatedData;',
  { underload: bool, overload: bool, proc_info: ProcessedInfo },
);
export type ExtraCollatedData = ValueOf<typeof ExtraCollatedData>;

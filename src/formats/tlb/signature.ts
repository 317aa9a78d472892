import type { Codec, ValueOf } from '#formats/tlb/codec/codec.js';
import { deferred, ref } from '#formats/tlb/codec/composites.js';
import { bits256, uint32 } from '#formats/tlb/codec/primitives.js';
import { type RecordCodec, record, variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';

/** An Ed25519 public key. */
export const SigPubKey = record('ed25519_pubkey#8e81278a pubkey:bits256 = SigPubKey;', { pubkey: bits256 });
export type SigPubKey = ValueOf<typeof SigPubKey>;

/** The two halves of an Ed25519 signature. */
export const CryptoSignatureSimple = variant('ed25519_signature#5 R:bits256 s:bits256 = CryptoSignatureSimple;', {
  R: bits256,
  s: bits256,
});
export type CryptoSignatureSimple = ValueOf<typeof CryptoSignatureSimple>;

/** A temporary key and when it may sign, unix seconds. */
export const Certificate = record(
  'certificate#4 temp_key:SigPubKey valid_since:uint32 valid_until:uint32 = Certificate;',
  { temp_key: SigPubKey, valid_since: uint32, valid_until: uint32 },
);
export type Certificate = ValueOf<typeof Certificate>;

/** What the permanent key signs to make a certificate. */
export const CertificateEnv = record('certificate_env#a419b7d certificate:Certificate = CertificateEnv;', {
  certificate: Certificate,
});
export type CertificateEnv = ValueOf<typeof CertificateEnv>;

/** A certificate with the permanent key's signature of its {@link CertificateEnv}. */
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

/** A signature made with a temporary key: the certificate of that key, and the signature itself. */
export const ChainedSignature = variant(
  'chained_signature#f signed_cert:^SignedCertificate temp_key_signature:CryptoSignatureSimple = CryptoSignature;',
  { signed_cert: ref(SignedCertificate), temp_key_signature: CryptoSignatureSimple },
);
export type ChainedSignature = ValueOf<typeof ChainedSignature>;

/** A validator's signature, made with its permanent key (as all are today) or with a temporary one. */
export type CryptoSignature = CryptoSignatureSimple | ChainedSignature;
export const CryptoSignature: Codec<CryptoSignature> = union('CryptoSignature', [
  CryptoSignatureSimple,
  ChainedSignature,
]);

/** A signature and whose it is: the short id of the node, SHA-256 of its public key in TL form. */
export const CryptoSignaturePair = record(
  'sig_pair$_ node_id_short:bits256 sign:CryptoSignature = CryptoSignaturePair;',
  { node_id_short: bits256, sign: CryptoSignature },
);
export type CryptoSignaturePair = ValueOf<typeof CryptoSignaturePair>;

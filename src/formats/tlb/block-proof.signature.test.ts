import { describe, expect, it } from 'vitest';
import { Builder } from '#formats/cells/builder.js';
import { CertificateEnv, CryptoSignature, CryptoSignaturePair } from '#formats/tlb/block-proof.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { toHex } from '#kernel/bytes.js';
import { errorOf } from '#test/support/error-code.js';

const certificate = (builder: Builder): Builder =>
  builder.storeUint(4, 4).storeUint(0x8e81278a, 32).storeUint(9, 256).storeUint(1, 32).storeUint(2, 32);
const simple = (builder: Builder): Builder => builder.storeUint(5, 4).storeUint(6, 256).storeUint(7, 256);

describe('signatures', () => {
  it('with a permanent key', () => {
    const cell = simple(new Builder().storeUint(8, 256)).endCell();
    const pair = decodeCell(CryptoSignaturePair, cell);
    expect(pair.sign).toMatchObject({ kind: 'ed25519_signature', s: new Uint8Array(32).fill(7, 31) });
    expect(toHex(encodeCell(CryptoSignaturePair, pair).hash())).toBe(toHex(cell.hash()));
  });

  it('with a temporary key and its certificate', () => {
    const signed = simple(certificate(new Builder())).endCell();
    const cell = simple(new Builder().storeUint(0xf, 4)).storeRef(signed).endCell();
    const signature = decodeCell(CryptoSignature, cell);
    if (signature.kind !== 'chained_signature') throw new TypeError(signature.kind);
    const { certificate: shown, certificate_signature } = signature.signed_cert.value;
    expect(shown).toMatchObject({
      valid_since: 1,
      valid_until: 2,
      temp_key: { pubkey: new Uint8Array(32).fill(9, 31) },
    });
    expect(certificate_signature.kind).toBe('ed25519_signature');
    expect(toHex(encodeCell(CryptoSignature, signature).hash())).toBe(toHex(cell.hash()));
    const env = certificate(new Builder().storeUint(0xa419b7d, 28)).endCell();
    expect(toHex(encodeCell(CertificateEnv, { certificate: shown }).hash())).toBe(toHex(env.hash()));
  });

  it('of an unknown form are refused', () => {
    const error = errorOf(() => decodeCell(CryptoSignature, new Builder().storeUint(6, 4).storeUint(0, 512).endCell()));
    expect(error.code).toBe('tlb/constructor-tag');
  });
});

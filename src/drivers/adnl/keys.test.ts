import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  bigIntFromBytes,
  bytesFromBigInt,
  ed25519ToX25519,
  FIELD_PRIME,
  generateKeyPair,
  keyPairFromSeed,
  powMod,
  sharedSecret,
  shortId,
} from '#drivers/adnl/keys.js';
import { fromHex, toHex } from '#kernel/bytes.js';

const client = keyPairFromSeed(new Uint8Array(32).fill(1));
const server = keyPairFromSeed(new Uint8Array(32).fill(2));

describe('known keys', () => {
  it('have their public halves', () => {
    expect(toHex(client.publicKey)).toBe('8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c');
    expect(toHex(server.publicKey)).toBe('8139770ea87d175f56a35466c34c7ecccb8d8a91b4ee37a25df60f5b8fc9b394');
  });

  it('have their short id', () => {
    expect(toHex(shortId(server.publicKey))).toBe('28ed1ac51b589bb6097243ff8f5b0f1d8610ad7502a53688eb025e64985d30f2');
  });

  it('share their secret, seen from both sides', () => {
    const secret = '4181d7302557342bdb6d061c4b1eebea828ecb625c3368b7111680793307220b';
    expect(toHex(sharedSecret(client, server.publicKey)!)).toBe(secret);
    expect(toHex(sharedSecret(server, client.publicKey)!)).toBe(secret);
  });
});

it('random keys share a secret', () => {
  for (let i = 0; i < 50; i++) {
    const [a, b] = [generateKeyPair(randomBytes), generateKeyPair(randomBytes)];
    const secret = sharedSecret(a, b.publicKey);
    expect(secret, toHex(a.seed)).not.toBeNull();
    expect(sharedSecret(b, a.publicKey), toHex(a.seed)).toEqual(secret);
  }
});

it('the base point of Ed25519 becomes the base point of X25519', () => {
  const base = bytesFromBigInt((4n * powMod(5n, FIELD_PRIME - 2n)) % FIELD_PRIME);
  expect(bigIntFromBytes(ed25519ToX25519(base)!)).toBe(9n);
});

describe('keys that are refused', () => {
  // The eight points of small order, and the encodings of the same y with the other sign.
  const smallOrder = [
    '0100000000000000000000000000000000000000000000000000000000000000',
    '0100000000000000000000000000000000000000000000000000000000000080',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0000000000000000000000000000000000000000000000000000000000000080',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  ];
  it.each(smallOrder)('small order: %s', (hex) => {
    expect(sharedSecret(client, fromHex(hex)!)).toBeNull();
  });

  it('no canonical encoding: y of p and above', () => {
    for (let above = 0n; above < 19n; above++) {
      expect(ed25519ToX25519(bytesFromBigInt(FIELD_PRIME + above)), String(above)).toBeNull();
    }
  });

  it('no point of the curve: half of all y', () => {
    let refused = 0;
    for (let y = 2n; y < 202n; y++) if (ed25519ToX25519(bytesFromBigInt(y)) === null) refused++;
    expect(refused).toBeGreaterThan(70);
    expect(refused).toBeLessThan(130);
    expect(sharedSecret(client, bytesFromBigInt(2n))).toBeNull();
  });
});

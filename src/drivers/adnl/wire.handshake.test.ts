import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { keyPairFromSeed, shortId } from '#drivers/adnl/keys.js';
import { buildHandshake, readHandshake, sessionKeys } from '#drivers/adnl/wire.js';
import { toHex } from '#kernel/bytes.js';
import { errorCode } from '#test/support/error-code.js';

const client = keyPairFromSeed(new Uint8Array(32).fill(1));
const server = keyPairFromSeed(new Uint8Array(32).fill(2));
const params = Uint8Array.from({ length: 160 }, (_, i) => i);
const packet = buildHandshake(server.publicKey, client, params);
const read = (bytes: Uint8Array) => readHandshake(bytes, server, shortId(server.publicKey));

describe('the known handshake', () => {
  it('has its bytes', () => {
    expect(packet.length).toBe(256);
    expect(toHex(packet.subarray(0, 64))).toBe(toHex(shortId(server.publicKey)) + toHex(client.publicKey));
    expect(toHex(packet.subarray(64, 96))).toBe('448ebbc9e1a31220a2f3830c18eef61b9bd070e5084b7fa2a359fe729184c719');
    expect(toHex(packet.subarray(96, 128))).toBe('4a143534f38c5bb024189ed922c832ee7f2d47a32934f139e538a55845488ffb');
    const digest = createHash('sha256').update(packet).digest('hex');
    expect(digest).toBe('8fec3da4cca0d2343bac87fa658884678699a513ad49249b67e640fd9abcc1bd');
  });

  it('is read back', () => {
    expect(toHex(read(packet))).toBe(toHex(params));
  });

  it('gives the keys of both directions', () => {
    const { toClient, toServer } = sessionKeys(params);
    expect([toClient.key[0], toServer.key[0], toClient.iv[0], toServer.iv[0]]).toEqual([0, 32, 64, 80]);
    expect([toClient, toServer].map(({ key, iv }) => [key.length, iv.length])).toEqual([
      [32, 16],
      [32, 16],
    ]);
  });
});

it('a flip of any byte is found', () => {
  const codes = new Set<string>();
  for (let at = 0; at < packet.length; at++) {
    const broken = Uint8Array.from(packet);
    broken[at]! ^= 1 << (at % 8);
    // The sign of the client's point does not matter for the secret.
    if (at === 63 && (broken[at]! & 0x7f) === (packet[at]! & 0x7f)) continue;
    const code = errorCode(() => read(broken));
    expect(code, `byte ${at}`).toMatch(/^adnl\/handshake-/);
    codes.add(code);
  }
  expect([...codes].sort()).toEqual([
    'adnl/handshake-client-key',
    'adnl/handshake-digest',
    'adnl/handshake-other-server',
  ]);
});

it('random bytes are refused', () => {
  for (let i = 0; i < 20; i++) {
    const bytes = randomBytes(256);
    expect(errorCode(() => read(bytes))).toBe('adnl/handshake-other-server');
    bytes.set(packet.subarray(0, 32));
    expect(errorCode(() => read(bytes))).toMatch(/^adnl\/handshake-(client-key|digest)$/);
  }
});

it('a key of the server that is none is the fault of the caller', () => {
  expect(errorCode(() => buildHandshake(new Uint8Array(32), client, params))).toBe('adnl/server-key');
});

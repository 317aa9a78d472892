import { createCipheriv, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { MAX_PACKET_LENGTH, PacketReader, PacketWriter, sessionKeys } from '#drivers/adnl/wire.js';
import { concatBytes, toHex } from '#kernel/bytes.js';
import { errorCode } from '#test/support/error-code.js';

const params = Uint8Array.from({ length: 160 }, (_, i) => i);
const key = sessionKeys(params).toClient;

/** A reader that keeps what it reads, and the lengths of what it holds on the way. */
function collect(maxLength = MAX_PACKET_LENGTH) {
  const payloads: Uint8Array[] = [];
  const reader = new PacketReader(key, maxLength, (payload) => payloads.push(Uint8Array.from(payload)));
  return { reader, payloads };
}

function wire(...payloads: Uint8Array[]): Uint8Array {
  const writer = new PacketWriter(key, randomBytes);
  return concatBytes(...payloads.flatMap((each) => writer.frame(each)).map((part) => writer.encrypt(part)));
}

/** Any plain bytes, encrypted as the stream is. */
function encrypted(plain: Uint8Array): Uint8Array {
  return createCipheriv('aes-256-ctr', key.key, key.iv).update(plain);
}

function stating(length: number): Uint8Array {
  const plain = Buffer.alloc(4);
  plain.writeUInt32LE(length);
  return encrypted(plain);
}

it('the known first packet of a server has its bytes, and is read', () => {
  const writer = new PacketWriter(key, (size) => new Uint8Array(size).fill(3));
  const bytes = concatBytes(...writer.frame(new Uint8Array(0)).map((part) => writer.encrypt(part)));
  expect(toHex(bytes)).toBe(
    'e37edf3f9459b9ec907861c48e58b254b3761d90abed674288eabecd53555632e673a0e8c96a02c194328e3dce0179aacf9ac9427cb9f46af4aeb0b661f363579e3d8121',
  );
  const { reader, payloads } = collect();
  reader.push(bytes);
  expect(payloads).toEqual([new Uint8Array(0)]);
});

describe('packets of many sizes', () => {
  const sizes = [0, 1, 3, 100, 4092, 4096, 16 * 1024, 16 * 1024 + 1, 70_000, 5, 0, 200_000];
  const sent = sizes.map((size) => randomBytes(size));
  const bytes = wire(...sent);

  it.each([1, 2, 3, 4, 5, 63, 64, 1460, 4096, 65_536, bytes.length])('are read from pieces of %d bytes', (step) => {
    const { reader, payloads } = collect();
    for (let at = 0; at < bytes.length; at += step) reader.push(bytes.subarray(at, at + step));
    expect(payloads.map((each) => each.length)).toEqual(sizes);
    for (const [i, payload] of payloads.entries()) {
      expect(Buffer.compare(payload, sent[i]!), `packet ${i}`).toBe(0);
    }
    expect([reader.isMidPacket, reader.bufferedBytes, reader.packets]).toEqual([false, 0, sizes.length]);
  });

  it('each have a nonce of their own', () => {
    const writer = new PacketWriter(key, randomBytes);
    const nonces = Array.from({ length: 200 }, () => toHex(writer.frame(new Uint8Array(0))[0]!.subarray(4, 36)));
    expect(new Set(nonces).size).toBe(200);
  });
});

describe('a false length', () => {
  it.each([0, 1, 63, MAX_PACKET_LENGTH + 1, 0x7fffffff, 0xffffffff])(
    '%d is refused as soon as it is known',
    (length) => {
      for (const step of [1, 4]) {
        const { reader } = collect();
        const bytes = stating(length);
        const code = errorCode(() => {
          for (let at = 0; at < 4; at += step) reader.push(bytes.subarray(at, at + step));
        });
        expect(code).toBe('adnl/packet-length');
      }
    },
  );

  it('is one above a limit of our own', () => {
    expect(errorCode(() => collect(1000).reader.push(wire(new Uint8Array(937))))).toBe('adnl/packet-length');
    const { reader, payloads } = collect(1000);
    reader.push(wire(new Uint8Array(936)));
    expect(payloads).toHaveLength(1);
  });

  it('of the greatest packet is allowed', () => {
    const { reader, payloads } = collect();
    reader.push(wire(new Uint8Array(MAX_PACKET_LENGTH - 64)));
    expect(payloads[0]!.length).toBe(MAX_PACKET_LENGTH - 64);
  });
});

it('memory follows what has come, not what is stated', () => {
  const { reader } = collect();
  const cipher = createCipheriv('aes-256-ctr', key.key, key.iv);
  const head = Buffer.alloc(4);
  head.writeUInt32LE(MAX_PACKET_LENGTH);
  reader.push(cipher.update(head));
  expect(reader.bufferedBytes).toBeLessThan(100);
  for (let come = 0; come < 100_000; come += 100) {
    reader.push(cipher.update(new Uint8Array(100)));
    expect(reader.bufferedBytes).toBeLessThanOrEqual(Math.max(4096, 2 * (come + 104)));
  }
  reader.stop();
  expect(reader.bufferedBytes).toBe(0);
});

it('a flip of any byte is refused, whole or in pieces', () => {
  const bytes = wire(randomBytes(40));
  for (const step of [7, bytes.length]) {
    for (let at = 4; at < bytes.length; at++) {
      const broken = Uint8Array.from(bytes);
      broken[at]! ^= 0x10;
      const { reader, payloads } = collect();
      const code = errorCode(() => {
        for (let from = 0; from < broken.length; from += step) reader.push(broken.subarray(from, from + step));
      });
      expect(code, `byte ${at}`).toBe('adnl/packet-hash');
      expect(payloads).toEqual([]);
    }
  }
});

it('nothing is given out after stop, not even from the bytes at hand', () => {
  const payloads: Uint8Array[] = [];
  const reader = new PacketReader(key, MAX_PACKET_LENGTH, (payload) => {
    payloads.push(payload);
    reader.stop();
  });
  const bytes = wire(Uint8Array.of(1), Uint8Array.of(2), Uint8Array.of(3));
  reader.push(bytes);
  reader.push(bytes);
  expect(payloads).toEqual([Buffer.of(1)]);
});

it('a large payload is framed without a copy', () => {
  const payload = randomBytes(100_000);
  expect(new PacketWriter(key, randomBytes).frame(payload)[1]).toBe(payload);
});

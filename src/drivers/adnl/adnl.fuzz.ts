import { createCipheriv } from 'node:crypto';
import { keyPairFromSeed, shortId } from '#drivers/adnl/keys.js';
import {
  buildHandshake,
  HANDSHAKE_BYTES,
  PARAMS_BYTES,
  PacketReader,
  PacketWriter,
  readHandshake,
  readMessage,
  writeAnswer,
  writePing,
  writeQuery,
} from '#drivers/adnl/wire.js';
import type { FuzzTarget } from '#test/fuzz/fuzz-target.js';
import { mutate } from '#test/fuzz/mutate.js';
import type { Random } from '#test/fuzz/random.js';

const key = { key: new Uint8Array(32).fill(5), iv: new Uint8Array(16).fill(6) };
const server = keyPairFromSeed(new Uint8Array(32).fill(2));
const serverId = shortId(server.publicKey);

function message(random: Random): Uint8Array {
  const id = random.bytes(32);
  const data = random.bytes(random.chance(1, 10) ? random.below(6000) : random.below(300));
  const whole = random.pick([
    () => writeAnswer(id, data),
    () => writeQuery(id, data),
    () => writePing(1n),
    () => data,
  ])();
  return random.chance(1, 3) ? mutate(whole, random, 2) : whole;
}

/** Plaintext frames, some damaged; they are encrypted with the reader's key, so that the reader sees the damage. */
function frames(random: Random): Uint8Array {
  const writer = new PacketWriter(key, (size) => random.bytes(size));
  const parts: Uint8Array[] = [];
  for (let left = random.between(1, 5); left > 0; left--) parts.push(...writer.frame(message(random)));
  const plain = Buffer.concat(parts);
  return random.chance(1, 2) ? mutate(plain, random, 2) : plain;
}

function readInPieces(plain: Uint8Array): void {
  const wire = createCipheriv('aes-256-ctr', key.key, key.iv).update(plain);
  let read = 0;
  const reader = new PacketReader(key, 2 ** 20, (payload) => {
    read += payload.length + 68;
    readMessage(payload);
  });
  // The chunk size is derived from the input, so that the input alone determines the run.
  const step = 1 + ((plain[4] ?? 0) % 100) ** 2;
  for (let at = 0; at < wire.length; at += step) reader.push(wire.subarray(at, at + step));
  if (read > plain.length) throw new RangeError(`read ${read} bytes out of ${plain.length}`);
}

export const fuzzTargets: readonly FuzzTarget[] = [
  {
    name: 'adnl-packets',
    make: frames,
    run: readInPieces,
    allowed: ({ code }) => ['adnl/packet-length', 'adnl/packet-hash', 'adnl/bad-message'].includes(code),
  },
  {
    name: 'adnl-message',
    make: message,
    run: (input) => {
      readMessage(input);
    },
    allowed: ({ code }) => code === 'adnl/bad-message',
  },
  {
    name: 'adnl-handshake',
    make: (random) => {
      const client = keyPairFromSeed(random.bytes(32));
      const packet = buildHandshake(server.publicKey, client, random.bytes(PARAMS_BYTES));
      const damaged = Uint8Array.from(packet);
      for (let flips = random.below(3); flips > 0; flips--) damaged[random.below(HANDSHAKE_BYTES)]! ^= random.uint32();
      return damaged;
    },
    run: (input) => {
      readHandshake(input, server, serverId);
    },
    allowed: ({ code }) => code.startsWith('adnl/handshake-'),
  },
];

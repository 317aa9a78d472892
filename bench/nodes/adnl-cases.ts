import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { MAX_PACKET_LENGTH, PacketReader, PacketWriter } from '#drivers/adnl/wire.js';
import type { BenchCase } from '../harness.js';

const require = createRequire(import.meta.url);

/** The parts of the npm package adnl that take bytes off the wire. */
interface NpmClient extends EventEmitter {
  onData(data: Buffer): void;
}
const { ADNLClient } = require('adnl/dist/client.js') as { ADNLClient: { readonly prototype: NpmClient } };
const { createDecipheriv } = require('adnl/dist/aes.js') as {
  createDecipheriv(name: string, key: Buffer, iv: Buffer): unknown;
};

const MEGABYTE = 1e6;
/** Bytes on the wire that one call reads: the other party is slow. */
const OURS = 8 * MEGABYTE;
const THEIRS = MEGABYTE;
/** What a socket hands over at once. */
const CHUNK = 65_536;
/** A client that is ready for packets. */
const READY = 1;

const FRAMES = [
  { name: '256 B', size: 256 },
  { name: '1 KiB', size: 1024 },
  { name: '16 KiB', size: 16_384, target: 20 },
];

/** From encrypted bytes to checked payloads. */
export function adnlCases(): BenchCase[] {
  const key = { key: randomBytes(32), iv: randomBytes(16) };
  return FRAMES.map(({ name, size, ...target }): BenchCase => {
    const ours = wire(key, size, OURS);
    const theirs = wire(key, size, THEIRS);
    const readOurs = (chunks: readonly Buffer[]): number => {
      let count = 0;
      const reader = new PacketReader(key, MAX_PACKET_LENGTH, () => count++);
      for (const chunk of chunks) reader.push(chunk);
      return count;
    };
    const readTheirs = (chunks: readonly Buffer[]): number => {
      let count = 0;
      const client = npmClient(key);
      client.on('data', () => count++);
      for (const chunk of chunks) client.onData(chunk);
      return count;
    };
    if (readOurs(theirs.chunks) !== readTheirs(theirs.chunks)) throw new Error('the two sides read other packets');
    return {
      name: `receive ADNL packets of ${name}`,
      unit: 'MB',
      work: ours.bytes / MEGABYTE,
      baselineWork: theirs.bytes / MEGABYTE,
      ...target,
      ours: () => readOurs(ours.chunks),
      baseline: () => readTheirs(theirs.chunks),
    };
  });
}

/** A client of the npm package as it is after its handshake, without a socket. */
function npmClient({ key, iv }: { key: Buffer; iv: Buffer }): NpmClient {
  const client = Object.create(ADNLClient.prototype) as NpmClient;
  EventEmitter.call(client);
  const decipher = createDecipheriv('aes-256-ctr', key, iv);
  return Object.assign(client, { _state: READY, buffer: Buffer.alloc(0), decipher });
}

/** Packets with payloads of one size, encrypted, in the pieces that a socket hands over. */
function wire(key: { key: Buffer; iv: Buffer }, size: number, total: number) {
  const writer = new PacketWriter(key, (count) => randomBytes(count));
  const parts: Uint8Array[] = [];
  for (let bytes = 0; bytes < total; ) {
    for (const part of writer.frame(randomBytes(size))) {
      parts.push(writer.encrypt(part));
      bytes += part.length;
    }
  }
  const all = Buffer.concat(parts);
  const chunks: Buffer[] = [];
  for (let at = 0; at < all.length; at += CHUNK) chunks.push(all.subarray(at, at + CHUNK));
  return { chunks, bytes: all.length };
}

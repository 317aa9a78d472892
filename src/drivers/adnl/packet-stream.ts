import { type Cipher, createCipheriv, createDecipheriv, createHash, type Decipher, hash } from 'node:crypto';
import { adnlErrors } from '#drivers/adnl/errors.js';
import type { CipherKey } from '#drivers/adnl/handshake.js';
import type { RandomBytes } from '#drivers/adnl/keys.js';

/** Bytes of a packet's length, and of its nonce and hash, which the length counts. */
const LENGTH_BYTES = 4;
const NONCE_BYTES = 32;
const HASH_BYTES = 32;

/** Least and greatest length that a packet may state: nonce, payload and hash. */
export const MIN_PACKET_LENGTH = NONCE_BYTES + HASH_BYTES;
export const MAX_PACKET_LENGTH = 2 ** 24;

/** What a packet needs beside its payload on the wire. */
export const PACKET_OVERHEAD = LENGTH_BYTES + MIN_PACKET_LENGTH;

/** First size of the buffer of a packet that came in part. */
const FIRST_BUFFER = 4096;

/**
 * Reads packets, `length:# nonce:int256 payload hash:int256`, all of it encrypted as one stream, from bytes as they come
 * off the wire, in pieces of any size. Memory stays below twice what has really come of the packet at hand, whatever
 * length it states.
 */
export class PacketReader {
  readonly #decipher: Decipher;
  readonly #maxLength: number;
  readonly #onPacket: (payload: Uint8Array) => void;
  /** The packet that came in part, from its length on; `#have` bytes of it are there. */
  #buffer: Buffer = Buffer.alloc(0);
  #have = 0;
  /** What the packet at hand states, or -1 as long as that is not known. */
  #length = -1;
  #packets = 0;
  #stopped = false;

  /**
   * @param maxLength greatest length a packet may state: {@link MAX_PACKET_LENGTH} or less
   * @param onPacket is given each payload, empty ones too. It is a view into a larger buffer: who keeps it copies it.
   */
  constructor({ key, iv }: CipherKey, maxLength: number, onPacket: (payload: Uint8Array) => void) {
    this.#decipher = createDecipheriv('aes-256-ctr', key, iv);
    this.#maxLength = maxLength;
    this.#onPacket = onPacket;
  }

  /** How many packets have been read. */
  get packets(): number {
    return this.#packets;
  }

  /** Whether a packet has come in part. */
  get isMidPacket(): boolean {
    return this.#have > 0;
  }

  /** Bytes held for the packet that came in part. */
  get bufferedBytes(): number {
    return this.#buffer.length;
  }

  /** No packet is given out any more, not even from the bytes at hand. */
  stop(): void {
    this.#stopped = true;
    this.#reset();
  }

  /** Takes the next bytes. @throws adnl/packet-length, adnl/packet-hash; the stream cannot be read on after that */
  push(chunk: Uint8Array): void {
    if (this.#stopped) return;
    const plain = this.#decipher.update(chunk);
    const end = plain.length;
    let at = 0;
    while (at < end && !this.#stopped) {
      if (this.#have > 0 || end - at < LENGTH_BYTES) {
        at = this.#collect(plain, at);
        continue;
      }
      const length = this.#checkLength(plain.readUInt32LE(at));
      if (end - at < LENGTH_BYTES + length) {
        at = this.#collect(plain, at);
        continue;
      }
      at += LENGTH_BYTES;
      this.#deliver(plain, at, at + length);
      at += length;
    }
  }

  /** Adds bytes to the packet that came in part; gives where they end. */
  #collect(plain: Buffer, from: number): number {
    let at = from;
    if (this.#length < 0) {
      at = this.#append(plain, at, LENGTH_BYTES);
      if (this.#have < LENGTH_BYTES) return at;
      this.#length = this.#checkLength(this.#buffer.readUInt32LE(0));
    }
    const whole = LENGTH_BYTES + this.#length;
    at = this.#append(plain, at, whole);
    if (this.#have < whole) return at;
    const packet = this.#buffer;
    this.#reset();
    this.#deliver(packet, LENGTH_BYTES, whole);
    return at;
  }

  /** Copies bytes from `at` on until the packet has `whole` of them or there are no more; gives where they end. */
  #append(plain: Buffer, at: number, whole: number): number {
    const end = Math.min(plain.length, at + whole - this.#have);
    const needed = this.#have + end - at;
    if (needed > this.#buffer.length) {
      const size = Math.max(needed, Math.min(whole, Math.max(this.#buffer.length * 2, FIRST_BUFFER)));
      const larger = Buffer.allocUnsafeSlow(size);
      this.#buffer.copy(larger, 0, 0, this.#have);
      this.#buffer = larger;
    }
    plain.copy(this.#buffer, this.#have, at, end);
    this.#have = needed;
    return end;
  }

  #checkLength(length: number): number {
    if (length < MIN_PACKET_LENGTH || length > this.#maxLength) {
      throw adnlErrors['packet-length']({ length, least: MIN_PACKET_LENGTH, most: this.#maxLength });
    }
    return length;
  }

  #deliver(bytes: Buffer, start: number, end: number): void {
    const hashAt = end - HASH_BYTES;
    const digest = hash('sha256', bytes.subarray(start, hashAt), 'buffer');
    if (digest.compare(bytes, hashAt, end) !== 0) throw adnlErrors['packet-hash']({ length: end - start });
    this.#packets++;
    this.#onPacket(bytes.subarray(start + NONCE_BYTES, hashAt));
  }

  #reset(): void {
    this.#buffer = Buffer.alloc(0);
    this.#have = 0;
    this.#length = -1;
  }
}

/** Payloads up to this size are copied into one piece with their frame. */
const COPIED_PAYLOAD = 16 * 1024;

/** Nonces are drawn this many at a time. */
const NONCES_AT_ONCE = 64;

/** Frames payloads and encrypts the stream of frames. */
export class PacketWriter {
  readonly #cipher: Cipher;
  readonly #randomBytes: RandomBytes;
  #random: Uint8Array = new Uint8Array(0);
  #randomAt = 0;

  constructor({ key, iv }: CipherKey, randomBytes: RandomBytes) {
    this.#cipher = createCipheriv('aes-256-ctr', key, iv);
    this.#randomBytes = randomBytes;
  }

  /** The plain bytes of a packet, in one or more pieces; a large payload is one of them, not copied. */
  frame(payload: Uint8Array): readonly Uint8Array[] {
    const { length } = payload;
    const copied = length <= COPIED_PAYLOAD;
    const head = Buffer.allocUnsafe(copied ? PACKET_OVERHEAD + length : LENGTH_BYTES + NONCE_BYTES);
    head.writeUInt32LE(MIN_PACKET_LENGTH + length, 0);
    head.set(this.#nonce(), LENGTH_BYTES);
    if (copied) {
      const hashAt = LENGTH_BYTES + NONCE_BYTES + length;
      head.set(payload, LENGTH_BYTES + NONCE_BYTES);
      head.set(hash('sha256', head.subarray(LENGTH_BYTES, hashAt), 'buffer'), hashAt);
      return [head];
    }
    const digest = createHash('sha256').update(head.subarray(LENGTH_BYTES)).update(payload).digest();
    return [head, payload, digest];
  }

  /** Encrypts the next bytes of the stream: what {@link frame} gave, in its order, cut anywhere. */
  encrypt(plain: Uint8Array): Uint8Array {
    return this.#cipher.update(plain);
  }

  #nonce(): Uint8Array {
    if (this.#randomAt === this.#random.length) {
      this.#random = this.#randomBytes(NONCE_BYTES * NONCES_AT_ONCE);
      this.#randomAt = 0;
    }
    this.#randomAt += NONCE_BYTES;
    return this.#random.subarray(this.#randomAt - NONCE_BYTES, this.#randomAt);
  }
}

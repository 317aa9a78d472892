import { type Cipher, createCipheriv, createDecipheriv, createHash, type Decipher, hash } from 'node:crypto';
import { adnlErrors } from '#drivers/adnl/errors.js';
import { type KeyPair, type RandomBytes, sharedSecret, shortId } from '#drivers/adnl/keys.js';
import { AdnlMessageAnswer, AdnlMessageQuery, TcpPing, TcpPong } from '#formats/tl/adnl.js';
import type { TlConstructor } from '#formats/tl/constructor.js';
import { TlReader } from '#formats/tl/tl-reader.js';
import { TlWriter } from '#formats/tl/tl-writer.js';
import { bytesEqual, toHex, toLatin1 } from '#kernel/bytes.js';
import { TernError } from '#kernel/tern-error.js';

/** Size of the handshake packet. */
export const HANDSHAKE_BYTES = 256;

/** Size of the random session parameters in the handshake, from which the keys are derived. */
export const PARAMS_BYTES = 160;

/** AES-256-CTR key and initial counter of one direction. */
export interface CipherKey {
  /** 32 bytes. */
  readonly key: Uint8Array;
  /** 16 bytes. */
  readonly iv: Uint8Array;
}

/** Session keys of a connection. */
export interface SessionKeys {
  readonly toClient: CipherKey;
  readonly toServer: CipherKey;
}

/** Derives the session keys from the {@link PARAMS_BYTES} random bytes. */
export function sessionKeys(params: Uint8Array): SessionKeys {
  return {
    toClient: { key: params.slice(0, 32), iv: params.slice(64, 80) },
    toServer: { key: params.slice(32, 64), iv: params.slice(80, 96) },
  };
}

/**
 * Builds the handshake packet: short id of the server, public key of the client, SHA-256 of the params, encrypted params.
 *
 * @param client a new key pair for each connection
 * @param params {@link PARAMS_BYTES} random bytes
 * @throws adnl/server-key when the server key is invalid
 */
export function buildHandshake(serverPublicKey: Uint8Array, client: KeyPair, params: Uint8Array): Uint8Array {
  const secret = sharedSecret(client, serverPublicKey);
  if (secret === null) throw adnlErrors['server-key']({ key: toHex(serverPublicKey) });
  const digest = hash('sha256', params, 'buffer');
  const { key, iv } = handshakeKey(secret, digest);
  const encrypted = createCipheriv('aes-256-ctr', key, iv).update(params);
  return Buffer.concat([shortId(serverPublicKey), client.publicKey, digest, encrypted], HANDSHAKE_BYTES);
}

/**
 * Verifies a handshake packet and returns its params.
 *
 * @param packet {@link HANDSHAKE_BYTES} bytes
 * @param serverId short id of `server`
 * @throws adnl/handshake-other-server, adnl/handshake-client-key, adnl/handshake-digest
 */
export function readHandshake(packet: Uint8Array, server: KeyPair, serverId: Uint8Array): Uint8Array {
  const wanted = packet.subarray(0, 32);
  if (!bytesEqual(wanted, serverId)) throw adnlErrors['handshake-other-server']({ wanted: toHex(wanted) });
  const clientKey = packet.subarray(32, 64);
  const secret = sharedSecret(server, clientKey);
  if (secret === null) throw adnlErrors['handshake-client-key']({ key: toHex(clientKey) });
  const digest = packet.subarray(64, 96);
  const { key, iv } = handshakeKey(secret, digest);
  const params = createDecipheriv('aes-256-ctr', key, iv).update(packet.subarray(96));
  if (!bytesEqual(hash('sha256', params, 'buffer'), digest)) throw adnlErrors['handshake-digest']({});
  return params;
}

function handshakeKey(secret: Uint8Array, digest: Uint8Array): CipherKey {
  return {
    key: Buffer.concat([secret.subarray(0, 16), digest.subarray(16, 32)]),
    iv: Buffer.concat([digest.subarray(0, 4), secret.subarray(20, 32)]),
  };
}

/** Sizes of the length field, the nonce and the hash; the length covers nonce and hash. */
const LENGTH_BYTES = 4;
const NONCE_BYTES = 32;
const HASH_BYTES = 32;

/** Minimum and maximum of the length field: nonce, payload and hash. */
export const MIN_PACKET_LENGTH = NONCE_BYTES + HASH_BYTES;
export const MAX_PACKET_LENGTH = 2 ** 24;

/** Bytes of a packet on the wire besides its payload. */
export const PACKET_OVERHEAD = LENGTH_BYTES + MIN_PACKET_LENGTH;

/** Initial buffer size for an incomplete packet. */
const FIRST_BUFFER = 4096;

/**
 * Decrypts the incoming stream and splits it into packets, `length:# nonce:int256 payload hash:int256`, from chunks of any
 * size. Memory stays below twice the bytes received of the incomplete packet, whatever length it claims.
 */
export class PacketReader {
  readonly #decipher: Decipher;
  readonly #maxLength: number;
  readonly #onPacket: (payload: Uint8Array) => void;
  /** The incomplete packet including its length field; `#have` bytes are received. */
  #buffer: Buffer = Buffer.alloc(0);
  #have = 0;
  /** Length field of the incomplete packet; -1 while unknown. */
  #length = -1;
  #packets = 0;
  #stopped = false;

  /**
   * @param maxLength maximum of the length field: {@link MAX_PACKET_LENGTH} or less
   * @param onPacket receives each payload, including empty ones, as a view into a larger buffer: copy it to retain it
   */
  constructor({ key, iv }: CipherKey, maxLength: number, onPacket: (payload: Uint8Array) => void) {
    this.#decipher = createDecipheriv('aes-256-ctr', key, iv);
    this.#maxLength = maxLength;
    this.#onPacket = onPacket;
  }

  /** Number of packets read. */
  get packets(): number {
    return this.#packets;
  }

  /** Whether a packet is incomplete. */
  get isMidPacket(): boolean {
    return this.#have > 0;
  }

  /** Buffer size of the incomplete packet. */
  get bufferedBytes(): number {
    return this.#buffer.length;
  }

  /** Stops delivering packets, including those in the current chunk. */
  stop(): void {
    this.#stopped = true;
    this.#reset();
  }

  /** Processes the next bytes. @throws adnl/packet-length, adnl/packet-hash; the stream is unusable afterwards */
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

  /** Appends bytes to the incomplete packet; returns the end position in `plain`. */
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

  /** Copies bytes from `at` until the packet has `whole` bytes or `plain` ends; returns the end position. */
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

/** Payloads up to this size are copied into one buffer with their frame. */
const COPIED_PAYLOAD = 16 * 1024;

/** Number of nonces generated at once. */
const NONCES_AT_ONCE = 64;

/** Frames payloads and encrypts the outgoing stream. */
export class PacketWriter {
  readonly #cipher: Cipher;
  readonly #randomBytes: RandomBytes;
  #random: Uint8Array = new Uint8Array(0);
  #randomAt = 0;

  constructor({ key, iv }: CipherKey, randomBytes: RandomBytes) {
    this.#cipher = createCipheriv('aes-256-ctr', key, iv);
    this.#randomBytes = randomBytes;
  }

  /** Plaintext of a packet in one or more parts; a large payload is a part of its own and not copied. */
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

  /** Encrypts the next bytes of the stream: the output of {@link frame} in order, split anywhere. */
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

/** Maximum overhead of a query or an answer: constructor id, query id, length and padding. */
const MESSAGE_OVERHEAD = 4 + 32 + 4 + 3;

/** The decoded payload of a packet. `data` is a view into the payload. */
export type PacketMessage =
  | { readonly kind: 'query' | 'answer'; readonly id: Uint8Array; readonly data: Uint8Array }
  | { readonly kind: 'ping' | 'pong'; readonly randomId: bigint }
  | { readonly kind: 'nothing' | 'other' };

const NOTHING: PacketMessage = { kind: 'nothing' };
const OTHER: PacketMessage = { kind: 'other' };

/**
 * Decodes the payload of a packet: `adnl.message.query`, `adnl.message.answer`, `tcp.ping`, `tcp.pong`; `nothing` for an
 * empty payload, `other` for unknown messages.
 *
 * @throws adnl/bad-message when a message of a known kind is malformed
 */
export function readMessage(payload: Uint8Array): PacketMessage {
  const reader = new TlReader(payload);
  try {
    const message = readFrom(reader);
    if (message.kind !== 'nothing' && message.kind !== 'other') reader.end();
    return message;
  } catch (error) {
    if (!(error instanceof TernError)) throw error;
    throw adnlErrors['bad-message']({ length: payload.length, problem: error.message }, error);
  }
}

function readFrom(reader: TlReader): PacketMessage {
  if (reader.left < 4) return reader.left === 0 ? NOTHING : OTHER;
  switch (reader.constructorId()) {
    case AdnlMessageAnswer.id: {
      const { query_id, answer } = AdnlMessageAnswer.load(reader);
      return { kind: 'answer', id: query_id, data: answer };
    }
    case AdnlMessageQuery.id: {
      const { query_id, query } = AdnlMessageQuery.load(reader);
      return { kind: 'query', id: query_id, data: query };
    }
    case TcpPing.id:
      return { kind: 'ping', randomId: TcpPing.load(reader).random_id };
    case TcpPong.id:
      return { kind: 'pong', randomId: TcpPong.load(reader).random_id };
    default:
      return OTHER;
  }
}

/** `adnl.message.query`. @param id 32 bytes */
export function writeQuery(id: Uint8Array, query: Uint8Array): Uint8Array {
  return write(AdnlMessageQuery, { kind: 'adnl.message.query', query_id: id, query }, query.length);
}

/** `adnl.message.answer`. @param id 32 bytes */
export function writeAnswer(id: Uint8Array, answer: Uint8Array): Uint8Array {
  return write(AdnlMessageAnswer, { kind: 'adnl.message.answer', query_id: id, answer }, answer.length);
}

/** `tcp.ping` */
export function writePing(randomId: bigint): Uint8Array {
  return write(TcpPing, { random_id: randomId }, 0);
}

/** `tcp.pong` */
export function writePong(randomId: bigint): Uint8Array {
  return write(TcpPong, { random_id: randomId }, 0);
}

/** The id of a query as a map key: a string of 32 characters, one per byte. */
export function queryKey(id: Uint8Array): string {
  return toLatin1(id);
}

/** Maximum data bytes of a query or an answer in a packet of this length. */
export function maxDataBytes(maxPacketLength: number): number {
  return maxPacketLength - MIN_PACKET_LENGTH - MESSAGE_OVERHEAD;
}

function write<Value>(type: TlConstructor<string, Value>, value: Value, dataBytes: number): Uint8Array {
  const writer = new TlWriter(dataBytes + MESSAGE_OVERHEAD);
  writer.constructorId(type.id);
  type.store(value, writer);
  return writer.finish();
}

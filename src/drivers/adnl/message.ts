import { adnlErrors } from '#drivers/adnl/errors.js';
import { MIN_PACKET_LENGTH } from '#drivers/adnl/packet-stream.js';

/** Constructor ids, as the first four bytes of a message read little-endian. */
const QUERY = 0xb48bf97a;
const ANSWER = 0x0fac8416;
const PING = 0x4d082b9a;
const PONG = 0xdc69fb03;

const ID_BYTES = 32;

/** Most that a message needs beside its `bytes`: constructor, id, long form of a length, padding. */
const MESSAGE_OVERHEAD = 4 + ID_BYTES + 8 + 3;

/** What the payload of a packet holds. `data` is a view into the payload. */
export type AdnlMessage =
  | { readonly kind: 'query' | 'answer'; readonly id: string; readonly data: Uint8Array }
  | { readonly kind: 'ping' | 'pong'; readonly randomId: bigint }
  | { readonly kind: 'nothing' | 'other' };

const NOTHING: AdnlMessage = { kind: 'nothing' };
const OTHER: AdnlMessage = { kind: 'other' };

/**
 * Reads the payload of a packet: `adnl.message.query`, `adnl.message.answer`, `tcp.ping`, `tcp.pong`; `nothing` for an
 * empty one, `other` for messages of another kind.
 *
 * @throws adnl/bad-message when it is of a known kind and not well-formed
 */
export function readMessage(payload: Uint8Array): AdnlMessage {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  if (bytes.length < 4) return bytes.length === 0 ? NOTHING : OTHER;
  switch (bytes.readUInt32LE(0)) {
    case ANSWER:
      return { kind: 'answer', id: idAt(bytes), data: dataAt(bytes) };
    case QUERY:
      return { kind: 'query', id: idAt(bytes), data: dataAt(bytes) };
    case PING:
      return { kind: 'ping', randomId: randomIdOf(bytes) };
    case PONG:
      return { kind: 'pong', randomId: randomIdOf(bytes) };
    default:
      return OTHER;
  }
}

/** `adnl.message.query query_id:int256 query:bytes`. @param id 32 characters, see {@link queryId} */
export function writeQuery(id: string, query: Uint8Array): Uint8Array {
  return writeWithData(QUERY, id, query);
}

/** `adnl.message.answer query_id:int256 answer:bytes`. @param id 32 characters, see {@link queryId} */
export function writeAnswer(id: string, answer: Uint8Array): Uint8Array {
  return writeWithData(ANSWER, id, answer);
}

/** `tcp.ping random_id:long` */
export function writePing(randomId: bigint): Uint8Array {
  return writeWithRandomId(PING, randomId);
}

/** `tcp.pong random_id:long` */
export function writePong(randomId: bigint): Uint8Array {
  return writeWithRandomId(PONG, randomId);
}

/** The id of a query as a string of 32 characters, one for each byte: it serves as a key of maps. */
export function queryId(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, ID_BYTES).toString('latin1');
}

/** How many bytes of `data` fit into a packet of this length. */
export function maxDataBytes(maxPacketLength: number): number {
  return maxPacketLength - MIN_PACKET_LENGTH - MESSAGE_OVERHEAD;
}

function idAt(bytes: Buffer): string {
  if (bytes.length < 4 + ID_BYTES + 4) throw malformed(bytes, 'it ends before its data');
  return bytes.toString('latin1', 4, 4 + ID_BYTES);
}

function dataAt(bytes: Buffer): Uint8Array {
  const at = 4 + ID_BYTES;
  const first = bytes[at]!;
  if (first === 255) throw malformed(bytes, 'its data states more bytes than a packet can hold');
  const prefix = first < 254 ? 1 : 4;
  const length = first < 254 ? first : bytes.readUIntLE(at + 1, 3);
  const end = at + prefix + length;
  if (end + padding(prefix + length) !== bytes.length) {
    throw malformed(bytes, `its data states ${length} bytes, which does not fit`);
  }
  // No Buffer: its slice() would not copy.
  return new Uint8Array(bytes.buffer, bytes.byteOffset + at + prefix, length);
}

function randomIdOf(bytes: Buffer): bigint {
  if (bytes.length !== 12) throw malformed(bytes, 'a ping or pong has 12 bytes');
  return bytes.readBigInt64LE(4);
}

function writeWithData(tag: number, id: string, data: Uint8Array): Uint8Array {
  const { length } = data;
  const prefix = length < 254 ? 1 : 4;
  const at = 4 + ID_BYTES;
  const out = Buffer.allocUnsafe(at + prefix + length + padding(prefix + length));
  out.writeUInt32LE(tag, 0);
  out.write(id, 4, ID_BYTES, 'latin1');
  if (prefix === 1) out[at] = length;
  else out.writeUInt32LE(length * 256 + 254, at);
  out.set(data, at + prefix);
  out.fill(0, at + prefix + length);
  return out;
}

function writeWithRandomId(tag: number, randomId: bigint): Uint8Array {
  const out = Buffer.allocUnsafe(12);
  out.writeUInt32LE(tag, 0);
  out.writeBigInt64LE(randomId, 4);
  return out;
}

function padding(length: number): number {
  return -length & 3;
}

function malformed(bytes: Uint8Array, problem: string): Error {
  return adnlErrors['bad-message']({ length: bytes.length, problem });
}

import { adnlErrors } from '#drivers/adnl/errors.js';
import { MIN_PACKET_LENGTH } from '#drivers/adnl/packet-stream.js';
import type { TlConstructor } from '#formats/tl/constructor.js';
import { AdnlMessageAnswer, AdnlMessageQuery, TcpPing, TcpPong } from '#formats/tl/generated/adnl.js';
import { TlReader } from '#formats/tl/tl-reader.js';
import { TlWriter } from '#formats/tl/tl-writer.js';
import { TernError } from '#kernel/errors/tern-error.js';

/** Most that a query or an answer needs beside its data: constructor id, query id, length and padding. */
const MESSAGE_OVERHEAD = 4 + 32 + 4 + 3;

/** What the payload of a packet holds. `data` is a view into the payload. */
export type AdnlMessage =
  | { readonly kind: 'query' | 'answer'; readonly id: Uint8Array; readonly data: Uint8Array }
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

function readFrom(reader: TlReader): AdnlMessage {
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

/** The id of a query as a key of maps: a string of 32 characters, one for each byte. */
export function queryKey(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('latin1');
}

/** How many bytes of data fit into a query or an answer in a packet of this length. */
export function maxDataBytes(maxPacketLength: number): number {
  return maxPacketLength - MIN_PACKET_LENGTH - MESSAGE_OVERHEAD;
}

function write<Value>(type: TlConstructor<string, Value>, value: Value, dataBytes: number): Uint8Array {
  const writer = new TlWriter(dataBytes + MESSAGE_OVERHEAD);
  writer.constructorId(type.id);
  type.store(value, writer);
  return writer.finish();
}

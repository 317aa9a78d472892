import { toHex } from '#kernel/bytes.js';
import { replayErrors } from '#localnet/replay/errors.js';

/** A file in an archive pack. Nodes name them `block_(…)`, `proof_(…)`, `prooflink_(…)`. */
export interface PackEntry {
  readonly name: string;
  /** Offset in the pack, in bytes. */
  readonly offset: number;
  /** A view into the pack. */
  readonly data: Uint8Array;
}

const MAGIC = 0xae8fdd01;
const ENTRY_MAGIC = 0x1e8b;

/** Whether bytes start like an archive pack. */
export function isArchivePack(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && viewOf(bytes).getUint32(0, true) === MAGIC;
}

/**
 * The entries of a node's archive pack: 4 bytes `ae8fdd01`, then for each file u16 0x1e8b, u16 length of the name, u32
 * length of the data, the name, the data; all numbers little-endian.
 *
 * @param file name of the pack in errors
 * @throws replay/not-a-pack, replay/damaged-pack, replay/torn-pack
 */
export function* readArchivePack(bytes: Uint8Array, file: string): Generator<PackEntry> {
  if (!isArchivePack(bytes))
    throw replayErrors['not-a-pack']({ file, found: toHex(bytes.subarray(0, 4)) || 'nothing' });
  yield* readPackEntries(bytes, 4, file);
}

/**
 * The same from the offset of an entry on.
 * @throws replay/damaged-pack, replay/torn-pack
 */
export function* readPackEntries(bytes: Uint8Array, start: number, file: string): Generator<PackEntry> {
  const view = viewOf(bytes);
  const text = new TextDecoder();
  let offset = start;
  while (offset < bytes.length) {
    const left = bytes.length - offset;
    if (left < 8) throw replayErrors['torn-pack']({ file, offset, needed: 8, left });
    if (view.getUint16(offset, true) !== ENTRY_MAGIC) {
      throw replayErrors['damaged-pack']({ file, offset, found: toHex(bytes.subarray(offset, offset + 2)) });
    }
    const dataAt = offset + 8 + view.getUint16(offset + 2, true);
    const end = dataAt + view.getUint32(offset + 4, true);
    if (end > bytes.length) throw replayErrors['torn-pack']({ file, offset, needed: end - offset, left });
    yield { name: text.decode(bytes.subarray(offset + 8, dataAt)), offset, data: bytes.subarray(dataAt, end) };
    offset = end;
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Header of an archive pack. */
export function archivePackHead(): Uint8Array {
  const head = new Uint8Array(4);
  viewOf(head).setUint32(0, MAGIC, true);
  return head;
}

/** Header of an entry: 8 bytes and the name. */
export function packEntryHead(name: string, dataLength: number): Uint8Array {
  const text = new TextEncoder().encode(name);
  const head = new Uint8Array(8 + text.length);
  const view = viewOf(head);
  view.setUint16(0, ENTRY_MAGIC, true);
  view.setUint16(2, text.length, true);
  view.setUint32(4, dataLength, true);
  head.set(text, 8);
  return head;
}

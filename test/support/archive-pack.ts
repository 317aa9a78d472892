/** One file of an archive pack. Names of nodes: `block_(…)`, `proof_(…)`, `prooflink_(…)`. */
export interface PackEntry {
  readonly name: string;
  /** A view into the pack. */
  readonly data: Uint8Array;
}

const MAGIC = 0xae8fdd01;
const ENTRY_MAGIC = 0x1e8b;

/**
 * The entries of an archive pack of a node: 4 bytes `ae8fdd01` (little endian), then for each file
 * u16 0x1e8b, u16 length of the name, u32 length of the data (all little endian), the name, the data.
 *
 * @throws RangeError that says at which byte the pack is torn or not a pack
 */
export function* readArchivePack(bytes: Uint8Array): Generator<PackEntry> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 4 || view.getUint32(0, true) !== MAGIC)
    throw new RangeError('archive pack: does not start with ae8fdd01');
  const text = new TextDecoder();
  let at = 4;
  while (at < bytes.length) {
    if (at + 8 > bytes.length) throw torn(at, 8, bytes.length);
    const magic = view.getUint16(at, true);
    if (magic !== ENTRY_MAGIC)
      throw new RangeError(`archive pack: entry at byte ${at} starts with ${magic.toString(16)}, not 1e8b`);
    const nameLength = view.getUint16(at + 2, true);
    const dataLength = view.getUint32(at + 4, true);
    const nameAt = at + 8;
    const dataAt = nameAt + nameLength;
    const end = dataAt + dataLength;
    if (end > bytes.length) throw torn(at, end - at, bytes.length);
    yield { name: text.decode(bytes.subarray(nameAt, dataAt)), data: bytes.subarray(dataAt, end) };
    at = end;
  }
}

/** A pack that holds just these entries. */
export function writeArchivePack(entries: Iterable<PackEntry>): Uint8Array {
  const parts: Uint8Array[] = [new Uint8Array([0x01, 0xdd, 0x8f, 0xae])];
  for (const { name, data } of entries) {
    const nameBytes = new TextEncoder().encode(name);
    const head = new DataView(new ArrayBuffer(8));
    head.setUint16(0, ENTRY_MAGIC, true);
    head.setUint16(2, nameBytes.length, true);
    head.setUint32(4, data.length, true);
    parts.push(new Uint8Array(head.buffer), nameBytes, data);
  }
  return new Uint8Array(Buffer.concat(parts));
}

function torn(at: number, needed: number, length: number): RangeError {
  return new RangeError(`archive pack: torn: the entry at byte ${at} needs ${needed} bytes, ${length - at} are left`);
}

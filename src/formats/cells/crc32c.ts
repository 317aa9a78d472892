/** Tables for eight bytes at a time ("slicing by 8") of CRC-32C: Castagnoli polynomial 0x1edc6f41, reflected. */
const tables: readonly Uint32Array[] = makeTables();

function makeTables(): readonly Uint32Array[] {
  const all = Array.from({ length: 8 }, () => new Uint32Array(256));
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ 0x82f63b78;
    all[0]![byte] = crc;
  }
  for (let slice = 1; slice < 8; slice++) {
    for (let byte = 0; byte < 256; byte++) {
      const previous = all[slice - 1]![byte]!;
      all[slice]![byte] = (previous >>> 8) ^ all[0]![previous & 0xff]!;
    }
  }
  return all;
}

/** CRC-32C of `bytes` as an unsigned number (RFC 3720 §B.4); in bags of cells it is stored least significant byte first. */
export function crc32c(bytes: Uint8Array): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = tables as [
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
  ];
  let crc = -1;
  let at = 0;
  for (; at + 8 <= bytes.length; at += 8) {
    crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    crc =
      t7[crc & 0xff]! ^
      t6[(crc >>> 8) & 0xff]! ^
      t5[(crc >>> 16) & 0xff]! ^
      t4[crc >>> 24]! ^
      t3[bytes[at + 4]!]! ^
      t2[bytes[at + 5]!]! ^
      t1[bytes[at + 6]!]! ^
      t0[bytes[at + 7]!]!;
  }
  for (; at < bytes.length; at++) crc = (crc >>> 8) ^ t0[(crc ^ bytes[at]!) & 0xff]!;
  return ~crc >>> 0;
}

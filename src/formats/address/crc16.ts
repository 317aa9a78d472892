const table = makeTable();

function makeTable(): Uint16Array {
  const all = new Uint16Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    all[byte] = crc;
  }
  return all;
}

/** CRC-16/XMODEM (polynomial 0x1021, start 0, not reflected) of `bytes[0, end)`: 0..65535. */
export function crc16(bytes: Uint8Array, end: number = bytes.length): number {
  let crc = 0;
  for (let i = 0; i < end; i++) crc = ((crc << 8) & 0xffff) ^ table[(crc >> 8) ^ bytes[i]!]!;
  return crc;
}

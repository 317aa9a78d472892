import { crc16 } from '#formats/address/crc16.js';

const encoder = new TextEncoder();

/** The id of the get method with this name, as compilers number them: `crc16(name) & 0xffff | 0x10000`. */
export function methodIdOf(name: string): number {
  const bytes = encoder.encode(name);
  return crc16(bytes, bytes.length) | 0x10000;
}

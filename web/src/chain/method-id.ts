import { crc16 } from '#formats/address/address.js';

/** The id of a get-method: CRC-16 of its name, with bit 16 set. */
export function methodId(name: string): number {
  return crc16(new TextEncoder().encode(name)) | 0x10000;
}

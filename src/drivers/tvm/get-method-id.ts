import { tvmErrors } from '#drivers/tvm/errors.js';
import { crc16 } from '#formats/address/crc16.js';

const encoder = new TextEncoder();

/**
 * The id by which a contract knows a get method: of a name `crc16(name) & 0xffff | 0x10000`, as compilers number them;
 * a number, or a text that is one in decimal, is the id itself.
 *
 * @throws tvm/bad-request when it is empty or no int32
 */
export function getMethodId(method: string | number): number {
  if (typeof method === 'string' && !/^-?\d+$/.test(method)) {
    if (method === '') throw refuse('empty');
    const bytes = encoder.encode(method);
    return crc16(bytes, bytes.length) | 0x10000;
  }
  const id = Number(method);
  if ((id | 0) !== id) throw refuse(String(method));
  return id;
}

function refuse(found: string) {
  return tvmErrors['bad-request']({ field: 'method', found, accepted: 'a name, or a number from -2^31 to 2^31 - 1' });
}

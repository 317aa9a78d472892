import { tvmErrors } from '#drivers/tvm/errors.js';
import { methodIdOf } from '#formats/tlb/method-id.js';

/**
 * The id by which a contract knows a get method: that of its name; a number, or a text that is one in decimal, is the id
 * itself.
 *
 * @throws tvm/bad-request when it is empty or no int32
 */
export function getMethodId(method: string | number): number {
  if (typeof method === 'string' && !/^-?\d+$/.test(method)) {
    if (method === '') throw refuse('empty');
    return methodIdOf(method);
  }
  const id = Number(method);
  if ((id | 0) !== id) throw refuse(String(method));
  return id;
}

function refuse(found: string) {
  return tvmErrors['bad-request']({ field: 'method', found, accepted: 'a name, or a number from -2^31 to 2^31 - 1' });
}

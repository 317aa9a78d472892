import { Type } from '@sinclair/typebox';
import { v2Errors } from '#api/v2/errors.js';

/** `method`: the name of a get method, or its number. Texts that are numbers, decimal or hexadecimal, are numbers. */
export const method = Type.Transform(
  Type.Union([Type.String(), Type.Integer({ format: 'int32' })], {
    description:
      'Name of the get method, or its id: a number, also as text in decimal or hexadecimal. The id of a name is ' +
      '`crc16(name) | 0x10000`.',
    examples: ['seqno'],
  }),
)
  .Decode(decodeMethod)
  .Encode((value) => value);

/** @throws v2/parameter-value */
function decodeMethod(value: string | number): string | number {
  if (typeof value === 'string' && !/^[+-]?(0[xX][0-9a-fA-F]+|[0-9]+)$/.test(value)) {
    if (value === '') throw v2Errors['parameter-value']({ problem: 'it is empty' });
    return value;
  }
  const id = typeof value === 'number' ? value : signedNumber(value);
  if ((id | 0) === id) return id;
  throw v2Errors['parameter-value']({ problem: `${value} is no id of a get method: -2147483648 to 2147483647` });
}

/** `Number` knows no sign in front of hexadecimal digits. */
function signedNumber(text: string): number {
  if (text.startsWith('-')) return -Number(text.slice(1));
  return Number(text.startsWith('+') ? text.slice(1) : text);
}

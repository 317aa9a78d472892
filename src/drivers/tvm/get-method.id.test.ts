import { expect, it } from 'vitest';
import { getMethodId } from '#drivers/tvm/get-method.js';

it('numbers names as compilers do', () => {
  expect(getMethodId('seqno')).toBe(85143);
  expect(getMethodId('get_public_key')).toBe(78748);
  expect(getMethodId('get_jetton_data')).toBe(106029);
  expect(getMethodId('get_wallet_data')).toBe(97026);
  expect(getMethodId('0x14c97')).not.toBe(85143);
});

it('takes numbers, and texts that are such in decimal, as they are', () => {
  expect(getMethodId(85143)).toBe(85143);
  expect(getMethodId('85143')).toBe(85143);
  expect(getMethodId('-1')).toBe(-1);
  expect(getMethodId(0)).toBe(0);
});

it('refuses what is neither', () => {
  for (const method of ['', 1.5, 2 ** 31, '99999999999', Number.NaN]) {
    expect(() => getMethodId(method)).toThrow(expect.objectContaining({ code: 'tvm/bad-request' }));
  }
});

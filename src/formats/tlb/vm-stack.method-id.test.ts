import { expect, it } from 'vitest';
import { methodIdOf } from '#formats/tlb/vm-stack.js';

it('numbers names as compilers do', () => {
  expect(methodIdOf('seqno')).toBe(85143);
  expect(methodIdOf('get_jetton_data')).toBe(106029);
  expect(methodIdOf('85143')).not.toBe(85143);
});

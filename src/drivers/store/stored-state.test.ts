import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AccountStatusCode,
  accountStatusName,
  decodeState,
  encodeState,
  type StateFields,
} from '#drivers/store/stored-state.js';
import { errorCode } from '#test/support/error-code.js';

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
const maybeHash = fc.option(hash);
const amount = fc.bigInt({ min: 0n, max: 2n ** 248n - 1n });
const state: fc.Arbitrary<StateFields> = fc.record({
  status: fc.constantFrom(...Object.values(AccountStatusCode)),
  balance: amount,
  extra_currencies: fc.option(
    fc
      .array(fc.tuple(fc.integer({ min: 0, max: 2 ** 32 - 1 }), amount), { minLength: 1, maxLength: 200 })
      .map((entries) => new Map(entries)),
  ),
  extra_hash: maybeHash,
  frozen_hash: maybeHash,
  code_hash: maybeHash,
  data_hash: maybeHash,
});

describe('a stored state', () => {
  it('reads as it was written', () => {
    fc.assert(
      fc.property(state, (fields) => {
        expect(decodeState(encodeState(fields))).toEqual({
          ...fields,
          status: accountStatusName(fields.status),
          extra_currencies: fields.extra_currencies ?? new Map(),
        });
      }),
    );
  });

  it('of a usual wallet takes 70 bytes, and of nothing two', () => {
    const hash32 = new Uint8Array(32);
    const none = { extra_currencies: null, extra_hash: null, frozen_hash: null, code_hash: null, data_hash: null };
    const wallet = {
      ...none,
      status: AccountStatusCode.active,
      balance: 1_234_567_890n,
      code_hash: hash32,
      data_hash: hash32,
    };
    expect(encodeState(wallet).length).toBe(70);
    expect(encodeState({ ...none, status: AccountStatusCode.nonexist, balance: 0n }).length).toBe(2);
  });

  it('is refused when bytes are missing or left over', () => {
    fc.assert(
      fc.property(state, fc.nat(), (fields, at) => {
        const bytes = encodeState(fields);
        expect(errorCode(() => decodeState(bytes.subarray(0, at % bytes.length)))).toBe('store/stored-value');
        expect(errorCode(() => decodeState(new Uint8Array([...bytes, 0])))).toBe('store/stored-value');
      }),
    );
  });
});

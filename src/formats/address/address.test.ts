import { readFileSync } from 'node:fs';
import { Address as CoreAddress } from '@ton/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Address, parseAddress } from '#formats/address/address.js';
import { fromHex, toHex } from '#kernel/bytes.js';
import { errorCode } from '#test/support/error-code.js';

interface Row {
  readonly source: string;
  readonly raw: string;
  readonly bounceable: string;
  readonly non_bounceable?: string;
}
const rows: readonly Row[] = JSON.parse(
  readFileSync(new URL('../../../vectors/address/addresses.json', import.meta.url), 'utf8'),
);
const anyHash = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe('writing', () => {
  it.each(rows)('$raw', ({ raw, bounceable, non_bounceable }) => {
    const [workchain, hash] = raw.split(':') as [string, string];
    const address = Address.ofParts(Number(workchain), fromHex(hash) as Uint8Array);
    expect(address.toRaw()).toBe(raw);
    expect(address.toFriendly()).toBe(bounceable);
    expect(address.toFriendly({ urlSafe: false })).toBe(bounceable.replace(/-/g, '+').replace(/_/g, '/'));
    if (non_bounceable !== undefined) expect(address.toFriendly({ bounceable: false })).toBe(non_bounceable);
    expect(`${address} ${JSON.stringify({ address })}`).toBe(`${raw} {"address":"${raw}"}`);
  });

  it('gives what @ton/core gives, with all flags', () => {
    const workchains = fc.integer({ min: -128, max: 127 });
    fc.assert(
      fc.property(workchains, anyHash, fc.boolean(), fc.boolean(), fc.boolean(), (workchain, hash, b, t, u) => {
        const ours = Address.ofParts(workchain, hash);
        const theirs = new CoreAddress(workchain, Buffer.from(hash));
        expect(ours.toFriendly({ bounceable: b, testnet: t, urlSafe: u })).toBe(
          theirs.toString({ bounceable: b, testOnly: t, urlSafe: u }),
        );
        expect(ours.toRaw()).toBe(theirs.toRawString());
      }),
      { numRuns: 500 },
    );
  });

  it('has a raw form for each int32 workchain, a user-friendly one for each int8', () => {
    const hash = new Uint8Array(32);
    for (const workchain of [-(2 ** 31), -129, -128, -1, 0, 127, 128, 2 ** 31 - 1]) {
      const address = Address.ofParts(workchain, hash);
      expect(parseAddress(address.toRaw()).address.workchain).toBe(workchain);
      if (workchain >= -128 && workchain <= 127) {
        expect(parseAddress(address.toFriendly()).address.workchain).toBe(workchain);
      } else {
        expect(errorCode(() => address.toFriendly())).toBe('address/workchain');
      }
    }
  });
});

describe('parts', () => {
  it('refuses what is no address', () => {
    const hash = new Uint8Array(32);
    for (const workchain of [2 ** 31, -(2 ** 31) - 1, 0.5, Number.NaN]) {
      expect(
        errorCode(() => Address.ofParts(workchain, hash)),
        String(workchain),
      ).toBe('address/workchain');
    }
    for (const length of [0, 31, 33]) {
      expect(errorCode(() => Address.ofParts(0, new Uint8Array(length)))).toBe('address/hash-length');
    }
  });

  it('are what equality looks at', () => {
    fc.assert(
      fc.property(anyHash, fc.nat(31), fc.integer({ min: 1, max: 255 }), (hash, at, flip) => {
        const address = Address.ofParts(0, hash);
        const other = hash.slice();
        expect(address.equals(Address.ofParts(0, other))).toBe(true);
        expect(address.equals(Address.ofParts(-1, other))).toBe(false);
        other[at]! ^= flip;
        expect(address.equals(Address.ofParts(0, other)), toHex(other)).toBe(false);
      }),
    );
  });
});

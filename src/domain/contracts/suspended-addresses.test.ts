import { describe, expect, it } from 'vitest';
import { isSuspended, isSuspendedOnMainnet } from '#domain/contracts/suspended-addresses.js';
import { Address, parseAddress } from '#formats/address/address.js';
import { configDictionary, configParam } from '#formats/tlb/config/config-params.js';
import { mainnetConfig } from '#test/support/tvm-contract.js';

const listed = parseAddress('-1:E69571E7B9F58EDFEBEFA297E547F36920532289DBE9FF1B76D107FCBAC30104').address;
const other = Address.ofParts(0, listed.hash);
const END = 1_803_189_600;

describe('isSuspendedOnMainnet', () => {
  it('knows who, and until when', () => {
    expect(isSuspendedOnMainnet(listed, END - 1)).toBe(true);
    expect(isSuspendedOnMainnet(listed, END)).toBe(false);
    expect(isSuspendedOnMainnet(other, 0)).toBe(false);
  });

  it('says what parameter 44 of a configuration of mainnet says', () => {
    const list = configParam(configDictionary(mainnetConfig), 44) ?? null;
    expect(list?.suspended_until).toBe(END);
    const addresses = [...list!.addresses].map(([address]) => address);
    expect(addresses).toHaveLength(180);
    for (const address of addresses) expect(isSuspendedOnMainnet(address, END - 1)).toBe(true);
  });
});

describe('isSuspended', () => {
  it('goes by the list of the network', () => {
    const list = configParam(configDictionary(mainnetConfig), 44) ?? null;
    expect(isSuspended(listed, END - 1, list)).toBe(true);
    expect(isSuspended(listed, END, list)).toBe(false);
    expect(isSuspended(other, END - 1, list)).toBe(false);
    expect(isSuspended(listed, END - 1, null)).toBe(false);
  });
});

import { expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { toHex } from '#kernel/bytes.js';
import { Faucet } from '#localnet/node/faucet.js';
import { fundedWallets } from '#localnet/wallets/wallet-contract.js';

const to = Address.ofParts(0, new Uint8Array(32).fill(7));

it('sends each transfer under a number of its own, a thousand in a second', () => {
  let now = 1_700_000_000;
  const faucet = new Faucet(fundedWallets()[0]!, { now: () => now, random: () => 0.999 });
  const hashes = new Set<string>();
  for (let sent = 0; sent < 1_023; sent++) {
    const { message, dest } = faucet.transfer(to, 1n, null);
    expect(dest).toBe(faucet.address);
    hashes.add(toHex(message.hash()));
  }
  expect(hashes.size).toBe(1_023);
  now += 1;
  hashes.add(toHex(faucet.transfer(to, 1n, null).message.hash()));
  expect(hashes.size).toBe(1_024);
});

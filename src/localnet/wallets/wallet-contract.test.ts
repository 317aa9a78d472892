import { mnemonicToPrivateKey, mnemonicValidate } from '@ton/crypto';
import { WalletContractV3R2, WalletContractV4, WalletContractV5R1 } from '@ton/ton';
import { describe, expect, it } from 'vitest';
import { toHex } from '#kernel/bytes.js';
import { fundedWallets, seedOfMnemonic, signingKey, TOTAL_SUPPLY } from '#localnet/wallets/wallet-contract.js';

const [faucet, ...wallets] = fundedWallets();

/** The address that @ton/ton takes for a key. */
function addressInCore(version: string, options: { workchain: number; publicKey: Buffer }): string {
  if (version === 'v3r2') return WalletContractV3R2.create(options).address.toRawString();
  if (version === 'v4r2') return WalletContractV4.create(options).address.toRawString();
  return WalletContractV5R1.create(options).address.toRawString();
}

describe('funded wallets', () => {
  it('are a faucet, two of each version, and one in the masterchain', () => {
    const kinds = fundedWallets().map(({ version, address }) => `${address.workchain} ${version}`);
    expect(kinds).toEqual(['0 highload-v3', '0 v3r2', '0 v3r2', '0 v4r2', '0 v4r2', '0 v5r1', '0 v5r1', '-1 v3r2']);
    expect(faucet!.mnemonic).toBeNull();
    expect(new Set(fundedWallets().map(({ address }) => address.toRaw())).size).toBe(8);
    expect(fundedWallets().reduce((sum, { balance }) => sum + balance, 0n)).toBe(TOTAL_SUPPLY);
  });

  it.each(wallets)('have words that give key and address in other programs: $version', async (wallet) => {
    const words = [...wallet.mnemonic!];
    expect(words.length).toBe(24);
    expect(await mnemonicValidate(words)).toBe(true);
    const { publicKey, secretKey } = await mnemonicToPrivateKey(words);
    expect(toHex(seedOfMnemonic(words))).toBe(toHex(wallet.seed));
    expect(toHex(secretKey.subarray(0, 32))).toBe(toHex(wallet.seed));
    expect(toHex(signingKey(wallet.seed).publicKey)).toBe(toHex(publicKey));
    const { workchain } = wallet.address;
    expect(addressInCore(wallet.version, { workchain, publicKey })).toBe(wallet.address.toRaw());
  });
});

describe('words', () => {
  it('that are not those of a wallet are refused', () => {
    const words = wallets[0]!.mnemonic!;
    expect(() => seedOfMnemonic([...words].reverse())).toThrowError(/24 words are not a valid/);
    expect(() => seedOfMnemonic([])).toThrowError(/0 words are not a valid/);
  });

  it('and a seed of the wrong length, too', () => {
    expect(() => signingKey(new Uint8Array(64))).toThrowError(/32 bytes, not 64/);
  });
});

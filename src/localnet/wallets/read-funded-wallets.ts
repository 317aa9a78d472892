import { readFileSync } from 'node:fs';
import { fromHex } from '#kernel/bytes/bytes.js';
import type { FundedWallet, WalletVersion } from '#localnet/wallets/funded-wallets.js';
import { signingKey } from '#localnet/wallets/signing-key.js';
import { walletContract } from '#localnet/wallets/wallet-contract.js';

/** Nanotons that all accounts have together when a local network begins. */
export const TOTAL_SUPPLY = 5_000_000_000_000_000_000n;
/** Nanotons in each wallet but the faucet. */
export const WALLET_BALANCE = 1_000_000_000_000_000n;

/** A line of `data/localnet/wallets.json`; the seed follows from the words, but that takes a while. */
interface StoredWallet {
  readonly version: WalletVersion;
  readonly workchain: number;
  readonly mnemonic: string | null;
  readonly seed: string;
}

let known: readonly FundedWallet[] | null = null;

/**
 * The wallets of all local networks: the faucet, a highload-v3, which has nearly all coins; two each of v3r2, v4r2 and
 * v5r1; and a v3r2 in the masterchain, to which extra currencies are minted.
 */
export function fundedWallets(): readonly FundedWallet[] {
  known ??= readWallets();
  return known;
}

function readWallets(): readonly FundedWallet[] {
  const file = new URL('../../../data/localnet/wallets.json', import.meta.url);
  const stored = JSON.parse(readFileSync(file, 'utf8')) as readonly StoredWallet[];
  const ofFaucet = TOTAL_SUPPLY - WALLET_BALANCE * BigInt(stored.length - 1);
  return stored.map(({ version, workchain, mnemonic, seed: hex }) => {
    const seed = fromHex(hex) as Uint8Array;
    const { address, walletId } = walletContract({ version, workchain, publicKey: signingKey(seed).publicKey });
    const balance = mnemonic === null ? ofFaucet : WALLET_BALANCE;
    return { version, address, mnemonic: mnemonic?.split(' ') ?? null, seed, walletId, balance };
  });
}

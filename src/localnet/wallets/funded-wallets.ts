import type { Address } from '#formats/address/address.js';

/** Wallets that @ton/ton and others know by these names. */
export type WalletVersion = 'v3r2' | 'v4r2' | 'v5r1' | 'highload-v3';

/** A wallet that has coins from the zerostate on. Its key is no secret: everybody's local network has the same. */
export interface FundedWallet {
  readonly version: WalletVersion;
  readonly address: Address;
  /** 24 words, from which wallet programs make the key; `null` for the faucet. */
  readonly mnemonic: readonly string[] | null;
  /** Ed25519 seed, 32 bytes. */
  readonly seed: Uint8Array;
  /** `wallet_id` of v5, `subwallet_id` of the others. */
  readonly walletId: number;
  /** Nanotons in the zerostate. */
  readonly balance: bigint;
}

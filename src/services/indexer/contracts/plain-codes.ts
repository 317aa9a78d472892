import { WALLET_CODES } from '#domain/contracts/wallet-codes.js';
import { fromHex } from '#kernel/bytes/bytes.js';

/** Hashes of the codes of wallets: by far the most accounts that change, and nothing but wallets. */
export const PLAIN_CODES: readonly Uint8Array[] = [...WALLET_CODES.keys()].map((hash) => fromHex(hash)!);

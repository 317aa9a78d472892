import { WALLET_CODES } from '#domain/contracts/wallet.js';
import { fromHex } from '#kernel/bytes.js';

/** Hashes of the codes of wallets: by far the most accounts that change, and nothing but wallets. */
export const WALLET_CODE_HASHES: readonly Uint8Array[] = [...WALLET_CODES.keys()].map((hash) => fromHex(hash)!);

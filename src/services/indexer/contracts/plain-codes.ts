import { WALLET_CODES } from '#domain/contracts/wallet.js';
import { fromHex } from '#kernel/bytes.js';

/** Code hashes of wallets: most changed accounts have one of these codes, and need no detection. */
export const WALLET_CODE_HASHES: readonly Uint8Array[] = [...WALLET_CODES.keys()].map((hash) => fromHex(hash)!);

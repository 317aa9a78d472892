import type { AskedContract } from '#domain/contracts/contract-view.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import type { NativeCode } from '#domain/contracts/native-code.js';
import { toHex } from '#kernel/bytes/bytes.js';

/**
 * For kinds of which anybody's code could say the same: only the code tells.
 *
 * @throws contract-data/unknown-code when the code of the contract is none of these
 */
export function requireCode(kind: string, codes: readonly NativeCode[], { address, account }: AskedContract): void {
  if (account !== null) {
    const hash = toHex(account.code.hash());
    if (codes.some(({ hashes }) => hashes.includes(hash))) return;
  }
  throw contractDataErrors['unknown-code']({ kind, address: address.toRaw() });
}

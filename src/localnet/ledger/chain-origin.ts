import { currentChain } from '#localnet/ledger/chain-folder.js';
import type { ForkOrigin } from '#localnet/ledger/genesis.js';
import { readGenesis } from '#localnet/ledger/genesis-file.js';

/** A chain that is kept, and what it began from. */
export interface ChainOrigin {
  /** `null` for one that stands alone. */
  readonly fork: ForkOrigin | null;
}

/**
 * What the chain in a folder began from; `null` where there is no chain.
 * @throws ledger/damaged, ledger/missing-file, ledger/other-version, ledger/unreadable
 */
export function chainOrigin(folder: string): ChainOrigin | null {
  const chain = currentChain(folder);
  return chain === null ? null : { fork: readGenesis(chain.path).fork ?? null };
}

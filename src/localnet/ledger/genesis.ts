import type { BlockId } from '#formats/proofs/block-id.js';
import type { Zerostate } from '#localnet/ledger/round.js';
import type { FundedWallet } from '#localnet/wallets/funded-wallets.js';

/** How a chain begins, and the keys that go with it. */
export interface Genesis {
  readonly masterchain: Zerostate;
  /** The zerostate of each workchain in config parameter 12. */
  readonly workchains: readonly Zerostate[];
  /** Ed25519 seed of the one validator. */
  readonly validatorSeed: Uint8Array;
  /** Ed25519 seed of the key with which the config contract lets its parameters be changed. */
  readonly configSeed: Uint8Array;
  /** Wallets with coins: the faucet is the first. */
  readonly wallets: readonly FundedWallet[];
  /** Of a fork: what it is one of. */
  readonly fork?: ForkOrigin;
}

/** The network that a chain begins from, and where. */
export interface ForkOrigin {
  /** As it was named; paths are absolute. */
  readonly source: string;
  /** The masterchain's zerostate of that network, which names it. */
  readonly zero_state: BlockId;
  /** The masterchain block from which on the chain is local. */
  readonly block: BlockId;
}

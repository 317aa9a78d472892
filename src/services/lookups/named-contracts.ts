/**
 * What a request names, in plain values that cross thread boundaries. Addresses are raw, as `Address.toRaw` writes them.
 */
export interface NamedContracts {
  /** Accounts whose state is wanted. */
  readonly accounts?: readonly string[];
  /** Accounts of which it is also wanted which contract they are, and the rows that follow from it. */
  readonly contracts?: readonly string[];
  /** Jetton wallets, by owner and master. */
  readonly jettonWallets?: readonly { readonly owner: string; readonly jetton: string }[];
  /** NFT items, by collection and index. */
  readonly nftItems?: readonly { readonly collection: string; readonly index: bigint }[];
  /** Domains with their zone, such as `foundation.ton`. */
  readonly domains?: readonly string[];
}

/** Limits of the look-ups of one request. */
export interface LookUpLimits {
  /** What is not known by then is left out, in milliseconds. */
  readonly deadlineMs: number;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** What came of it. */
export interface LookUpReport {
  /** How many of the named contracts are not known: no server answered in time, or there were too many. */
  readonly unknown: number;
  /** How many of the named `accounts` do not exist; whether they ever did, the index cannot tell. */
  readonly absent: number;
  /** Accounts that were read from the chain for this request. */
  readonly read: number;
  /** Get-methods that ran for this request, to find the addresses of what it names. */
  readonly ran: number;
}

/** Reads what requests name and the index has never seen from the chain, and adds it to the index. */
export interface LookUps {
  /**
   * Resolves when all that is named is known to the index, or cannot be in time. Never fails because of a liteserver.
   *
   * @throws the reason of the signal; store/* when the index cannot be read
   */
  lookUp(named: NamedContracts, limits: LookUpLimits): Promise<LookUpReport>;
}

import type { ChainRecord } from '#test/contract/against-chain/chain-record.js';
import type { V2Client } from '#test/contract/against-chain/client.js';
import type { HighloadCode } from '#test/contract/against-chain/expected-account.js';

/** An account of the recording by what its maker says that it is. */
export interface NamedAccount {
  /** Raw, lower case. */
  readonly address: string;
  readonly kind: string;
}

/** A chain, what its files say, and the service over it. */
export interface Subject {
  readonly client: V2Client;
  readonly record: ChainRecord;
  /** Empty for chains whose accounts nobody named. */
  readonly named: readonly NamedAccount[];
  /** By hash of the code, hex. */
  readonly highload: ReadonlyMap<string, HighloadCode>;
}

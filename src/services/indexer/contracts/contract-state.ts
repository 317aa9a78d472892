import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { ForeignAccount } from '#services/indexer/contracts/chain-questions.js';
import type { ContractCode } from '#services/indexer/contracts/contract-codes.js';

/** The newest known state of an account. */
export interface ContractState {
  readonly address: Address;
  readonly balance: bigint;
  readonly extra_currencies: readonly (readonly [id: number, amount: bigint])[];
  readonly last_trans_lt: bigint;
  readonly mc_seqno: number;
  readonly gen_utime: number;
  readonly code_hash: Uint8Array | null;
  readonly data_hash: Uint8Array | null;
  /** Null: it cannot run, for want of code, or since it is frozen. */
  readonly running: { readonly code: ContractCode; readonly data: Cell } | null;
  /** Of its code or data not all is known yet. */
  readonly incomplete: boolean;
  /** Of one that is not indexed, as it came. */
  readonly foreign: ForeignAccount | null;
}

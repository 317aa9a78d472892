import { tokenEventOf } from '#domain/tokens/token-event.js';
import { accountKey, addressBytes } from '#drivers/store/keys.js';
import type { Transaction, TransactionDescr } from '#formats/tlb/transaction.js';

/** Numbers of kinds in the column `token_events.kind`. */
export const TOKEN_KINDS = { jetton_transfer: 1, jetton_burn: 2, jetton_mint: 3, nft_transfer: 4 } as const;

/** Of a jetton transfer that was aborted: a number of its own, so that no index of lists has it. */
const ABORTED_TRANSFER = 5;

/** A message about tokens that a transaction received, before it is known whether its receiver is what it would be. */
export interface TokenCandidate {
  readonly kind: number;
  readonly aborted: boolean;
  /** The jetton wallet or the item, as `addressBytes` has it. */
  readonly address: Uint8Array;
  readonly account_key: bigint;
  readonly source_key: bigint;
  readonly destination_key: bigint | null;
}

/** The candidate that a transaction of an account is; null: it is none. @throws tlb/*, cells/* when it is malformed */
export function candidateOf(
  { in_msg, description }: Transaction,
  { address, account_key }: Pick<TokenCandidate, 'address' | 'account_key'>,
): TokenCandidate | null {
  const event = in_msg === null ? null : tokenEventOf(in_msg.value);
  if (event === null) return null;
  const { kind, source, destination } = event;
  const aborted = isAborted(description.value);
  return {
    kind: aborted && kind === 'jetton_transfer' ? ABORTED_TRANSFER : TOKEN_KINDS[kind],
    aborted,
    address,
    account_key,
    source_key: accountKey(addressBytes(source)),
    destination_key: destination === null ? null : accountKey(addressBytes(destination)),
  };
}

/** Whether the account did not come out of it as its code wanted. */
export function isAborted(description: TransactionDescr): boolean {
  return 'aborted' in description && description.aborted;
}

import { WALLET_CODES, type WalletLayout } from '#domain/contracts/wallet-codes.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { toHex } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** What a wallet contract keeps. */
export interface WalletState {
  /** `wallet v3 r2` */
  readonly wallet_type: string;
  /** uint32: how many messages it has taken from outside. */
  readonly seqno: number;
  /** int32, as the services of TON Center write it; null: this kind of wallet has none (before v3). */
  readonly wallet_id: number | null;
  /** Null: it always takes signatures (before v5). */
  readonly is_signature_allowed: boolean | null;
}

type Fields = Omit<WalletState, 'wallet_type'>;

/**
 * Reads a wallet by the hash of its code. The first bits of its data are
 *
 * ```
 * v1, v2:  seqno:uint32
 * v3, v4:  seqno:uint32 wallet_id:int32
 * v5:      is_signature_allowed:Bool seqno:uint32 wallet_id:int32
 * v5 beta: seqno:(## 33) wallet_id:(bits 80)
 * ```
 *
 * The beta of v5 always takes signatures, and its id has 80 bits: `wallet_id` is the first 32, the id of the network.
 *
 * @returns null when the code is of no known wallet, or the data is not its
 */
export function readWallet(code: Cell | null, data: Cell | null): WalletState | null {
  if (code === null || data === null) return null;
  const known = WALLET_CODES.get(toHex(code.hash()));
  if (known === undefined) return null;
  try {
    return { wallet_type: known.wallet_type, ...readFields(known.layout, openCell(data)) };
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

function readFields(layout: WalletLayout, data: Slice): Fields {
  switch (layout) {
    case 'seqno':
      return { seqno: data.loadUint(32), wallet_id: null, is_signature_allowed: null };
    case 'seqno-id':
      return { seqno: data.loadUint(32), wallet_id: data.loadInt(32), is_signature_allowed: null };
    case 'v5': {
      const is_signature_allowed = data.loadBit();
      return { seqno: data.loadUint(32), wallet_id: data.loadInt(32), is_signature_allowed };
    }
    case 'v5-beta':
      return { seqno: data.loadUint(33), wallet_id: data.loadInt(32), is_signature_allowed: true };
  }
}

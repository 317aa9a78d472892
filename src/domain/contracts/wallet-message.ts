import type { Slice } from '#formats/cells/slice.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** What the owner of a wallet signs besides the payments. */
export interface WalletMessage {
  /** uint32: must be the wallet's own. */
  readonly seqno: number;
  /** Unix seconds; null: messages to this kind of wallet do not expire (v1). */
  readonly valid_until: number | null;
  /** int32; null: this kind of wallet has none (before v3). */
  readonly wallet_id: number | null;
}

const SIGNATURE_BITS = 512;

/** `sign`: begins what comes to a wallet v5 from outside. */
const SIGNED_EXTERNAL = 0x7369676e;

/** Without the 32 bits of an id that say which network it is. */
const BETA_ID_REST_BITS = 48;

/**
 * Reads the body of a message from outside to a wallet.
 *
 * ```
 * v1:      signature:bits512 seqno:uint32
 * v2:      signature:bits512 seqno:uint32 valid_until:uint32
 * v3, v4:  signature:bits512 wallet_id:int32 valid_until:uint32 seqno:uint32
 * v5:      #7369676e wallet_id:int32 valid_until:uint32 seqno:uint32 … signature:bits512
 * v5 beta: #7369676e wallet_id:(bits 80) valid_until:uint32 seqno:uint32 … signature:bits512
 * ```
 *
 * @param wallet_type as `WalletState` has it: `wallet v3 r2`
 * @returns null when the body is too short, or marked as something else
 */
export function readWalletMessage(wallet_type: string, body: Slice): WalletMessage | null {
  try {
    return read(wallet_type, body.clone());
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

function read(wallet_type: string, body: Slice): WalletMessage | null {
  const [, version, release] = wallet_type.split(' ');
  if (version === 'v5') {
    if (body.loadUint(32) !== SIGNED_EXTERNAL) return null;
    const wallet_id = body.loadInt(32);
    if (release === 'beta') body.skip(BETA_ID_REST_BITS);
    const valid_until = body.loadUint(32);
    return { wallet_id, valid_until, seqno: body.loadUint(32) };
  }
  body.skip(SIGNATURE_BITS);
  if (version === 'v1') return { wallet_id: null, valid_until: null, seqno: body.loadUint(32) };
  if (version === 'v2') {
    const seqno = body.loadUint(32);
    return { wallet_id: null, valid_until: body.loadUint(32), seqno };
  }
  const wallet_id = body.loadInt(32);
  const valid_until = body.loadUint(32);
  return { wallet_id, valid_until, seqno: body.loadUint(32) };
}

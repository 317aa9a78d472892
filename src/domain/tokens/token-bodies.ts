import type { MsgAddress as MsgAddressValue } from '#formats/address/msg-address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import type { Slice } from '#formats/cells/slice.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** First 32 bits of the bodies that tell of tokens. */
export const TOKEN_OPCODES = {
  jetton_transfer: 0x0f8a7ea5,
  jetton_burn: 0x595f07bc,
  jetton_internal_transfer: 0x178d4519,
  nft_transfer: 0x5fcc3d14,
} as const;

/**
 * ```
 * transfer#0f8a7ea5 query_id:uint64 amount:(VarUInteger 16) destination:MsgAddress response_destination:MsgAddress
 *   custom_payload:(Maybe ^Cell) forward_ton_amount:(VarUInteger 16) forward_payload:(Either Cell ^Cell) = InternalMsgBody;
 * ```
 */
export interface JettonTransferBody {
  readonly query_id: bigint;
  /** In the smallest units of the jetton. */
  readonly amount: bigint;
  readonly destination: MsgAddressValue;
  readonly response_destination: MsgAddressValue;
  readonly custom_payload: Cell | null;
  /** Nanotons. */
  readonly forward_ton_amount: bigint;
  /** Null where it is empty. */
  readonly forward_payload: Cell | null;
}

/**
 * ```
 * burn#595f07bc query_id:uint64 amount:(VarUInteger 16) response_destination:MsgAddress custom_payload:(Maybe ^Cell)
 *   = InternalMsgBody;
 * ```
 */
export interface JettonBurnBody {
  readonly query_id: bigint;
  readonly amount: bigint;
  readonly response_destination: MsgAddressValue;
  readonly custom_payload: Cell | null;
}

/**
 * ```
 * internal_transfer#178d4519 query_id:uint64 amount:(VarUInteger 16) from:MsgAddress response_address:MsgAddress
 *   forward_ton_amount:(VarUInteger 16) forward_payload:(Either Cell ^Cell) = InternalMsgBody;
 * ```
 */
export interface JettonInternalTransferBody {
  readonly query_id: bigint;
  readonly amount: bigint;
  readonly from: MsgAddressValue;
  readonly response_address: MsgAddressValue;
  readonly forward_ton_amount: bigint;
  readonly forward_payload: Cell | null;
}

/**
 * ```
 * transfer#5fcc3d14 query_id:uint64 new_owner:MsgAddress response_destination:MsgAddress custom_payload:(Maybe ^Cell)
 *   forward_amount:(VarUInteger 16) forward_payload:(Either Cell ^Cell) = InternalMsgBody;
 * ```
 */
export interface NftTransferBody {
  readonly query_id: bigint;
  readonly new_owner: MsgAddressValue;
  readonly response_destination: MsgAddressValue;
  readonly custom_payload: Cell | null;
  readonly forward_amount: bigint;
  readonly forward_payload: Cell | null;
}

/** Reads a body whose opcode is read already; null where it ends too early or an address in it is none. */
export function readJettonTransfer(body: Slice): JettonTransferBody | null {
  return orNull(() => ({
    query_id: body.loadUintBig(64),
    amount: loadCoins(body),
    destination: MsgAddress.load(body),
    response_destination: MsgAddress.load(body),
    custom_payload: loadMaybeRef(body),
    forward_ton_amount: loadCoins(body),
    forward_payload: loadPayload(body),
  }));
}

/** As {@link readJettonTransfer}. A body that ends before the bit of `custom_payload` has none, as wallets do not look there. */
export function readJettonBurn(body: Slice): JettonBurnBody | null {
  return orNull(() => ({
    query_id: body.loadUintBig(64),
    amount: loadCoins(body),
    response_destination: MsgAddress.load(body),
    custom_payload: body.remainingBits > 0 && body.loadBit() && body.remainingRefs > 0 ? body.loadRef() : null,
  }));
}

/** As {@link readJettonTransfer}. */
export function readJettonInternalTransfer(body: Slice): JettonInternalTransferBody | null {
  return orNull(() => ({
    query_id: body.loadUintBig(64),
    amount: loadCoins(body),
    from: MsgAddress.load(body),
    response_address: MsgAddress.load(body),
    forward_ton_amount: loadCoins(body),
    forward_payload: loadPayload(body),
  }));
}

/** As {@link readJettonTransfer}. */
export function readNftTransfer(body: Slice): NftTransferBody | null {
  return orNull(() => ({
    query_id: body.loadUintBig(64),
    new_owner: MsgAddress.load(body),
    response_destination: MsgAddress.load(body),
    custom_payload: loadMaybeRef(body),
    forward_amount: loadCoins(body),
    forward_payload: loadPayload(body),
  }));
}

/** A `VarUInteger 16` as the machine reads it: the number may have leading zeros. */
function loadCoins(body: Slice): bigint {
  return body.loadUintBig(body.loadUint(4) * 8);
}

function loadMaybeRef(body: Slice): Cell | null {
  return body.loadBit() ? body.loadRef() : null;
}

/** `Either Cell ^Cell`, the last field: what there is of it. */
function loadPayload(body: Slice): Cell | null {
  if (body.remainingBits === 0) return null;
  if (body.loadBit()) return body.remainingRefs > 0 ? body.loadRef() : null;
  return body.remainingBits === 0 && body.remainingRefs === 0 ? null : new Builder().storeSlice(body).endCell();
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

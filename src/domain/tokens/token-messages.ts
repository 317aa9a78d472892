import type { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import type { Slice } from '#formats/cells/slice.js';
import { type Message, messageBody } from '#formats/tlb/message.js';
import { accountOf, MsgAddress, type MsgAddress as MsgAddressValue } from '#formats/tlb/msg-address.js';
import { isTernError } from '#kernel/tern-error.js';

/** Opcodes (first 32 bits of a message body) of the jetton and NFT messages that become token events. */
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
  /** Null when empty. */
  readonly forward_payload: Cell | null;
}

/**
 * ```
 * burn#595f07bc query_id:uint64 amount:(VarUInteger 16) response_destination:MsgAddress custom_payload:(Maybe ^Cell)
 *   = InternalMsgBody;
 * ```
 */
interface JettonBurnBody {
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
interface JettonInternalTransferBody {
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
interface NftTransferBody {
  readonly query_id: bigint;
  readonly new_owner: MsgAddressValue;
  readonly response_destination: MsgAddressValue;
  readonly custom_payload: Cell | null;
  readonly forward_amount: bigint;
  readonly forward_payload: Cell | null;
}

/** Reads a body after its opcode; null when it is too short or an address in it is malformed. */
function readJettonTransfer(body: Slice): JettonTransferBody | null {
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

/** As {@link readJettonTransfer}. A body that ends before the `custom_payload` bit has no payload: wallets do not read that far. */
function readJettonBurn(body: Slice): JettonBurnBody | null {
  return orNull(() => ({
    query_id: body.loadUintBig(64),
    amount: loadCoins(body),
    response_destination: MsgAddress.load(body),
    custom_payload: body.remainingBits > 0 && body.loadBit() && body.remainingRefs > 0 ? body.loadRef() : null,
  }));
}

/** As {@link readJettonTransfer}. */
function readJettonInternalTransfer(body: Slice): JettonInternalTransferBody | null {
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
function readNftTransfer(body: Slice): NftTransferBody | null {
  return orNull(() => ({
    query_id: body.loadUintBig(64),
    new_owner: MsgAddress.load(body),
    response_destination: MsgAddress.load(body),
    custom_payload: loadMaybeRef(body),
    forward_amount: loadCoins(body),
    forward_payload: loadPayload(body),
  }));
}

/** A `VarUInteger 16` as the TVM reads it: the number may have leading zero bytes. */
function loadCoins(body: Slice): bigint {
  return body.loadUintBig(body.loadUint(4) * 8);
}

function loadMaybeRef(body: Slice): Cell | null {
  return body.loadBit() ? body.loadRef() : null;
}

/** `Either Cell ^Cell` as the last field of a body; missing parts are tolerated. */
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

const {
  jetton_transfer: JETTON_TRANSFER,
  jetton_burn: JETTON_BURN,
  jetton_internal_transfer: INTERNAL_TRANSFER,
  nft_transfer: NFT_TRANSFER,
} = TOKEN_OPCODES;

/** The message body of each kind of token event. */
export interface TokenEventBodies {
  readonly jetton_transfer: JettonTransferBody;
  readonly jetton_burn: JettonBurnBody;
  /** Jettons credited to a wallet; a mint only when the sender is the jetton master. */
  readonly jetton_mint: JettonInternalTransferBody;
  readonly nft_transfer: NftTransferBody;
}
export type TokenEventKind = keyof TokenEventBodies;

/** A jetton or NFT operation as a message claims it. The claim holds only if the receiving account is a verified wallet or item. */
export type TokenEvent<Kind extends TokenEventKind = TokenEventKind> = {
  readonly [K in Kind]: {
    readonly kind: K;
    readonly body: TokenEventBodies[K];
    /** Sender of the message: the owner of the jettons or of the item; for a mint, the sender that credits them. */
    readonly source: Address;
    /** Transfers: the new owner, if the body names an account of the chain. */
    readonly destination: Address | null;
  };
}[Kind];

/** Whether a body with this opcode may be a token event. @param opcode signed 32 bits */
export function isTokenOpcode(opcode: number): boolean {
  return (
    opcode === JETTON_TRANSFER || opcode === INTERNAL_TRANSFER || opcode === JETTON_BURN || opcode === NFT_TRANSFER
  );
}

/** The token event of a received message; null when it is none. */
export function parseTokenEvent(message: Message): TokenEvent | null {
  const { info, body: stored } = message;
  if (info.kind !== 'int_msg_info') return null;
  if (stored.kind === 'right' && stored.value.type !== CellType.ordinary) return null;
  const source = accountOf(info.src);
  if (source === null) return null;
  const slice = messageBody(message);
  if (slice.remainingBits < 32) return null;
  switch (slice.loadUint(32)) {
    case JETTON_TRANSFER: {
      const body = readJettonTransfer(slice);
      return body && { kind: 'jetton_transfer', body, source, destination: accountOf(body.destination) };
    }
    case JETTON_BURN: {
      const body = readJettonBurn(slice);
      return body && { kind: 'jetton_burn', body, source, destination: null };
    }
    case INTERNAL_TRANSFER: {
      const body = readJettonInternalTransfer(slice);
      return body && { kind: 'jetton_mint', body, source, destination: null };
    }
    case NFT_TRANSFER: {
      const body = readNftTransfer(slice);
      return body && { kind: 'nft_transfer', body, source, destination: accountOf(body.new_owner) };
    }
    default:
      return null;
  }
}

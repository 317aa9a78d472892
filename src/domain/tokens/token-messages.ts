import type { Address } from '#formats/address/address.js';
import { CellType } from '#formats/cells/cell.js';
import type { Slice } from '#formats/cells/slice.js';
import type { Codec, ValueOf } from '#formats/tlb/codec/codec.js';
import { layout } from '#formats/tlb/codec/layout.js';
import { type Message, messageBody } from '#formats/tlb/message.js';
import { accountOf } from '#formats/tlb/msg-address.js';
import { isTernError } from '#kernel/tern-error.js';

/*
 * Bodies of jetton and NFT messages, with their opcodes as tags. Contracts ignore what follows the fields that decide where tokens go,
 * so payloads may be missing; numbers may have leading zero bytes.
 */

/**
 * `transfer` of TEP-74: the owner to its jetton wallet. `amount` is in the smallest units of the jetton, `forward_ton_amount` in
 * nanotons; an empty `forward_payload` is null.
 */
export const JettonTransfer = layout(
  'transfer#0f8a7ea5 query_id:uint64 amount:Coins destination:AnyMsgAddress response_destination:AnyMsgAddress custom_payload:(Maybe ^Cell) forward_ton_amount:Coins forward_payload:(Either Cell ^Cell)',
);
/** `burn` of TEP-74: the owner to its jetton wallet. */
export const JettonBurn = layout(
  'burn#595f07bc query_id:uint64 amount:Coins response_destination:AnyMsgAddress custom_payload:(Opt Maybe ^Cell)',
);
/** `internal_transfer` of TEP-74: a jetton wallet, or the master that mints, to a jetton wallet. */
export const JettonInternalTransfer = layout(
  'internal_transfer#178d4519 query_id:uint64 amount:Coins from:AnyMsgAddress response_address:AnyMsgAddress forward_ton_amount:Coins forward_payload:(Either Cell ^Cell)',
);
/** `transfer` of TEP-62: the owner to its NFT item. */
export const NftTransfer = layout(
  'transfer#5fcc3d14 query_id:uint64 new_owner:AnyMsgAddress response_destination:AnyMsgAddress custom_payload:(Maybe ^Cell) forward_amount:Coins forward_payload:(Either Cell ^Cell)',
);

/** Opcodes (first 32 bits of a message body) of the jetton and NFT messages that become token events. */
export const TOKEN_OPCODES = {
  jetton_transfer: JettonTransfer.tag,
  jetton_burn: JettonBurn.tag,
  jetton_internal_transfer: JettonInternalTransfer.tag,
  nft_transfer: NftTransfer.tag,
} as const;

const {
  jetton_transfer: JETTON_TRANSFER,
  jetton_burn: JETTON_BURN,
  jetton_internal_transfer: INTERNAL_TRANSFER,
  nft_transfer: NFT_TRANSFER,
} = TOKEN_OPCODES;

/** The message body of each kind of token event. */
export interface TokenEventBodies {
  readonly jetton_transfer: ValueOf<typeof JettonTransfer>;
  readonly jetton_burn: ValueOf<typeof JettonBurn>;
  /** Jettons credited to a wallet; a mint only when the sender is the jetton master. */
  readonly jetton_mint: ValueOf<typeof JettonInternalTransfer>;
  readonly nft_transfer: ValueOf<typeof NftTransfer>;
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
  switch (slice.preloadUint(32)) {
    case JETTON_TRANSFER: {
      const body = loadOrNull(JettonTransfer, slice);
      return body && { kind: 'jetton_transfer', body, source, destination: accountOf(body.destination) };
    }
    case JETTON_BURN: {
      const body = loadOrNull(JettonBurn, slice);
      return body && { kind: 'jetton_burn', body, source, destination: null };
    }
    case INTERNAL_TRANSFER: {
      const body = loadOrNull(JettonInternalTransfer, slice);
      return body && { kind: 'jetton_mint', body, source, destination: null };
    }
    case NFT_TRANSFER: {
      const body = loadOrNull(NftTransfer, slice);
      return body && { kind: 'nft_transfer', body, source, destination: accountOf(body.new_owner) };
    }
    default:
      return null;
  }
}

/** Null when the body is too short or an address in it is malformed. */
function loadOrNull<Body>(body: Codec<Body>, slice: Slice): Body | null {
  try {
    return body.load(slice);
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

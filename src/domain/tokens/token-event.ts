import {
  type JettonBurnBody,
  type JettonInternalTransferBody,
  type JettonTransferBody,
  type NftTransferBody,
  readJettonBurn,
  readJettonInternalTransfer,
  readJettonTransfer,
  readNftTransfer,
  TOKEN_OPCODES,
} from '#domain/tokens/token-bodies.js';
import type { Address } from '#formats/address/address.js';
import { accountOf } from '#formats/address/msg-address.js';
import { CellType } from '#formats/cells/cell.js';
import { type Message, messageBody } from '#formats/tlb/message.js';

const {
  jetton_transfer: JETTON_TRANSFER,
  jetton_burn: JETTON_BURN,
  jetton_internal_transfer: INTERNAL_TRANSFER,
  nft_transfer: NFT_TRANSFER,
} = TOKEN_OPCODES;

/** What each kind of event has of its body. */
export interface TokenEventBodies {
  readonly jetton_transfer: JettonTransferBody;
  readonly jetton_burn: JettonBurnBody;
  /** Tokens that a wallet received; a mint where its sender is the master. */
  readonly jetton_mint: JettonInternalTransferBody;
  readonly nft_transfer: NftTransferBody;
}
export type TokenEventKind = keyof TokenEventBodies;

/** What a message says of tokens. Whether it may say so is decided by who the account is. */
export type TokenEvent<Kind extends TokenEventKind = TokenEventKind> = {
  readonly [K in Kind]: {
    readonly kind: K;
    readonly body: TokenEventBodies[K];
    /** The sender of the message: owner of the jettons or of the item; of a mint, who made them. */
    readonly source: Address;
    /** Transfers: the new owner, where the body names an account. */
    readonly destination: Address | null;
  };
}[Kind];

/** Whether bodies with these first 32 bits may tell of tokens. @param opcode as `| 0` makes it */
export function isTokenOpcode(opcode: number): boolean {
  return (
    opcode === JETTON_TRANSFER || opcode === INTERNAL_TRANSFER || opcode === JETTON_BURN || opcode === NFT_TRANSFER
  );
}

/** The event that a received message tells of; null: of none. */
export function tokenEventOf(message: Message): TokenEvent | null {
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

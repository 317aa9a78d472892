import { readWallet, type WalletState } from '#domain/contracts/wallet.js';
import type { Address } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { StateInit } from '#formats/tlb/account.js';
import { encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import { MessageRelaxed, OutList } from '#formats/tlb/message.js';
import type { AccountStateRead } from '#services/chain/accounts.js';
import { emulationErrors } from '#services/emulation/errors.js';
import { encodeExternalInMessage } from '#services/emulation/external-message.js';

/** A message that an application asks a wallet to send (`sendTransaction` of TON Connect). */
export interface TonConnectTransfer {
  readonly dest: Address;
  readonly bounce: boolean;
  /** Nanotons. */
  readonly amount: bigint;
  readonly payload: Cell | null;
  /** `StateInit` */
  readonly state_init: Cell | null;
}

/** A wallet that is to send messages. */
export interface TonConnectRequest {
  readonly wallet: Address;
  readonly transfers: readonly TonConnectTransfer[];
  /** uint32; null: some minutes after the time of the state. */
  readonly valid_until: number | null;
}

/** Pay fees separately, ignore errors. */
const SEND_MODE = 3;
/** Wallets of version 3 have no other limit here. */
const VALID_SECONDS = 300;
const SIGNATURE = new Uint8Array(64);

/** `auth_signature` of wallets of version 5: an external-in message that is signed. */
const EXTERNAL_SIGNED = 0x7369676e;

type EncodeBody = (wallet: WalletState, messages: readonly Cell[], valid_until: number) => Cell;

const ENCODERS: ReadonlyMap<string, EncodeBody> = new Map<string, EncodeBody>([
  ['wallet v3 r1', encodeV3],
  ['wallet v3 r2', encodeV3],
  ['wallet v4 r1', encodeV4],
  ['wallet v4 r2', encodeV4],
  ['wallet v5 r1', encodeV5],
]);

/**
 * The external-in message that a wallet would sign for a request of TON Connect, with a signature of zeros: it is only good for
 * emulation that ignores signatures. Bodies and state inits are in cells of their own.
 *
 * @param read the account of the wallet
 * @throws emulation/no-wallet, emulation/no-shard
 */
export function encodeTonConnect(read: AccountStateRead, { wallet, transfers, valid_until }: TonConnectRequest): Cell {
  const { account, shard_block, shard_utime } = read;
  if (shard_block?.seqno === 0) throw emulationErrors['no-shard']({ workchain: wallet.workchain });
  const refuse = (problem: string, why: 'missing' | 'undeployed' | 'unknown' | 'unsupported', wallet_type = '') =>
    emulationErrors['no-wallet']({ wallet: wallet.toRaw(), problem, why, wallet_type });
  if (account?.kind !== 'account') throw refuse('it does not exist', 'missing');
  const { state } = account.storage;
  if (state.kind !== 'account_active' || state.state_init.code === null || state.state_init.data === null) {
    throw refuse('it is not deployed', 'undeployed');
  }
  const known = readWallet(state.state_init.code, state.state_init.data);
  if (known === null) throw refuse('its code is not that of a known wallet', 'unknown');
  const encode = ENCODERS.get(known.wallet_type);
  if (encode === undefined) {
    throw refuse(`messages for ${known.wallet_type} cannot be made`, 'unsupported', known.wallet_type);
  }
  const now = shard_utime ?? 0;
  const messages = transfers.map((transfer) => encodeTransfer(wallet, transfer, now));
  const isV3 = encode === encodeV3;
  const until = valid_until === null || isV3 ? now + VALID_SECONDS : valid_until;
  return encodeExternalInMessage(wallet, null, encode(known, messages, until));
}

function encodeTransfer(
  src: Address,
  { dest, bounce, amount, payload, state_init }: TonConnectTransfer,
  now: number,
): Cell {
  const value = onlyGrams(amount);
  return encodeCell(MessageRelaxed, {
    info: {
      kind: 'int_msg_info',
      ...{ ihr_disabled: true, bounce, bounced: false, src, dest, value },
      ...{ extra_flags: 0n, fwd_fee: 0n, created_lt: 0n, created_at: now },
    },
    init: state_init === null ? null : { kind: 'right', value: Lazy.ofCell(StateInit, state_init) },
    body: payload === null ? { kind: 'left', value: openCell(EMPTY_CELL) } : { kind: 'right', value: payload },
  });
}

function withMessages(builder: Builder, messages: readonly Cell[]): Cell {
  for (const message of messages) builder.storeUint(SEND_MODE, 8).storeRef(message);
  return builder.endCell();
}

/** signature:bits512 subwallet_id:uint32 valid_until:uint32 seqno:uint32 (mode:uint8 ^MessageRelaxed)* */
function encodeV3({ seqno, wallet_id }: WalletState, messages: readonly Cell[], valid_until: number): Cell {
  const head = new Builder().storeBytes(SIGNATURE).storeInt(wallet_id ?? 0, 32);
  return withMessages(head.storeUint(valid_until, 32).storeUint(seqno, 32), messages);
}

/** As version 3, with op:uint8 before the messages. */
function encodeV4({ seqno, wallet_id }: WalletState, messages: readonly Cell[], valid_until: number): Cell {
  const head = new Builder().storeBytes(SIGNATURE).storeInt(wallet_id ?? 0, 32);
  return withMessages(head.storeUint(valid_until, 32).storeUint(seqno, 32).storeUint(0, 8), messages);
}

/** wallet_id:uint32 valid_until:uint32 msg_seqno:uint32 out_actions:(Maybe ^OutList) has_other_actions:(## 1) signature:bits512 */
function encodeV5({ seqno, wallet_id }: WalletState, messages: readonly Cell[], valid_until: number): Cell {
  const actions = messages.map((message) => ({
    kind: 'action_send_msg' as const,
    mode: SEND_MODE,
    out_msg: Lazy.ofCell(MessageRelaxed, message),
  }));
  return new Builder()
    .storeUint(EXTERNAL_SIGNED, 32)
    .storeInt(wallet_id ?? 0, 32)
    .storeUint(valid_until, 32)
    .storeUint(seqno, 32)
    .storeBit(true)
    .storeRef(encodeCell(OutList, actions))
    .storeBit(false)
    .storeBytes(SIGNATURE)
    .endCell();
}

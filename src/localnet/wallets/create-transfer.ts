import type { Address } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { storeSnakeText } from '#formats/cells/snake.js';
import { StateInit } from '#formats/tlb/account.js';
import { decodeCell, encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { type CurrencyCollection, onlyGrams } from '#formats/tlb/currency.js';
import { CommonMsgInfo, CommonMsgInfoRelaxed, MessageRelaxed, type OutAction, OutList } from '#formats/tlb/message.js';
import { walletsErrors } from '#localnet/wallets/errors.js';
import { HIGHLOAD_TIMEOUT, signingKey, type WalletVersion } from '#localnet/wallets/wallet-contract.js';

/** A wallet and the key to it. */
export interface WalletOwner {
  readonly version: WalletVersion;
  readonly address: Address;
  readonly walletId: number;
  /** Ed25519 seed, 32 bytes. */
  readonly seed: Uint8Array;
}

/** What a wallet is to send. */
export interface OutgoingMessage {
  /** A `MessageRelaxed`, see {@link buildInternalMessage}. */
  readonly message: Cell;
  /** Send mode (1: pay fees separately, 2: ignore errors, 128: whole balance); 3 when omitted. */
  readonly mode?: number;
}

export interface TransferOptions {
  /** The wallet's seqno; for a highload wallet the number of the query, see {@link queryId}. */
  readonly seqno: number;
  /** Unix seconds: expiration time. For a highload wallet at most an hour ahead. */
  readonly validUntil: number;
  /** In order; at most {@link MAX_MESSAGES}. */
  readonly messages: readonly OutgoingMessage[];
  /** The state that deploys the wallet, when it does not exist yet. */
  readonly init?: StateInit | null;
}

/** Maximum number of messages per transfer. */
export const MAX_MESSAGES: Readonly<Record<WalletVersion, number>> = {
  v3r2: 4,
  v4r2: 4,
  v5r1: 255,
  'highload-v3': 254,
};

const DEFAULT_MODE = 3;
const IGNORE_ERRORS = 2;
const PAY_FEES_SEPARATELY = 1;
const SIGNED_EXTERNAL = 0x7369676e;
const INTERNAL_TRANSFER = 0xae42e5a4;
/** Bits per cell of a highload wallet's query dictionary. */
const QUERY_BITS = 1023;
/** The highest query number. */
export const MAX_QUERY = 8192 * QUERY_BITS - 1;
/**
 * Nanotons that a highload wallet sends to itself with a batch: pays for processing it, the rest stays in the wallet.
 */
const BATCH_VALUE = 1_000_000_000n;

/**
 * The signed external-in message (`Message`) of a transfer.
 *
 * A highload wallet sends one message without a state directly, and others through a message to itself.
 *
 * @throws wallets/message-count, wallets/query-id, wallets/seed-length
 */
export function createTransfer(wallet: WalletOwner, options: TransferOptions): Cell {
  const { version, address } = wallet;
  const { length } = options.messages;
  const limit = MAX_MESSAGES[version];
  if (length < 1 || length > limit) throw walletsErrors['message-count']({ version, count: length, limit });
  return buildExternalInMessage({ to: address, body: signedBody(wallet, options), init: options.init ?? null });
}

function signedBody(wallet: WalletOwner, options: TransferOptions): Cell {
  const { sign } = signingKey(wallet.seed);
  const { walletId, version } = wallet;
  const { seqno, validUntil, messages } = options;
  switch (version) {
    case 'v3r2':
    case 'v4r2': {
      const signed = new Builder().storeUint(walletId, 32).storeUint(validUntil, 32).storeUint(seqno, 32);
      if (version === 'v4r2') signed.storeUint(0, 8);
      for (const { message, mode = DEFAULT_MODE } of messages) signed.storeUint(mode, 8).storeRef(message);
      return new Builder().storeBytes(sign(signed.endCell().hash())).storeBuilder(signed).endCell();
    }
    case 'v5r1': {
      // External-in messages may only send with the flag that ignores errors.
      const actions = messages.map(({ message, mode = DEFAULT_MODE }) => sendAction(message, mode | IGNORE_ERRORS));
      const signed = new Builder()
        .storeUint(SIGNED_EXTERNAL, 32)
        .storeUint(walletId, 32)
        .storeUint(validUntil, 32)
        .storeUint(seqno, 32)
        .storeBit(true)
        .storeRef(encodeCell(OutList, actions))
        .storeBit(false);
      return new Builder().storeBuilder(signed).storeBytes(sign(signed.endCell().hash())).endCell();
    }
    case 'highload-v3': {
      const { message, mode = DEFAULT_MODE } = highloadMessage(wallet.address, options);
      const signed = new Builder()
        .storeUint(walletId, 32)
        .storeRef(message)
        .storeUint(mode, 8)
        .storeUint(queryId(seqno), 23)
        .storeUint(validUntil - HIGHLOAD_TIMEOUT, 64)
        .storeUint(HIGHLOAD_TIMEOUT, 22)
        .endCell();
      return new Builder().storeRef(signed).storeBytes(sign(signed.hash())).endCell();
    }
  }
}

/**
 * The `query_id` of a highload wallet's n-th query: 13 bits of shift, 10 bits of bit number. A number may be reused
 * once twice the timeout of the wallet has passed.
 * @throws wallets/query-id
 */
export function queryId(number: number): number {
  if (!Number.isInteger(number) || number < 0 || number > MAX_QUERY)
    throw walletsErrors['query-id']({ query_id: number, limit: MAX_QUERY });
  return Math.floor(number / QUERY_BITS) * 1024 + (number % QUERY_BITS);
}

function highloadMessage(to: Address, { messages, seqno }: TransferOptions): OutgoingMessage {
  const [first] = messages;
  if (messages.length === 1 && first !== undefined && decodeCell(MessageRelaxed, first.message).init === null)
    return first;
  const actions = messages.map(({ message, mode = DEFAULT_MODE }) => sendAction(message, mode));
  const body = new Builder()
    .storeUint(INTERNAL_TRANSFER, 32)
    .storeUint(queryId(seqno), 64)
    .storeRef(encodeCell(OutList, actions))
    .endCell();
  return { message: buildInternalMessage({ to, value: BATCH_VALUE, body }), mode: PAY_FEES_SEPARATELY };
}

function sendAction(message: Cell, mode: number): OutAction {
  return { kind: 'action_send_msg', mode, out_msg: Lazy.ofCell(MessageRelaxed, message) };
}

/** The body of a text comment: 32 zero bits and the text in UTF-8. @throws cells/snake-too-long */
export function commentBody(text: string): Cell {
  return storeSnakeText(text, new Builder().storeUint(0, 32)).endCell();
}

/** A message that a contract is to send. */
export interface InternalMessageOptions {
  readonly to: Address;
  /** Nanotons, or an amount with extra currencies. */
  readonly value: bigint | CurrencyCollection;
  /** Whether the value is returned when the receiver fails or does not exist; `true` when omitted. */
  readonly bounce?: boolean;
  /** Empty when omitted. */
  readonly body?: Cell;
  /** The contract to deploy. */
  readonly init?: StateInit | null;
}

/** Builds a `MessageRelaxed`, laid out as wallet programs do: parts that fit are stored inline. */
export function buildInternalMessage({
  to,
  value,
  bounce = true,
  body = EMPTY_CELL,
  init = null,
}: InternalMessageOptions): Cell {
  const builder = new Builder();
  CommonMsgInfoRelaxed.store(
    {
      kind: 'int_msg_info',
      ihr_disabled: true,
      bounce,
      bounced: false,
      src: null,
      dest: to,
      value: typeof value === 'bigint' ? onlyGrams(value) : value,
      extra_flags: 0n,
      fwd_fee: 0n,
      created_lt: 0n,
      created_at: 0,
    },
    builder,
  );
  storeInit(init, 0, builder);
  return storeBody(body, builder).endCell();
}

/** Fields of an external-in message. */
export interface ExternalInMessageOptions {
  readonly to: Address;
  readonly body: Cell;
  /** The contract to deploy. */
  readonly init?: StateInit | null;
}

/** Builds an external-in `Message`, laid out as wallet programs do. */
export function buildExternalInMessage({ to, body, init = null }: ExternalInMessageOptions): Cell {
  const builder = new Builder();
  CommonMsgInfo.store({ kind: 'ext_in_msg_info', src: null, dest: to, import_fee: 0n }, builder);
  storeInit(init, body.bits, builder);
  return storeBody(body, builder).endCell();
}

/** @param reserved bits that must stay free behind it; otherwise it is stored in a cell of its own */
function storeInit(init: StateInit | null, reserved: number, builder: Builder): void {
  builder.storeBit(init !== null);
  if (init === null) return;
  const cell = encodeCell(StateInit, init);
  const inline = builder.remainingBits - 2 >= cell.bits + reserved;
  builder.storeBit(!inline);
  if (inline) builder.storeSlice(openCell(cell));
  else builder.storeRef(cell);
}

function storeBody(body: Cell, builder: Builder): Builder {
  const fits = builder.remainingBits - 1 >= body.bits && builder.remainingRefs >= body.refCount;
  const inline = fits && body.type === CellType.ordinary;
  builder.storeBit(!inline);
  return inline ? builder.storeSlice(openCell(body)) : builder.storeRef(body);
}

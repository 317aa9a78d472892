import type { Address } from '#formats/address/address.js';
import { serializeBocBase64 } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { storeSnakeText } from '#formats/cells/snake.js';

/** Wallets whose transfers can be made here. */
export type SendingWallet = 'v3r2' | 'v4r2' | 'v5r1';

export interface Transfer {
  readonly version: SendingWallet;
  readonly from: Address;
  readonly walletId: number;
  /** Of the wallet, as its get-method says. */
  readonly seqno: number;
  /** Unix seconds. */
  readonly validUntil: number;
  readonly to: Address;
  /** Nanotons. */
  readonly value: bigint;
  readonly bounce: boolean;
  /** Empty: none. */
  readonly comment: string;
}

/** Pay fees separately, ignore errors. */
const MODE = 3;
const SIGNED_EXTERNAL = 0x7369676e;
const ACTION_SEND = 0x0ec3c86d;

/**
 * The BoC of an external-in message with which a wallet sends coins, in base64.
 * @param sign signs a hash with the key of the wallet (Ed25519)
 */
export async function transferBoc(
  transfer: Transfer,
  sign: (hash: Uint8Array) => Promise<Uint8Array>,
): Promise<string> {
  const { version, from } = transfer;
  const signed = signedPart(transfer);
  const signature = await sign(signed.endCell().hash());
  const body =
    version === 'v5r1'
      ? new Builder().storeBuilder(signed).storeBytes(signature)
      : new Builder().storeBytes(signature).storeBuilder(signed);
  // ext_in_msg_info$10 src:MsgAddressExt dest:MsgAddressInt import_fee:Grams, without init, body in a reference
  const message = new Builder().storeUint(0b10, 2).storeUint(0, 2);
  storeAddress(message, from).storeUint(0, 4).storeBit(false).storeBit(true).storeRef(body.endCell());
  return serializeBocBase64(message.endCell());
}

function signedPart(transfer: Transfer): Builder {
  const { version, walletId, validUntil, seqno } = transfer;
  const message = internalMessage(transfer);
  if (version === 'v5r1') {
    // action_send_msg#0ec3c86d mode:(## 8) out_msg:^(MessageRelaxed Any), after the empty list
    const actions = new Builder().storeRef(new Builder().endCell()).storeUint(ACTION_SEND, 32).storeUint(MODE, 8);
    actions.storeRef(message);
    const head = new Builder().storeUint(SIGNED_EXTERNAL, 32).storeUint(walletId, 32).storeUint(validUntil, 32);
    return head.storeUint(seqno, 32).storeBit(true).storeRef(actions.endCell()).storeBit(false);
  }
  const head = new Builder().storeUint(walletId, 32).storeUint(validUntil, 32).storeUint(seqno, 32);
  if (version === 'v4r2') head.storeUint(0, 8);
  return head.storeUint(MODE, 8).storeRef(message);
}

/** int_msg_info$0 ihr_disabled bounce bounced src dest value extra fees lt at, without init, body in a reference */
function internalMessage({ to, value, bounce, comment }: Transfer): Cell {
  const message = new Builder().storeBit(false).storeBit(true).storeBit(bounce).storeBit(false).storeUint(0, 2);
  storeCoins(storeAddress(message, to), value).storeBit(false).storeUint(0, 4).storeUint(0, 4);
  message.storeUint(0, 64).storeUint(0, 32).storeBit(false);
  if (comment === '') return message.storeBit(false).endCell();
  return message.storeBit(true).storeRef(commentCell(comment)).endCell();
}

/** A text comment: 32 zero bits and the text in UTF-8. */
export function commentCell(text: string): Cell {
  return storeSnakeText(text, new Builder().storeUint(0, 32)).endCell();
}

/** addr_std$10 anycast:(Maybe Anycast) workchain_id:int8 address:bits256 */
function storeAddress(builder: Builder, { workchain, hash }: Address): Builder {
  return builder.storeUint(0b100, 3).storeInt(workchain, 8).storeBytes(hash);
}

/** var_uint$_ len:(#< 16) value:(uint (len * 8)) */
function storeCoins(builder: Builder, nano: bigint): Builder {
  const bytes = nano === 0n ? 0 : Math.ceil(nano.toString(16).length / 2);
  return builder.storeUint(bytes, 4).storeUint(nano, bytes * 8);
}

/** What stands before the seed in a PKCS #8 key of Ed25519 (RFC 8410). */
const PKCS8 = Uint8Array.of(0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20);

/**
 * Signs with the seed of a wallet of a local network. Those keys are public.
 * @throws where the browser has no Ed25519, or the page came by HTTP from another machine
 */
export async function ed25519Signer(seed: Uint8Array): Promise<(hash: Uint8Array) => Promise<Uint8Array>> {
  if (globalThis.crypto?.subtle === undefined) {
    throw new TypeError('This browser signs only for pages of this machine or over HTTPS.');
  }
  const encoded = new Uint8Array([...PKCS8, ...seed]);
  const key = await crypto.subtle.importKey('pkcs8', encoded, { name: 'Ed25519' }, false, ['sign']);
  return async (hash) => new Uint8Array(await crypto.subtle.sign('Ed25519', key, hash as Uint8Array<ArrayBuffer>));
}

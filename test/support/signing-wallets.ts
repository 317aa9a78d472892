import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { StateInit, stateInitOf } from '#formats/tlb/account.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { Message } from '#formats/tlb/message.js';
import { recordedAccounts } from '#test/support/contract-accounts.js';

/** What the owner of a wallet signs. */
export interface SignedFields {
  readonly seqno: number;
  readonly wallet_id: number;
  readonly valid_until: number;
}

/** A wallet whose key the tests have. */
export interface SigningWallet {
  readonly address: Address;
  readonly init: StateInit;
  /** A message with no payments. */
  message(fields: SignedFields, options?: { readonly init?: StateInit; readonly otherKey?: boolean }): Cell;
}

/** `302e…` of a PKCS #8 key: what stands before the 32 bytes. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

function keyOf(byte: number): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8, Buffer.alloc(32, byte)]), format: 'der', type: 'pkcs8' });
}

function publicBytes(key: KeyObject): Uint8Array {
  return new Uint8Array(createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32));
}

/** @param kind `wallet_v3r2`: its code is that of the recorded network */
export function signingWallet(kind: string, { seqno, wallet_id }: Omit<SignedFields, 'valid_until'>): SigningWallet {
  const version = Number(kind.charAt('wallet_v'.length));
  const key = keyOf(7);
  const data = new Builder();
  if (version === 5) data.storeBit(true);
  data.storeUint(seqno, 32);
  if (version >= 3) data.storeInt(wallet_id, 32);
  data.storeBytes(publicBytes(key));
  if (version >= 4) data.storeBit(false);
  const code = recordedAccounts.find((account) => account.kind === kind)!.code;
  const init = stateInitOf(code, data.endCell());
  const address = Address.ofParts(0, encodeCell(StateInit, init).hash());
  return {
    address,
    init,
    message(fields, { init: deployed = null, otherKey = false } = {}) {
      const signed = signedPart(version, fields);
      const hash = signed.endCell().hash();
      const signature = new Uint8Array(sign(null, hash, otherKey ? keyOf(8) : key));
      const body =
        version === 5
          ? new Builder().storeBuilder(signed).storeBytes(signature)
          : new Builder().storeBytes(signature).storeBuilder(signed);
      return encodeCell(Message, {
        info: { kind: 'ext_in_msg_info', src: null, dest: address, import_fee: 0n },
        init: deployed === null ? null : { kind: 'left', value: deployed },
        body: { kind: 'right', value: body.endCell() },
      });
    },
  };
}

function signedPart(version: number, { seqno, wallet_id, valid_until }: SignedFields): Builder {
  const part = new Builder();
  if (version === 5) part.storeUint(0x7369676e, 32);
  if (version >= 3) part.storeInt(wallet_id, 32).storeUint(valid_until, 32);
  part.storeUint(seqno, 32);
  if (version === 2) part.storeUint(valid_until, 32);
  if (version === 4) part.storeUint(0, 8);
  if (version === 5) part.storeUint(0, 2);
  return part;
}

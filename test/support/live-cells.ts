import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell, encodeCell, Lazy, ref } from '#formats/tlb/codec/codec.js';
import { hashmapE, uintKey } from '#formats/tlb/codec/dictionary.js';
import { NO_CURRENCY, onlyGrams } from '#formats/tlb/currency.js';
import { type ExternalInMessage, Message, readExternalInMessage } from '#formats/tlb/message.js';
import { HASH_UPDATE, Transaction, TransactionDescr } from '#formats/tlb/transaction.js';
import type { Finality, LiveTransaction } from '#services/pending/live-trace.js';

/* Messages and transactions made by hand, with nothing but what live traces look at. */

/** The account of a number. */
export function liveAccount(number: number): Address {
  const hash = new Uint8Array(32).fill(number);
  return Address.ofParts(0, hash);
}

/** `ShardAccount` of an account that does not exist. */
export const NO_STATE = new Builder()
  .storeRef(new Builder().storeBit(false).endCell())
  .storeBytes(new Uint8Array(40))
  .endCell();

/** An external-in message to an account. */
export function externalTo(to: number, body: number): ExternalInMessage {
  return readExternalInMessage(
    encodeCell(Message, {
      info: { kind: 'ext_in_msg_info', src: null, dest: liveAccount(to), import_fee: 0n },
      init: null,
      body: { kind: 'right', value: new Builder().storeUint(body, 32).endCell() },
    }),
  );
}

/** A message that a transaction sends. */
export interface SentMessage {
  readonly to: number;
  readonly body: number;
  readonly value?: bigint;
}

/** `HashmapE 15 ^(Message Any)` */
const OutMessages = hashmapE(uintKey(15), ref(Message));

const NOT_RUN: TransactionDescr = {
  ...{ kind: 'trans_ord', credit_first: true, storage_ph: null, credit_ph: null, action: null, aborted: false },
  ...{ compute_ph: { kind: 'tr_phase_compute_skipped', reason: 'cskip_no_state' }, bounce: null, destroyed: false },
};

interface TransactionPlace {
  readonly lt: bigint;
  readonly mc_seqno?: number;
  readonly finality?: Finality;
}

/** A transaction that receives a message and sends others; `lt` of these follow that of the transaction. */
export function liveTransaction(
  in_msg: Cell,
  sends: readonly SentMessage[],
  { lt, mc_seqno = 1, finality = 'pending' }: TransactionPlace,
): LiveTransaction {
  const { info } = decodeCell(Message, in_msg);
  const account = info.kind === 'ext_out_msg_info' || !(info.dest instanceof Address) ? liveAccount(0) : info.dest;
  const sent = sends.map(({ to, body, value = 1n }, index) => {
    const message: Message = {
      info: {
        ...{
          kind: 'int_msg_info',
          ihr_disabled: true,
          bounce: true,
          bounced: false,
          src: account,
          dest: liveAccount(to),
        },
        ...{ value: onlyGrams(value), extra_flags: 0n, fwd_fee: 0n, created_lt: lt + BigInt(index + 1), created_at: 1 },
      },
      init: null,
      body: { kind: 'right', value: new Builder().storeUint(body, 32).endCell() },
    };
    return [index, Lazy.ofValue(Message, message)] as const;
  });
  const cell = encodeCell(Transaction, {
    account_addr: account.hash,
    lt,
    prev_trans_hash: new Uint8Array(32),
    prev_trans_lt: 0n,
    now: 1,
    outmsg_cnt: sent.length,
    orig_status: 'acc_state_active',
    end_status: 'acc_state_active',
    in_msg: Lazy.ofValue(Message, decodeCell(Message, in_msg)),
    out_msgs: OutMessages.of(sent),
    total_fees: NO_CURRENCY,
    state_update: Lazy.ofValue(HASH_UPDATE, { old_hash: new Uint8Array(32), new_hash: new Uint8Array(32) }),
    description: Lazy.ofValue(TransactionDescr, NOT_RUN),
  });
  const block = { workchain: 0, shard: 1n << 63n, seqno: mc_seqno };
  return { finality, cell, account, mc_seqno, block, global_version: 13, before: null, after: null };
}

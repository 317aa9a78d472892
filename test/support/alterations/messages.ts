import { Builder } from '#formats/cells/builder.js';
import { InMsg } from '#formats/tlb/block-messages.js';
import { AugmentedDictionary } from '#formats/tlb/codec/augmented-dictionary.js';
import { type Codec, Lazy } from '#formats/tlb/codec/codec.js';
import type { EnqueuedMsg, OutMsgQueueKey } from '#formats/tlb/out-msg-queue.js';
import {
  type Alteration,
  BUSY,
  changeIn,
  changeOut,
  envelope,
  inMasterchain,
  inShard,
  LATER,
  moveProcessed,
  none,
  RECEIVES,
  SENDS,
} from '#test/support/altered-bundle.js';

export const messagesAlterations: readonly Alteration[] = [
  [
    'in-message',
    'a message from outside is not registered',
    BUSY,
    inShard((parts) => changeIn(parts, 'msg_import_ext', () => null)),
  ],
  [
    'out-message',
    'a message that was put off is not registered',
    BUSY,
    inShard((parts) => changeOut(parts, 'msg_export_new_defer', () => null)),
  ],
  [
    'message-key',
    'a message under another hash',
    BUSY,
    inShard((parts) => {
      const [[hash, message]] = [...parts.in] as [[Uint8Array, InMsg]];
      parts.in = parts.in.delete(hash).set(none(hash), message);
    }),
  ],
  [
    'message-transaction',
    'another transaction of a message',
    BUSY,
    inShard((parts) =>
      changeIn(parts, 'msg_import_ext', (message) => {
        const other = [...parts.in].find(([, { kind }]) => kind === 'msg_import_imm')![1] as InMsg & {
          kind: 'msg_import_imm';
        };
        return { ...message, transaction: other.transaction };
      }),
    ),
  ],
  [
    'message-pair',
    'a message that came, but did not leave',
    BUSY,
    inShard((parts) => changeOut(parts, 'msg_export_imm', () => null)),
  ],
  [
    'message-pair',
    'another message is named',
    BUSY,
    inShard((parts) =>
      changeOut(parts, 'msg_export_imm', (message) => {
        const other = [...parts.in].find(([, { kind }]) => kind === 'msg_import_ext')![1];
        return { ...message, reimport: Lazy.ofValue(InMsg as Codec<InMsg>, other) };
      }),
    ),
  ],
  [
    'in-message-kind',
    'an instant message',
    BUSY,
    inShard((parts) =>
      changeIn(parts, 'msg_import_imm', ({ in_msg, transaction }) => ({
        kind: 'msg_import_ihr',
        msg: in_msg.value.msg,
        transaction,
        ihr_fee: 0n,
        proof_created: new Builder().endCell(),
      })),
    ),
  ],
  [
    'import-fee',
    'another fee',
    BUSY,
    inShard((parts) => changeIn(parts, 'msg_import_imm', (message) => ({ ...message, fwd_fee: message.fwd_fee + 1n }))),
  ],
  [
    'envelope-fee',
    'a part of the fee is gone',
    BUSY,
    inShard((parts) =>
      changeOut(parts, 'msg_export_new_defer', (message) => ({
        ...message,
        out_msg: envelope(message.out_msg, { fwd_fee_remaining: message.out_msg.value.fwd_fee_remaining - 1n }),
      })),
    ),
  ],
  [
    'envelope-route',
    'a step to elsewhere',
    SENDS,
    inMasterchain((parts) =>
      changeOut(parts, 'msg_export_new', (message) => ({
        ...message,
        out_msg: envelope(message.out_msg, { next_addr: { kind: 'interm_addr_regular', use_dest_bits: 40 } }),
      })),
    ),
  ],
  [
    'envelope-route',
    'put off, but on its way',
    BUSY,
    inShard((parts) =>
      changeOut(parts, 'msg_export_new_defer', (message) => ({
        ...message,
        out_msg: envelope(message.out_msg, { next_addr: { kind: 'interm_addr_regular', use_dest_bits: 96 } }),
      })),
    ),
  ],
  [
    'import-envelope',
    'another envelope than in the queue',
    RECEIVES,
    inShard((parts) =>
      changeIn(parts, 'msg_import_fin', (message) => {
        const fwd_fee = message.fwd_fee - 1n;
        return { ...message, fwd_fee, in_msg: envelope(message.in_msg, { fwd_fee_remaining: fwd_fee }) };
      }),
    ),
  ],
  [
    'message-next-hop',
    'a message that goes elsewhere',
    RECEIVES,
    inShard((parts) =>
      changeIn(parts, 'msg_import_fin', (message) => ({
        ...message,
        in_msg: envelope(message.in_msg, { next_addr: { kind: 'interm_addr_regular', use_dest_bits: 0 } }),
      })),
    ),
  ],
  [
    'emitted-lt',
    'sent on at an lt of another block',
    LATER,
    inShard((parts) =>
      changeIn(parts, 'msg_import_deferred_fin', (message) => ({
        ...message,
        in_msg: envelope(message.in_msg, { emitted_lt: 1n }),
      })),
    ),
  ],
  [
    'queue-delivered',
    'received at another lt',
    RECEIVES,
    inMasterchain((parts) =>
      changeOut(parts, 'msg_export_deq_short', (message) => ({
        ...message,
        import_block_lt: message.import_block_lt + 1n,
      })),
    ),
  ],
  [
    'queue-delivered',
    'taken out before it was received',
    SENDS + 1,
    inMasterchain((parts) => {
      const [[key, { out_msg }]] = [...parts.queue.out_queue] as unknown as [[OutMsgQueueKey, EnqueuedMsg]];
      parts.out = parts.out.set(key.hash, {
        kind: 'msg_export_deq_short',
        msg_env_hash: out_msg.cell.hash(),
        next_workchain: key.workchain,
        next_addr_pfx: key.prefix,
        import_block_lt: 1n,
      });
      parts.queue.out_queue = parts.queue.out_queue.delete(key);
    }),
  ],
  [
    'envelope',
    'another envelope is taken out',
    RECEIVES,
    inMasterchain((parts) =>
      changeOut(parts, 'msg_export_deq_short', (message) => ({ ...message, msg_env_hash: none(message.msg_env_hash) })),
    ),
  ],
  [
    'queue-change',
    'a new message is not in the queue',
    SENDS,
    inMasterchain((parts) => {
      for (const [key] of parts.queue.out_queue) parts.queue.out_queue = parts.queue.out_queue.delete(key);
    }),
  ],
  [
    'queue-change',
    'a message is lost',
    SENDS + 1,
    inMasterchain((parts) => {
      for (const [key] of parts.queue.out_queue) parts.queue.out_queue = parts.queue.out_queue.delete(key);
    }),
  ],
  [
    'queue-dictionary',
    'another least lt',
    SENDS,
    inMasterchain((parts) => {
      const { type, root } = parts.queue.out_queue;
      parts.queue.out_queue = new AugmentedDictionary(type, root, 7n);
    }),
  ],
  [
    'queue-size',
    'another size',
    SENDS,
    inMasterchain((parts) => {
      parts.queue.extra = { ...parts.queue.extra!, out_queue_size: 7 };
    }),
  ],
  [
    'enqueued-lt',
    'another lt in the queue',
    SENDS,
    inMasterchain((parts) => {
      for (const [key, message] of parts.queue.out_queue)
        parts.queue.out_queue = parts.queue.out_queue.set(key, { ...message, enqueued_lt: message.enqueued_lt + 1n });
    }),
  ],
  [
    'dispatch-queue',
    'messages that were put off are lost',
    BUSY,
    inShard((parts) => {
      const extra = parts.queue.extra!;
      for (const [account] of extra.dispatch_queue)
        parts.queue.extra = { ...extra, dispatch_queue: extra.dispatch_queue.delete(account) };
    }),
  ],
  [
    'dispatch-queue',
    'another count',
    BUSY,
    inShard((parts) => {
      const extra = parts.queue.extra!;
      for (const [account, own] of extra.dispatch_queue)
        parts.queue.extra = {
          ...extra,
          dispatch_queue: extra.dispatch_queue.set(account, { ...own, count: own.count + 1 }),
        };
    }),
  ],
  [
    'processed-info',
    'an entry of another masterchain block',
    RECEIVES,
    inShard((parts) => moveProcessed(parts, (key) => ({ ...key, mc_seqno: key.mc_seqno + 1 }))),
  ],
  ['processed-grows', 'less is received', BUSY, inShard((parts) => moveProcessed(parts, (key) => key, 1n))],
  [
    'processed-justified',
    'less is received than came',
    RECEIVES,
    inShard((parts) => {
      const [message] = [...parts.in].map(([, each]) => each).filter((each) => each.kind === 'msg_import_fin');
      const { info } = (message as InMsg & { kind: 'msg_import_fin' }).in_msg.value.msg.value;
      if (info.kind === 'int_msg_info') moveProcessed(parts, (key) => key, info.created_lt - 1n);
    }),
  ],
];

import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder, EMPTY_CELL, restAsCell } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { StateInit } from '#formats/tlb/account.js';
import { type Codec, decodeCell, either, encodeCell, maybe, ref, type ValueOf } from '#formats/tlb/codec/codec.js';
import {
  any,
  bits256,
  bool,
  cellRef,
  grams,
  int32,
  uint,
  uint8,
  uint32,
  uint64,
  varUint,
} from '#formats/tlb/codec/primitives.js';
import { record, union, variant } from '#formats/tlb/codec/record.js';
import { CurrencyCollection } from '#formats/tlb/currency.js';
import { tlbErrors } from '#formats/tlb/errors.js';
import { MsgAddress, MsgAddressExt, MsgAddressInt } from '#formats/tlb/msg-address.js';
import { isTernError } from '#kernel/tern-error.js';

const extraFlags = varUint(16);

const extInMsgInfo = variant(
  'ext_in_msg_info$10 src:MsgAddressExt dest:MsgAddressInt import_fee:Grams = CommonMsgInfo;',
  { src: MsgAddressExt, dest: MsgAddressInt, import_fee: grams },
);

/**
 * Message header: internal (`int_msg_info`), external-in (`ext_in_msg_info`) or external-out (`ext_out_msg_info`, an event).
 * Values and fees in nanotons, `created_lt` in logical time, `created_at` in unix seconds.
 * `extra_flags` (global version 12; formerly `ihr_fee`, with the same bits): bit 0 requests the new bounce format,
 * bit 1 the whole original body in it.
 */
export const CommonMsgInfo = union('CommonMsgInfo', [
  variant(
    'int_msg_info$0 ihr_disabled:Bool bounce:Bool bounced:Bool src:MsgAddressInt dest:MsgAddressInt value:CurrencyCollection extra_flags:(VarUInteger 16) fwd_fee:Grams created_lt:uint64 created_at:uint32 = CommonMsgInfo;',
    {
      ihr_disabled: bool,
      bounce: bool,
      bounced: bool,
      src: MsgAddressInt,
      dest: MsgAddressInt,
      value: CurrencyCollection,
      extra_flags: extraFlags,
      fwd_fee: grams,
      created_lt: uint64,
      created_at: uint32,
    },
  ),
  extInMsgInfo,
  variant(
    'ext_out_msg_info$11 src:MsgAddressInt dest:MsgAddressExt created_lt:uint64 created_at:uint32 = CommonMsgInfo;',
    { src: MsgAddressInt, dest: MsgAddressExt, created_lt: uint64, created_at: uint32 },
  ),
]);
export type CommonMsgInfo = ValueOf<typeof CommonMsgInfo>;

/** Message header as a contract writes it: the source may be omitted; the node fills in fees and times. */
export const CommonMsgInfoRelaxed = union('CommonMsgInfoRelaxed', [
  variant(
    'int_msg_info$0 ihr_disabled:Bool bounce:Bool bounced:Bool src:MsgAddress dest:MsgAddressInt value:CurrencyCollection extra_flags:(VarUInteger 16) fwd_fee:Grams created_lt:uint64 created_at:uint32 = CommonMsgInfoRelaxed;',
    {
      ihr_disabled: bool,
      bounce: bool,
      bounced: bool,
      src: MsgAddress,
      dest: MsgAddressInt,
      value: CurrencyCollection,
      extra_flags: extraFlags,
      fwd_fee: grams,
      created_lt: uint64,
      created_at: uint32,
    },
  ),
  variant(
    'ext_out_msg_info$11 src:MsgAddress dest:MsgAddressExt created_lt:uint64 created_at:uint32 = CommonMsgInfoRelaxed;',
    { src: MsgAddress, dest: MsgAddressExt, created_lt: uint64, created_at: uint32 },
  ),
]);
export type CommonMsgInfoRelaxed = ValueOf<typeof CommonMsgInfoRelaxed>;

const MaybeInit = maybe(either(StateInit, ref(StateInit)));
/** Inline, the rest of the cell; in a reference, any cell, exotic ones included. */
const Body = either(any, cellRef);

/**
 * A message. `init` and `body` preserve where they are stored, inline (`left`) or in a reference (`right`); read them
 * with {@link messageInit} and {@link messageBody}.
 */
export const Message = record(
  'message$_ {X:Type} info:CommonMsgInfo init:(Maybe (Either StateInit ^StateInit)) body:(Either X ^X) = Message X;',
  { info: CommonMsgInfo, init: MaybeInit, body: Body },
);
export type Message = ValueOf<typeof Message>;

/** A message as a contract writes it; see {@link CommonMsgInfoRelaxed}. */
export const MessageRelaxed = record(
  'message$_ {X:Type} info:CommonMsgInfoRelaxed init:(Maybe (Either StateInit ^StateInit)) body:(Either X ^X) = MessageRelaxed X;',
  { info: CommonMsgInfoRelaxed, init: MaybeInit, body: Body },
);
export type MessageRelaxed = ValueOf<typeof MessageRelaxed>;

/**
 * A slice at the start of the body, wherever it is stored; each call returns a new slice.
 * @throws cells/exotic-not-expected when the body is an exotic cell, cells/pruned-branch
 */
export function messageBody(message: Message | MessageRelaxed): Slice {
  const { body } = message;
  return body.kind === 'left' ? body.value.clone() : openCell(body.value);
}

/** The body as a cell; its hash is the body hash that explorers show. */
export function messageBodyCell(message: Message | MessageRelaxed): Cell {
  const { body } = message;
  return body.kind === 'left' ? restAsCell(body.value) : body.value;
}

/** The `StateInit` of the message, wherever it is stored, or `null`. @throws as decoding it */
export function messageInit(message: Message | MessageRelaxed): StateInit | null {
  const { init } = message;
  if (init === null) return null;
  return init.kind === 'left' ? init.value : init.value.value;
}

/**
 * The normalized hash of an external-in message, independent of how a wallet serialised it (TEP-467): source `addr_none`,
 * import fee 0, no init, body in a reference.
 * @throws tlb/unknown-variant when the message is not external-in
 */
export function normalizedExternalHash(message: Message): Uint8Array {
  const { info } = message;
  if (info.kind !== 'ext_in_msg_info')
    throw tlbErrors['unknown-variant']({
      type: 'an external message',
      kind: info.kind,
      allowed: extInMsgInfo.line.name,
    });
  return encodeCell(Message, {
    info: { kind: 'ext_in_msg_info', src: null, dest: info.dest, import_fee: 0n },
    init: null,
    body: { kind: 'right', value: messageBodyCell(message) },
  }).hash(0);
}

/** Nodes take external-in messages of at most so many bytes (`max_ext_msg_size` of ConfigParam 43 by default). */
export const MAX_EXTERNAL_MESSAGE_BYTES = 65_535;

/** An external-in message as a liteserver accepts it for sending. */
export interface ExternalInMessage {
  /** The bag of cells it was received in, or its serialisation. */
  readonly boc: Uint8Array;
  readonly cell: Cell;
  readonly message: Message;
}

/**
 * Decodes an external-in message (`ext_in_msg_info$10`).
 *
 * @param boc the bag of cells it was received in; by default the cell is serialised
 * @throws tlb/not-external for another kind of message; tlb/*, cells/* when it is not a message
 */
export function readExternalInMessage(cell: Cell, boc: Uint8Array = serializeBoc(cell)): ExternalInMessage {
  const message = decodeCell(Message, cell);
  const { kind } = message.info;
  if (kind !== 'ext_in_msg_info') throw tlbErrors['not-external']({ kind });
  return { boc, cell, message };
}

/** Value, logical time and unix time of the message that bounced. */
export const NewBounceOriginalInfo = record(
  '_ value:CurrencyCollection created_lt:uint64 created_at:uint32 = NewBounceOriginalInfo;',
  { value: CurrencyCollection, created_lt: uint64, created_at: uint32 },
);
export type NewBounceOriginalInfo = ValueOf<typeof NewBounceOriginalInfo>;

export const NewBounceComputePhaseInfo = record('_ gas_used:uint32 vm_steps:uint32 = NewBounceComputePhaseInfo;', {
  gas_used: uint32,
  vm_steps: uint32,
});
export type NewBounceComputePhaseInfo = ValueOf<typeof NewBounceComputePhaseInfo>;

/**
 * Body of a bounced message when the sender requested the new format (`extra_flags` bit 0, global version 12).
 * `original_body` is the whole body with `extra_flags` bit 1, else its root without references. `bounced_by_phase`:
 * 0 compute skipped (`exit_code` -1 no state, -2 bad state, -3 no gas, -4 suspended), 1 compute failed, 2 action failed.
 */
export const NewBounceBody = record(
  'new_bounce_body#fffffffe original_body:^Cell original_info:^NewBounceOriginalInfo bounced_by_phase:uint8 exit_code:int32 compute_phase:(Maybe NewBounceComputePhaseInfo) = NewBounceBody;',
  {
    original_body: cellRef,
    original_info: ref(NewBounceOriginalInfo),
    bounced_by_phase: uint8,
    exit_code: int32,
    compute_phase: maybe(NewBounceComputePhaseInfo),
  },
);
export type NewBounceBody = ValueOf<typeof NewBounceBody>;

const OLD_PREFIX = 0xffffffff;

/** The content of a bounced message body. */
export type BounceBody =
  /** The old format: at most the first 256 bits of the original body. */
  | { readonly format: 'old'; readonly original_body: Slice }
  | { readonly format: 'new'; readonly body: NewBounceBody }
  /** An empty body, as when the value did not pay for one, or an unknown format. */
  | { readonly format: 'none' };

/**
 * Reads the body of a message that has `bounced` set. The slice is not moved.
 * @throws as decoding `NewBounceBody`
 */
export function readBounceBody(body: Slice): BounceBody {
  const slice = body.clone();
  if (slice.remainingBits < 32) return { format: 'none' };
  const prefix = slice.preloadUint(32);
  if (prefix === OLD_PREFIX) return { format: 'old', original_body: slice.skip(32) };
  if (prefix !== NewBounceBody.line.tag) return { format: 'none' };
  const value = NewBounceBody.load(slice);
  slice.end();
  return { format: 'new', body: value };
}

/** A library, by hash or whole. */
export const LibRef = union('LibRef', [
  variant('libref_hash$0 lib_hash:bits256 = LibRef;', { lib_hash: bits256 }),
  variant('libref_ref$1 library:^Cell = LibRef;', { library: cellRef }),
]);
export type LibRef = ValueOf<typeof LibRef>;

/** An output action of a contract: send a message, set code, reserve currency, change a library. */
export const OutAction = union('OutAction', [
  variant('action_send_msg#0ec3c86d mode:(## 8) out_msg:^(MessageRelaxed Any) = OutAction;', {
    mode: uint8,
    out_msg: ref(MessageRelaxed),
  }),
  variant('action_set_code#ad4de08e new_code:^Cell = OutAction;', { new_code: cellRef }),
  variant('action_reserve_currency#36e6b809 mode:(## 8) currency:CurrencyCollection = OutAction;', {
    mode: uint8,
    currency: CurrencyCollection,
  }),
  variant('action_change_library#26fa1dd4 mode:(## 7) libref:LibRef = OutAction;', { mode: uint(7), libref: LibRef }),
]);
export type OutAction = ValueOf<typeof OutAction>;

/**
 * The actions in c5 in execution order. In cells the last one is outermost; the length is not
 * stored, the empty cell ends the list. Nodes accept at most 255.
 * `out_list_empty$_ = OutList 0;`
 * `out_list$_ {n:#} prev:^(OutList n) action:OutAction = OutList (n + 1);`
 */
export const OutList: Codec<readonly OutAction[]> = {
  type: 'OutList',
  load: (slice) => {
    const actions: OutAction[] = [];
    let node: Slice = slice;
    while (!node.isEmpty) {
      const fromLast = actions.length;
      try {
        const prev = node.loadRef();
        actions.push(OutAction.load(node));
        node.end();
        node = openCell(prev);
      } catch (error) {
        throw isTernError(error) ? error.within(`[last - ${fromLast}]`) : error;
      }
    }
    return actions.reverse();
  },
  store: (actions, builder) => {
    const last = actions.at(-1);
    if (last === undefined) return;
    let list: Cell = EMPTY_CELL;
    for (const action of actions.slice(0, -1)) {
      const node = new Builder().storeRef(list);
      OutAction.store(action, node);
      list = node.endCell();
    }
    builder.storeRef(list);
    OutAction.store(last, builder);
  },
};
export type OutList = ValueOf<typeof OutList>;

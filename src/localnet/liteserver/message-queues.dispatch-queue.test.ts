import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { parseBoc } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import { Slice } from '#formats/cells/slice.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import { MsgEnvelope } from '#formats/tlb/block-messages.js';
import { Lazy } from '#formats/tlb/codec/codec.js';
import { bigUintKey, Dictionary } from '#formats/tlb/codec/dictionary.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import { Message } from '#formats/tlb/message.js';
import { type AccountDispatchQueue, DispatchQueue, EnqueuedMsg, OutMsgQueueInfo } from '#formats/tlb/out-msg-queue.js';
import { dispatchQueueHandlers } from '#localnet/liteserver/message-queues.js';
import { blockAt, contextOf, genesisLedger, refusal, withStates } from '#test/support/genesis-ledger.js';

const { 'liteServer.getDispatchQueueInfo': getInfo, 'liteServer.getDispatchQueueMessages': getMessages } =
  dispatchQueueHandlers;

const accountOf = (number: number): Uint8Array => new Uint8Array(32).fill(number);
const EMPTY_BODY = new Slice(new Builder().endCell());

function message(account: number, lt: bigint): Message {
  const src = Address.ofParts(0, accountOf(account));
  return {
    info: {
      kind: 'int_msg_info',
      ihr_disabled: true,
      bounce: false,
      bounced: false,
      src,
      dest: src,
      value: onlyGrams(1n),
      extra_flags: 0n,
      fwd_fee: 0n,
      created_lt: lt,
      created_at: 0,
    },
    init: null,
    body: { kind: 'left', value: EMPTY_BODY.clone() },
  } as unknown as Message;
}

/** Message number `index` of an account; the first of each has metadata. */
function enqueued(account: number, index: number): EnqueuedMsg {
  const lt = BigInt(index * 10);
  const address = { kind: 'interm_addr_regular', use_dest_bits: 0 } as const;
  const base = {
    cur_addr: address,
    next_addr: address,
    fwd_fee_remaining: 0n,
    msg: Lazy.ofValue(Message, message(account, lt)),
  };
  const metadata = { depth: account, initiator_addr: Address.ofParts(0, accountOf(9)), initiator_lt: lt };
  const envelope: MsgEnvelope =
    index === 1 ? { kind: 'msg_envelope_v2', ...base, emitted_lt: null, metadata } : { kind: 'msg_envelope', ...base };
  return { enqueued_lt: lt, out_msg: Lazy.ofValue(MsgEnvelope, envelope) };
}

/** Accounts 1 to 3, with one, two and thirty messages. */
const queue = DispatchQueue.of(
  [1, 2, 30].map((count, i): readonly [Uint8Array, AccountDispatchQueue] => {
    const entries = Array.from({ length: count }, (_, n) => [BigInt((n + 1) * 10), enqueued(i + 1, n + 1)] as const);
    return [accountOf(i + 1), { messages: Dictionary.of({ key: bigUintKey(64), value: EnqueuedMsg }, entries), count }];
  }),
);
const plain = genesisLedger();
const ledger = withStates(plain, (state) => {
  const extra = { dispatch_queue: queue, out_queue_size: 0 };
  return { ...state, out_msg_queue_info: Lazy.ofValue(OutMsgQueueInfo, { ...state.out_msg_queue_info.value, extra }) };
});
const context = contextOf(ledger);
const id = blockIdToTl(blockAt(plain, 4).id);

describe('accounts with deferred messages', () => {
  const ask = (max_accounts: number, after_addr: Uint8Array | null = null, of = context) =>
    getInfo({ mode: after_addr === null ? 0 : 2, id, after_addr, max_accounts, want_proof: false }, of);
  const print = ({ account_dispatch_queues: list, complete }: ReturnType<typeof ask>) =>
    `${list.map(({ addr, size, min_lt, max_lt }) => `${addr[0]}: ${size} from ${min_lt} to ${max_lt}`).join(', ')}${complete ? '.' : ' ...'}`;

  it('are listed from the first, or after one, with the ends of their queues', () => {
    expect(print(ask(64))).toBe('1: 1 from 10 to 10, 2: 2 from 10 to 20, 3: 30 from 10 to 300.');
    expect(print(ask(1))).toBe('1: 1 from 10 to 10 ...');
    expect(print(ask(3))).toMatch(/300\.$/);
    expect(print(ask(5, accountOf(2)))).toBe('3: 30 from 10 to 300.');
    expect(print(ask(5, accountOf(3)))).toBe('.');
    expect(print(ask(5, null, contextOf(plain)))).toBe('.');
  });

  it('are not listed for nothing', () => {
    expect(refusal(() => ask(0))).toBe('-400 invalid max_accounts');
    expect(
      refusal(() =>
        getInfo({ mode: 0, id: { ...id, shard: 0n }, after_addr: null, max_accounts: 1, want_proof: false }, context),
      ),
    ).toBe('-400 invalid BlockIdExt');
  });
});

describe('deferred messages', () => {
  const ask = (mode: number, addr: Uint8Array, after_lt: bigint, max_messages: number) =>
    getMessages(
      {
        mode,
        id,
        addr,
        after_lt,
        max_messages,
        want_proof: false,
        one_account: (mode & 2) !== 0,
        messages_boc: (mode & 4) !== 0,
      },
      context,
    );
  const print = ({ messages, complete }: ReturnType<typeof ask>) =>
    `${messages.map(({ addr, lt }) => `${addr[0]}/${lt}`).join(' ')}${complete ? '.' : ' ...'}`;

  it('are listed over accounts, from an lt of the first', () => {
    expect(print(ask(0, accountOf(1), 0n, 4))).toBe('1/10 2/10 2/20 3/10 ...');
    expect(print(ask(0, accountOf(2), 10n, 2))).toBe('2/20 3/10 ...');
    expect(print(ask(0, accountOf(2), -7n, 2))).toBe('2/10 2/20 ...');
    expect(print(ask(0, accountOf(0), 0n, 64))).toMatch(/^1\/10 2\/10 .* 3\/300\.$/);
    expect(print(ask(0, accountOf(3), 290n, 1))).toBe('3/300.');
    expect(print(ask(0, accountOf(4), 0n, 1))).toBe('.');
  });

  it('are listed of one account', () => {
    expect(print(ask(2, accountOf(2), 0n, 64))).toBe('2/10 2/20.');
    expect(print(ask(2, new Uint8Array(32).fill(2, 0, 31), 0n, 64))).toBe('.');
  });

  it('come with their cells, then at most 16, and with who began them', () => {
    const { messages, messages_boc } = ask(4, accountOf(3), 0n, 64);
    expect(messages).toHaveLength(16);
    expect(parseBoc(messages_boc!).roots.map((root) => root.hash())).toEqual(messages.map(({ hash }) => hash));
    expect(messages[0]!.metadata).toMatchObject({
      depth: 3,
      initiator: { workchain: 0, id: accountOf(9) },
      initiator_lt: 10n,
    });
    expect(messages[1]!.metadata).toMatchObject({ depth: -1, initiator: { workchain: -(2 ** 31) }, initiator_lt: -1n });
    expect(refusal(() => ask(0, accountOf(1), 0n, -1))).toBe('-400 invalid max_messages');
  });
});

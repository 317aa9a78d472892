import { describe, expect, it } from 'vitest';
import { OpenMessages } from '#domain/traces/trace.js';
import {
  type InboundMessage,
  inboundKind,
  TraceAssembler,
  type TraceTransaction,
} from '#domain/traces/trace-assembler.js';
import { Address } from '#formats/address/address.js';
import type { CommonMsgInfo } from '#formats/tlb/message.js';
import { errorCode } from '#test/support/error-code.js';

const hash = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

function transaction(id: number, more: Partial<TraceTransaction> = {}): TraceTransaction {
  return {
    id: BigInt(id),
    hash: hash(id),
    lt: BigInt(id * 10),
    now: 1000 + id,
    mc_seqno: id,
    account_key: 7n,
    in_msg: null,
    out_msgs: [],
    ...more,
  };
}

const inbound = (byte: number, kind: InboundMessage['kind'] = 'internal'): InboundMessage => ({
  hash: hash(byte),
  kind,
});
const sent = (...bytes: number[]) => bytes.map((byte) => ({ hash: hash(byte), external: false }));
const logged = (byte: number) => ({ hash: hash(byte), external: true });

describe('a trace that begins in the batch', () => {
  it.each([
    ['a message from outside', inbound(90, 'external'), 1, 'complete'],
    ['a message of the validators', inbound(90, 'system'), 1, 'complete'],
    ['no message', null, 0, 'complete'],
    ['a message from nowhere', inbound(90), 0, 'broken'],
  ] as const)('begins with %s', (_, in_msg, edges, state) => {
    const assembler = new TraceAssembler();
    expect(assembler.add(transaction(3, { in_msg }))).toBe(3n);
    expect(assembler.finish()).toEqual({
      started: [
        {
          root: 3n,
          trace_id: hash(3),
          start_lt: 30n,
          start_utime: 1003,
          mc_seqno_start: 3,
          end_lt: 30n,
          end_utime: 1003,
          mc_seqno_end: 3,
          nodes: 1,
          edges,
          pending_edges: 0,
          state,
          accounts: [7n],
        },
      ],
      continued: [],
      opened: [],
      orphans: state === 'broken' ? [{ hash: hash(90), root: 3n }] : [],
      received: [],
    });
  });

  it('takes in what its messages begin, with the greatest lt and time, and each account once', () => {
    const assembler = new TraceAssembler();
    const roots = [
      transaction(1, { in_msg: inbound(90, 'external'), out_msgs: [...sent(20, 21, 22), logged(23)], account_key: 1n }),
      transaction(2),
      transaction(3, { in_msg: inbound(21), lt: 900n, now: 5000, account_key: 2n, out_msgs: sent(24) }),
      transaction(4, { in_msg: inbound(20), account_key: 1n }),
    ].map((each) => assembler.add(each));
    expect(roots).toEqual([1n, 2n, 1n, 1n]);
    const { started, opened, orphans } = assembler.finish();
    expect(started.map(({ root }) => root)).toEqual([1n, 2n]);
    expect(started[0]).toMatchObject({
      start_lt: 10n,
      start_utime: 1001,
      mc_seqno_start: 1,
      end_lt: 900n,
      end_utime: 5000,
      mc_seqno_end: 4,
      nodes: 3,
      edges: 4,
      pending_edges: 2,
      state: 'pending',
      accounts: [1n, 2n],
    });
    expect(opened).toEqual([
      { hash: hash(22), root: 1n },
      { hash: hash(24), root: 1n },
    ]);
    expect(orphans).toEqual([]);
  });

  it('is broken when its root is an orphan, whatever else happens in it', () => {
    const assembler = new TraceAssembler();
    assembler.add(transaction(1, { in_msg: inbound(90), out_msgs: sent(20, 21) }));
    expect(assembler.add(transaction(2, { in_msg: inbound(20) }))).toBe(1n);
    expect(assembler.finish().started).toMatchObject([{ nodes: 2, edges: 1, pending_edges: 1, state: 'broken' }]);
  });

  it('does not go on with a message that left the chain', () => {
    const assembler = new TraceAssembler();
    assembler.add(transaction(1, { out_msgs: [logged(20)] }));
    expect(assembler.add(transaction(2, { in_msg: inbound(20) }))).toBe(2n);
    expect(assembler.finish().orphans).toHaveLength(1);
  });
});

describe('a trace that began before the batch', () => {
  const known = new OpenMessages([
    { hash: hash(50), root: -5n },
    { hash: hash(51), root: -5n },
    { hash: hash(52), root: -6n },
  ]);

  it('goes on by the messages that were open', () => {
    const assembler = new TraceAssembler(known);
    const roots = [
      transaction(1, { in_msg: inbound(51), account_key: 3n, out_msgs: [...sent(20, 21), logged(22)] }),
      transaction(2, { in_msg: inbound(20), account_key: 3n }),
      transaction(3, { in_msg: inbound(50), account_key: 4n }),
    ].map((each) => assembler.add(each));
    expect(roots).toEqual([-5n, -5n, -5n]);
    expect(assembler.finish()).toEqual({
      started: [],
      continued: [
        {
          root: -5n,
          end_lt: 30n,
          end_utime: 1003,
          mc_seqno_end: 3,
          nodes: 3,
          edges: 4,
          pending_edges: -1,
          accounts: [3n, 4n],
        },
      ],
      opened: [{ hash: hash(21), root: -5n }],
      orphans: [],
      received: [
        { hash: hash(51), root: -5n },
        { hash: hash(50), root: -5n },
      ],
    });
    expect(known.size).toBe(3);
  });

  it('does not count a message that is said to arrive twice', () => {
    const assembler = new TraceAssembler(known);
    expect(assembler.add(transaction(1, { in_msg: inbound(52) }))).toBe(-6n);
    expect(assembler.add(transaction(2, { in_msg: inbound(52) }))).toBe(2n);
    const { orphans, received } = assembler.finish();
    expect(orphans).toEqual([{ hash: hash(52), root: 2n }]);
    expect(received).toEqual([{ hash: hash(52), root: -6n }]);
  });
});

describe('a batch', () => {
  it('is given in the order of ids', () => {
    const assembler = new TraceAssembler();
    assembler.add(transaction(2));
    expect(errorCode(() => assembler.add(transaction(2)))).toBe('traces/id-order');
    expect(errorCode(() => assembler.add(transaction(1)))).toBe('traces/id-order');
  });

  it('ends', () => {
    const assembler = new TraceAssembler();
    assembler.finish();
    expect(errorCode(() => assembler.add(transaction(1)))).toBe('traces/finished');
  });
});

const zero = new Uint8Array(32);
const one = new Uint8Array(32).fill(1, 31);

const start_lt = 5_000_000n;

function internal(src: Address | object, created_lt = start_lt): CommonMsgInfo {
  return { kind: 'int_msg_info', src, created_lt } as CommonMsgInfo;
}

it.each([
  ['external', { kind: 'ext_in_msg_info', src: null } as CommonMsgInfo],
  ['system', internal(Address.ofParts(-1, zero))],
  ['internal', internal(Address.ofParts(-1, zero), start_lt + 2n)],
  ['internal', internal(Address.ofParts(-1, zero), start_lt - 2n)],
  ['internal', internal(Address.ofParts(0, zero))],
  ['internal', internal(Address.ofParts(-1, one))],
  ['internal', internal({ kind: 'addr_std', anycast: {}, workchain_id: -1, address: zero })],
] as const)('tells that a message is %s', (kind, info) => {
  expect(inboundKind(info, start_lt)).toBe(kind);
});

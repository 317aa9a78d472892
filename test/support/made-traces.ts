import type { TracedMessage, TracedTransaction, TraceInput } from '#domain/actions/trace-input.js';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';

/* Traces made by hand, as trees of messages. */

export interface MadeMessage {
  /** Number of the receiver; null: it leaves the chain, as an event. */
  readonly to: number | null;
  readonly body: Cell;
  readonly value?: bigint;
  readonly aborted?: boolean;
  /** `StateInit` of the message. */
  readonly init?: Cell;
  /** The receiver becomes active. */
  readonly deploys?: boolean;
  readonly sends?: readonly MadeMessage[];
}

/** The account of a number. */
export function account(number: number): Address {
  const hash = new Uint8Array(32);
  new DataView(hash.buffer).setUint32(28, number);
  hash[0] = 0xac;
  return Address.ofParts(0, hash);
}

/** A body of an opcode alone, or with a query id of 0. */
export function bodyOf(opcode: number): Cell {
  return new Builder().storeUint(opcode, 32).storeUint(0n, 64).endCell();
}

function hashOf(kind: number, number: number): Uint8Array {
  const hash = new Uint8Array(32);
  new DataView(hash.buffer).setUint32(0, number);
  hash[31] = kind;
  return hash;
}

/** A trace that an external message to a wallet started. */
export function madeTrace(wallet: number, sent: readonly MadeMessage[]): TraceInput {
  const start = {
    ...messageFrom(0, { to: wallet, body: bodyOf(0x11111111) }, 1),
    source: null,
    value: null,
    created_lt: null,
    created_at: null,
  };
  return traceOf(wallet, start, sent);
}

/** A trace that a tick-tock transaction of a special account started. */
export function madeTickTock(special: number, sent: readonly MadeMessage[]): TraceInput {
  return traceOf(special, null, sent);
}

function traceOf(first: number, start: TracedMessage | null, sent: readonly MadeMessage[]): TraceInput {
  const transactions: TracedTransaction[] = [];
  let lt = 1;
  const receive = (
    to: number,
    message: TracedMessage | null,
    { aborted = false, deploys = false, sends: further = [] }: Partial<MadeMessage>,
  ): void => {
    const position = transactions.length;
    const out: { readonly given: MadeMessage; readonly message: TracedMessage }[] = [];
    const own = ++lt;
    for (const given of further) {
      out.push({ given, message: messageFrom(to, given, ++lt) });
    }
    transactions.push({
      hash: hashOf(1, position + 1),
      account: account(to),
      lt: BigInt(own),
      utime: 1_700_000_000 + position,
      mc_seqno: 1,
      kind: message === null ? 'tick_tock' : 'ordinary',
      aborted,
      exit_code: aborted ? 1 : 0,
      skipped: null,
      orig_status: deploys ? 'nonexist' : 'active',
      end_status: 'active',
      in_msg: message,
      out_msgs: out.map((one) => one.message),
    });
    for (const { given, message: next } of out) {
      if (given.to !== null) receive(given.to, next, given);
    }
  };
  receive(first, start, { sends: sent });
  return { trace_id: transactions[0]!.hash, transactions };
}

function messageFrom(from: number, { to, body, value = 1_000_000_000n, init }: MadeMessage, lt: number): TracedMessage {
  return {
    hash: hashOf(2, lt),
    source: account(from),
    destination: to === null ? null : account(to),
    value: to === null ? null : value,
    currencies: new Map(),
    bounce: true,
    bounced: false,
    created_lt: BigInt(lt),
    created_at: 1_700_000_000,
    body,
    init: init ?? null,
  };
}

import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Message, messageBodyCell } from '#formats/tlb/message.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import { FINALITIES, type Finality, type LiveTransaction } from '#services/pending/live-trace.js';

/** A message of a trace, and the transaction that receives it. */
export interface TracePlace {
  /** As the sender sent it: of a real sender, the message in the block; else the emulated one. */
  message: Cell;
  /** The place of the sender; null: the message began the trace. */
  readonly parent: TracePlace | null;
  readonly depth: number;
  /** Null: nobody knows yet what follows from the message. */
  transaction: LiveTransaction | null;
  /** One for each internal message that the transaction sends, in the order of sending. */
  children: readonly TracePlace[];
  /** Whether it was emulated on its own, after its sender was found in a block. */
  isTried: boolean;
}

/** Whether a block contains the transaction of a message. A real transaction never becomes an emulated one again. */
export function isReal({ transaction }: TracePlace): boolean {
  return transaction !== null && transaction.finality !== 'pending';
}

/** What a transaction received and sent. */
interface TransactionMessages {
  readonly in_msg: Cell | null;
  /** Internal messages to standard addresses, in the order of sending. */
  readonly sent: readonly Cell[];
}

/** @throws tlb/*, cells/* when it is no transaction */
export function messagesOf(transaction: Cell): TransactionMessages {
  const { in_msg, out_msgs } = decodeCell(Transaction, transaction);
  const sent: Cell[] = [];
  for (const [, message] of out_msgs) {
    const { info } = message.value;
    if (info.kind === 'int_msg_info' && info.dest instanceof Address) sent.push(message.cell);
  }
  return { in_msg: in_msg?.cell ?? null, sent };
}

/**
 * A trace as far as it is known: a tree of messages. An emulated transaction gives way to the real one of its message. Hashes of
 * emulated messages differ from those that come (their lt and time are estimates), so what was emulated below a transaction is kept
 * by its place: the order among the messages that it sends, destination and body.
 */
export class PlacedTrace {
  readonly #root: TracePlace;
  readonly #mostTransactions: number;
  #size = 0;
  #mispredicted = 0;
  #isCut = false;

  /** @param message the external-in message */
  constructor(message: Cell, mostTransactions: number) {
    this.#root = placeOf(message, null);
    this.#mostTransactions = mostTransactions;
  }

  get root(): TracePlace {
    return this.#root;
  }

  /** There is more than may be kept. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Emulated transactions that blocks did not have: their senders sent other messages. */
  get mispredicted(): number {
    return this.#mispredicted;
  }

  /** Transactions. */
  get size(): number {
    return this.#size;
  }

  /**
   * Puts an emulation below a message that has no transaction yet.
   *
   * @param emulated a transaction before those that its messages trigger
   */
  addEmulated(place: TracePlace, emulated: readonly LiveTransaction[]): void {
    const byMessage = new Map<string, LiveTransaction>();
    for (const each of emulated.slice(1)) {
      const { in_msg } = messagesOf(each.cell);
      if (in_msg !== null) byMessage.set(toHex(in_msg.hash()), each);
    }
    const [first] = emulated;
    if (first === undefined || place.transaction !== null) return;
    const put = (at: TracePlace, transaction: LiveTransaction): void => {
      if (!this.#hasRoom()) return;
      this.#size++;
      at.transaction = transaction;
      at.children = messagesOf(transaction.cell).sent.map((message) => placeOf(message, at));
    };
    put(place, first);
    const open = [place];
    for (let at = open.shift(); at !== undefined; at = open.shift()) {
      for (const child of at.children) {
        const transaction = byMessage.get(toHex(child.message.hash()));
        if (transaction === undefined) continue;
        put(child, transaction);
        open.push(child);
      }
    }
  }

  /**
   * Puts the real transaction of a message in its place, or makes the one that is there more certain.
   *
   * @returns false when it changes nothing
   */
  place(place: TracePlace, real: LiveTransaction): boolean {
    const { transaction } = place;
    if (transaction !== null && rank(transaction.finality) > rank(real.finality)) return false;
    if (transaction !== null && bytesEqual(transaction.cell.hash(), real.cell.hash())) {
      if (transaction.finality === real.finality) return false;
      place.transaction = {
        ...real,
        before: real.before ?? transaction.before,
        after: real.after ?? transaction.after,
      };
      return true;
    }
    // A confirmed transaction whose block was replaced gives way, too.
    if (transaction !== null && transaction.finality === real.finality) return false;
    if (transaction === null && !this.#hasRoom()) return false;
    if (transaction === null) this.#size++;
    const { in_msg, sent } = messagesOf(real.cell);
    if (in_msg !== null) place.message = in_msg;
    place.transaction = real;
    const before = place.children;
    place.children = sent.map((message, index) => {
      const predicted = before[index];
      return predicted !== undefined && keep(predicted, message) ? predicted : placeOf(message, place);
    });
    for (const gone of before.filter((each) => !place.children.includes(each))) this.#forget(gone);
    return true;
  }

  /** All places, breadth first. */
  *places(): Generator<TracePlace> {
    let level: TracePlace[] = [this.#root];
    while (level.length > 0) {
      const next: TracePlace[] = [];
      for (const place of level) {
        yield place;
        next.push(...place.children);
      }
      level = next;
    }
  }

  /** The transactions, breadth first. */
  transactions(): readonly LiveTransaction[] {
    const found: LiveTransaction[] = [];
    for (const { transaction } of this.places()) if (transaction !== null) found.push(transaction);
    return found;
  }

  /** The lowest of the transactions; `pending` while it is not known what follows from a message. */
  finality(): Finality {
    for (const { transaction } of this.places()) if (transaction === null && !this.#isCut) return 'pending';
    return lowest(this.transactions());
  }

  #hasRoom(): boolean {
    if (this.#size < this.#mostTransactions) return true;
    this.#isCut = true;
    return false;
  }

  /** Counts what is below a place that goes, itself included. */
  #forget(place: TracePlace): void {
    const open = [place];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (at.transaction !== null) {
        this.#size--;
        this.#mispredicted++;
      }
      open.push(...at.children);
    }
  }
}

/** Position in {@link FINALITIES}. */
function rank(finality: Finality): number {
  return FINALITIES.indexOf(finality);
}

/** The lowest finality of some transactions; `finalized` of none. */
export function lowest(transactions: readonly Pick<LiveTransaction, 'finality'>[]): Finality {
  return FINALITIES[Math.min(FINALITIES.length - 1, ...transactions.map(({ finality }) => rank(finality)))]!;
}

function placeOf(message: Cell, parent: TracePlace | null): TracePlace {
  return {
    message,
    parent,
    depth: parent === null ? 0 : parent.depth + 1,
    transaction: null,
    children: [],
    isTried: false,
  };
}

/** Destination, body and init are the same; value and fees may differ by storage fees, lt and time always do. */
function isSameMessage(a: Cell, b: Cell): boolean {
  const [one, other] = [decodeCell(Message, a), decodeCell(Message, b)];
  if (one.info.kind !== 'int_msg_info' || other.info.kind !== 'int_msg_info') return false;
  const [to, at] = [one.info.dest, other.info.dest];
  if (!(to instanceof Address) || !(at instanceof Address) || !to.equals(at)) return false;
  if (one.info.bounced !== other.info.bounced || (one.init === null) !== (other.init === null)) return false;
  return bytesEqual(messageBodyCell(one).hash(), messageBodyCell(other).hash());
}

/**
 * Whether what is below an expected message stays when this message was sent in its stead: then an emulated transaction receives it.
 */
function keep(expected: TracePlace, message: Cell): boolean {
  const { transaction } = expected;
  if (bytesEqual(expected.message.hash(), message.hash())) return true;
  if (transaction !== null && transaction.finality !== 'pending') return false;
  if (!isSameMessage(expected.message, message)) return false;
  expected.message = message;
  if (transaction !== null) expected.transaction = { ...transaction, cell: withInMessage(transaction.cell, message) };
  return true;
}

/**
 * A `Transaction` with another incoming message: `^[ in_msg:(Maybe ^(Message Any)) … ]` is its first reference, and the message the
 * first one of that.
 */
function withInMessage(transaction: Cell, message: Cell): Cell {
  const messages = openCell(transaction).loadRef();
  return withFirstRef(transaction, withFirstRef(messages, message));
}

function withFirstRef(cell: Cell, first: Cell): Cell {
  const slice: Slice = openCell(cell);
  const builder = new Builder().storeBits(slice.loadBits(slice.remainingBits)).storeRef(first);
  slice.loadRef();
  while (slice.remainingRefs > 0) builder.storeRef(slice.loadRef());
  return builder.endCell();
}

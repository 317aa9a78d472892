import type {
  BlockFilter,
  ByMessageFilter,
  MessageFilter,
  TimeBounds,
  TraceFilter,
  TransactionFilter,
} from '#drivers/store/read/index-types.js';
import { Address } from '#formats/address/address.js';
import { CellType } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { type Message, messageBodyCell, normalizedExternalHash } from '#formats/tlb/message.js';
import { accountOf } from '#formats/tlb/msg-address.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toBase64, toHex } from '#kernel/bytes.js';
import type { BlockFact, IndexedChain, IndexedFact } from '#test/support/indexed-chain.js';

/** A message of the indexed part of a chain, decoded as a whole. */
export interface MessageFact {
  readonly hash: Uint8Array;
  readonly norm_hash: Uint8Array;
  readonly body_hash: Uint8Array;
  readonly source: Address | null;
  readonly destination: Address | null;
  readonly external: 'in' | 'out' | null;
  readonly created_lt: bigint | null;
  readonly created_at: number | null;
  readonly opcode: number | null;
  sent_by: TransactionFact | null;
  received_by: TransactionFact | null;
}

export interface TransactionFact extends IndexedFact {
  readonly address: Address;
  readonly hash: Uint8Array;
  readonly in_msg: MessageFact | null;
  readonly out_msgs: readonly MessageFact[];
}

type Sort = 'asc' | 'desc';

/** Answers questions to an index by looking at everything. */
export class IndexOracle {
  readonly chain: IndexedChain;
  readonly transactions: readonly TransactionFact[];
  readonly messages: readonly MessageFact[];
  readonly blocks: readonly BlockFact[];

  constructor(chain: IndexedChain) {
    this.chain = chain;
    this.blocks = chain.blocks;
    const messages = new Map<string, MessageFact>();
    const fact = (cell: { hash(): Uint8Array }, message: Message) => {
      const key = toHex(cell.hash());
      const known = messages.get(key) ?? messageFact(cell.hash(), message);
      messages.set(key, known);
      return known;
    };
    this.transactions = chain.transactions.map((indexed) => {
      const transaction = decodeCell(Transaction, indexed.expected.cell);
      const { in_msg, out_msgs } = transaction;
      const found: TransactionFact = {
        ...indexed,
        address: Address.ofParts(indexed.expected.workchain, transaction.account_addr),
        hash: indexed.expected.cell.hash(),
        in_msg: in_msg === null ? null : fact(in_msg.cell, in_msg.value),
        out_msgs: [...out_msgs].map(([, { cell, value }]) => fact(cell, value)),
      };
      if (found.in_msg !== null) found.in_msg.received_by ??= found;
      for (const message of found.out_msgs) message.sent_by = found;
      return found;
    });
    this.messages = [...messages.values()];
  }

  transactionIds(filter: TransactionFilter, sort: Sort): string[] {
    const byTime = hasTime(filter);
    const found = this.transactions.filter(
      (fact) =>
        inBounds(filter, fact.expected.lt, fact.expected.now) &&
        is(filter.workchain, fact.expected.workchain) &&
        is(filter.shard, BigInt.asUintN(64, fact.expected.shard)) &&
        is(filter.seqno, fact.expected.block_seqno) &&
        is(filter.mc_seqno, fact.mc_seqno) &&
        is(filter.lt, fact.expected.lt) &&
        (filter.account === undefined || filter.account.some((address) => address.equals(fact.address))) &&
        filter.exclude_account?.some((address) => address.equals(fact.address)) !== true &&
        isOneOf(filter.hash, fact.hash),
    );
    const way = sort === 'asc' ? 1 : -1;
    found.sort(
      (a, b) =>
        (byTime ? way * (a.expected.now - b.expected.now) : 0) ||
        way * compare(a.expected.lt, b.expected.lt) ||
        compare(a.id, b.id),
    );
    return found.map(({ id }) => String(id));
  }

  transactionIdsByMessage(filter: ByMessageFilter, sort: Sort): string[] {
    const { direction, opcode } = filter;
    const found = this.transactions.filter(
      ({ in_msg, out_msgs }) =>
        (direction !== 'out' && in_msg !== null && meets(filter, in_msg)) ||
        (direction !== 'in' && opcode === undefined && out_msgs.some((message) => meets(filter, message))),
    );
    const way = sort === 'asc' ? 1 : -1;
    found.sort((a, b) => way * compare(a.expected.lt, b.expected.lt) || compare(a.id, b.id));
    return found.map(({ id }) => String(id));
  }

  messageHashes(filter: MessageFilter, sort: Sort): string[] {
    const found = this.messages.filter(
      (message) =>
        meets(filter, message) &&
        (!hasBounds(filter) ||
          (message.created_lt !== null && inBounds(filter, message.created_lt, message.created_at!))) &&
        (filter.direction !== 'in' || message.received_by !== null) &&
        (filter.direction !== 'out' || message.sent_by !== null) &&
        (filter.exclude_externals !== true || message.created_lt !== null) &&
        (filter.only_externals !== true || message.created_lt === null),
    );
    const way = sort === 'asc' ? 1 : -1;
    const time = (message: MessageFact) => (hasTime(filter) ? message.created_at : message.created_lt) ?? 2n ** 64n;
    found.sort((a, b) => {
      const [one, other] = [time(a), time(b)];
      if (one !== other) return one < other ? -way : way;
      return toBase64(a.hash) < toBase64(b.hash) ? -way : way;
    });
    return found.map(({ hash }) => toHex(hash));
  }

  traceRoots(filter: TraceFilter, sort: Sort): string[] {
    const byTime = hasTime(filter);
    const members = new Map<bigint, TransactionFact[]>();
    for (const fact of this.transactions) {
      const list = members.get(fact.trace_root) ?? [];
      list.push(fact);
      members.set(fact.trace_root, list);
    }
    const found = this.chain.traces.filter((trace) => {
      const all = members.get(trace.root)!;
      return (
        inBounds(filter, trace.end_lt, trace.end_utime) &&
        (filter.account === undefined || all.some(({ address }) => address.equals(filter.account!))) &&
        isOneOf(filter.trace_id, trace.trace_id) &&
        (filter.tx_hash === undefined || all.some(({ hash }) => isOneOf(filter.tx_hash, hash))) &&
        (filter.msg_hash === undefined ||
          all.some(({ in_msg, out_msgs }) =>
            [...(in_msg === null ? [] : [in_msg]), ...out_msgs].some((message) => hasHash(filter.msg_hash, message)),
          )) &&
        (filter.mc_seqno === undefined || (trace.state === 'complete' && trace.mc_seqno_end === filter.mc_seqno))
      );
    });
    const way = sort === 'asc' ? 1 : -1;
    found.sort(
      (a, b) =>
        way * (byTime ? a.end_utime - b.end_utime : compare(a.end_lt, b.end_lt)) || way * compare(a.root, b.root),
    );
    return found.map(({ root }) => String(root));
  }

  blockNames(filter: BlockFilter, sort: Sort): string[] {
    const byLt = hasBounds(filter) && !hasTime(filter);
    const found = this.blocks.filter(
      (block) =>
        inBounds(filter, block.info.start_lt, block.info.gen_utime) &&
        is(filter.workchain, block.workchain) &&
        is(filter.shard, block.shard) &&
        is(filter.seqno, block.seqno) &&
        is(filter.mc_seqno, block.mc_seqno) &&
        !(filter.shards_only === true && block.workchain === -1) &&
        isOneOf(filter.root_hash && [filter.root_hash], block.root_hash) &&
        isOneOf(filter.file_hash && [filter.file_hash], block.file_hash),
    );
    const way = sort === 'asc' ? 1 : -1;
    found.sort(
      (a, b) =>
        way * (byLt ? compare(a.info.start_lt, b.info.start_lt) : a.info.gen_utime - b.info.gen_utime) ||
        way * compare(a.id, b.id),
    );
    return found.map(({ workchain, shard, seqno }) => `${workchain}:${shard}:${seqno}`);
  }
}

function messageFact(hash: Uint8Array, message: Message): MessageFact {
  const { info } = message;
  const body = messageBodyCell(message);
  const external = info.kind === 'ext_in_msg_info' ? 'in' : info.kind === 'ext_out_msg_info' ? 'out' : null;
  return {
    hash,
    norm_hash: external === 'in' ? normalizedExternalHash(message) : hash,
    body_hash: body.hash(),
    source: accountOf(info.src),
    destination: accountOf(info.dest),
    external,
    created_lt: info.kind === 'ext_in_msg_info' ? null : info.created_lt,
    created_at: info.kind === 'ext_in_msg_info' ? null : info.created_at,
    opcode: body.type === CellType.ordinary && body.bits >= 32 ? openCell(body).loadUint(32) : null,
    sent_by: null,
    received_by: null,
  };
}

function meets(filter: ByMessageFilter | MessageFilter, message: MessageFact): boolean {
  const { msg_hash, body_hash, source, destination, opcode } = filter;
  return (
    (msg_hash === undefined || hasHash(msg_hash, message)) &&
    isOneOf(body_hash && [body_hash], message.body_hash) &&
    (source === undefined || (source === null ? message.external === 'in' : message.source?.equals(source) === true)) &&
    (destination === undefined ||
      (destination === null ? message.external === 'out' : message.destination?.equals(destination) === true)) &&
    is(opcode, message.opcode)
  );
}

function hasHash(wanted: readonly Uint8Array[] | undefined, message: MessageFact): boolean {
  return isOneOf(wanted, message.hash) || isOneOf(wanted, message.norm_hash);
}

function is<T>(wanted: T | undefined, found: T): boolean {
  return wanted === undefined || wanted === found;
}

function isOneOf(wanted: readonly Uint8Array[] | undefined, found: Uint8Array): boolean {
  return wanted === undefined || wanted.some((hash) => toHex(hash) === toHex(found));
}

function hasTime({ start_utime, end_utime }: TimeBounds): boolean {
  return start_utime !== undefined || end_utime !== undefined;
}

function hasBounds(bounds: TimeBounds): boolean {
  return hasTime(bounds) || bounds.start_lt !== undefined || bounds.end_lt !== undefined;
}

function inBounds({ start_lt, end_lt, start_utime, end_utime }: TimeBounds, lt: bigint, utime: number): boolean {
  return (
    (start_lt === undefined || lt >= start_lt) &&
    (end_lt === undefined || lt <= end_lt) &&
    (start_utime === undefined || utime >= start_utime) &&
    (end_utime === undefined || utime <= end_utime)
  );
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

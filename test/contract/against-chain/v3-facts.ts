import type {
  CoreBlock,
  CoreChain,
  ListedMessage,
  ListedTransaction,
} from '#test/contract/against-chain/core-chain.js';
import type { Json } from '#test/contract/against-chain/v3-client.js';

/** A transaction with what lists are ordered and filtered by. */
export interface TransactionFact extends ListedTransaction {
  /** In the order of the index: masterchain blocks, then lt, workchain, account. */
  readonly id: bigint;
  readonly account: string;
  readonly lt: bigint;
  readonly now: number;
  readonly block: { readonly workchain: number; readonly shard: string; readonly seqno: number };
}

export interface BlockFact extends CoreBlock {
  readonly id: bigint;
  readonly name: string;
  readonly gen_utime: number;
  readonly start_lt: bigint;
}

export interface MessageFact extends Omit<ListedMessage, 'sender' | 'receiver'> {
  readonly sender: TransactionFact | null;
  readonly receiver: TransactionFact | null;
  readonly body_hash: string;
  readonly source: string | null;
  readonly destination: string | null;
  readonly opcode: string | null;
  /** Null: from outside. */
  readonly created_lt: bigint | null;
  readonly created_at: number | null;
}

export interface TraceFact {
  readonly trace_id: string;
  readonly root: bigint;
  readonly transactions: readonly TransactionFact[];
  readonly end_lt: bigint;
  readonly end_utime: number;
  readonly mc_seqno_end: number;
  /** All messages that it sent to accounts were received. */
  readonly complete: boolean;
}

/** All that lists are made of. */
export interface ChainFacts {
  readonly chain: CoreChain;
  readonly blocks: readonly BlockFact[];
  readonly transactions: readonly TransactionFact[];
  readonly messages: readonly MessageFact[];
  readonly traces: readonly TraceFact[];
}

export function chainFacts(chain: CoreChain): ChainFacts {
  const blocks = numbered(chain.blocks, placeOfBlock).map(([block, id]) => ({
    ...block,
    id,
    name: `${block.workchain}:${block.shard}:${block.seqno}`,
    gen_utime: Number(block.json.gen_utime),
    start_lt: BigInt(block.json.start_lt as string),
  }));
  const transactions = numbered(chain.transactions, placeOfTransaction).map(([transaction, id]) => {
    const { account, lt, now, block_ref } = transaction.json as Json;
    return { ...transaction, id, account, lt: BigInt(lt), now, block: block_ref };
  });
  const byHash = new Map(transactions.map((fact) => [fact.hash, fact]));
  const messages = chain.messages.map((message) => {
    const { source, destination, opcode, created_lt, created_at, message_content } = message.json as Json;
    return {
      ...message,
      ...{ source, destination, opcode, body_hash: message_content.hash },
      created_lt: created_lt === null ? null : BigInt(created_lt),
      created_at: created_at === null ? null : Number(created_at),
      sender: message.sender && byHash.get(message.sender.hash)!,
      receiver: message.receiver && byHash.get(message.receiver.hash)!,
    };
  });
  return { chain, blocks, transactions, messages, traces: tracesOf(transactions, messages) };
}

function tracesOf(transactions: readonly TransactionFact[], messages: readonly MessageFact[]): TraceFact[] {
  const open = new Set<string>();
  for (const { sender, receiver, destination } of messages) {
    if (sender !== null && receiver === null && destination !== null) open.add(sender.trace_id);
  }
  const byTrace = new Map<string, TransactionFact[]>();
  for (const fact of transactions) {
    const members = byTrace.get(fact.trace_id);
    if (members === undefined) byTrace.set(fact.trace_id, [fact]);
    else members.push(fact);
  }
  return [...byTrace].map(([trace_id, members]) => {
    const last = members.reduce((a, b) => (b.lt > a.lt ? b : a));
    return {
      trace_id,
      root: members.find(({ hash }) => hash === trace_id)!.id,
      transactions: members,
      end_lt: last.lt,
      end_utime: Math.max(...members.map(({ now }) => now)),
      mc_seqno_end: Math.max(...members.map(({ mc_seqno }) => mc_seqno)),
      complete: !open.has(trace_id),
    };
  });
}

/** Sorted by their places, which begin with the masterchain seqno; numbered within each. */
function numbered<T extends { readonly mc_seqno: number }>(
  items: readonly T[],
  placeOf: (item: T) => readonly (bigint | string)[],
): (readonly [T, bigint])[] {
  const places = items.map((item) => ({ item, place: placeOf(item) }));
  places.sort((a, b) => a.item.mc_seqno - b.item.mc_seqno || comparePlaces(a.place, b.place));
  let ordinal = 0n;
  let bundle = -1;
  return places.map(({ item }) => {
    ordinal = item.mc_seqno === bundle ? ordinal + 1n : 0n;
    bundle = item.mc_seqno;
    return [item, (BigInt(bundle) << 24n) | ordinal];
  });
}

function comparePlaces(a: readonly (bigint | string)[], b: readonly (bigint | string)[]): number {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at < 0 ? 0 : a[at]! < b[at]! ? -1 : 1;
}

const placeOfBlock = ({ workchain, shard, seqno }: CoreBlock) => [
  BigInt(workchain),
  BigInt(`0x${shard}`),
  BigInt(seqno),
];

function placeOfTransaction({ json }: ListedTransaction) {
  const [workchain, id] = (json.account as string).split(':') as [string, string];
  return [BigInt(json.lt as string), BigInt(workchain), id];
}

import type { Profile } from '#api/http/http-api.js';
import type {
  HeldTransaction,
  HeldTransactions,
  IndexedTrace,
  IndexedTransaction,
  TransactionKeys,
} from '#drivers/store/read/index-types.js';
import type { Address } from '#formats/address/address.js';
import { LruByBytes } from '#kernel/lru-by-bytes.js';

/** An address of an answer: in raw form with upper-case digits, and as a value. */
export type WrittenAddress = readonly [raw: string, address: Address];

/** A message of a transaction as JSON. */
export interface WrittenMessage {
  readonly json: string;
  /** Base64. */
  readonly hash: string;
  readonly addresses: readonly WrittenAddress[];
}

/** A transaction as JSON, and what the tree of its trace needs of it. */
export interface WrittenTransaction {
  readonly json: string;
  /** Base64. */
  readonly hash: string;
  readonly lt: bigint;
  /** Raw form, hexadecimal digits in upper case. */
  readonly account: string;
  readonly in_msg_hash: string | null;
  readonly out_msg_hashes: readonly string[];
}

/** The text of a final transaction. */
export class TransactionText implements HeldTransaction {
  readonly id: bigint;
  readonly hash_key: bigint;
  readonly trace_root: bigint;
  readonly account: Address;
  readonly hash: Uint8Array;
  readonly written: WrittenTransaction;
  /** In the order in which they are written, its account first. */
  readonly addresses: readonly WrittenAddress[];

  constructor(
    { id, hash_key, trace_root }: TransactionKeys,
    hash: Uint8Array,
    written: WrittenTransaction,
    addresses: readonly WrittenAddress[],
  ) {
    this.id = id;
    this.hash_key = hash_key;
    this.trace_root = trace_root;
    this.account = addresses[0]![1];
    this.hash = hash;
    this.written = written;
    this.addresses = addresses;
  }
}

/** The parts of a trace that only its transactions determine, as JSON. */
export interface TraceText {
  /** Base64; null when no transaction has an in-message. */
  readonly in_msg_hash: string | null;
  readonly warning: string | null;
  readonly orderJson: string;
  readonly treeJson: string | null;
  readonly transactionsJson: string;
  readonly addresses: readonly WrittenAddress[];
}

interface TraceEntry {
  readonly trace: IndexedTrace;
  readonly text: TraceText;
}

/** Approximate bytes of an entry beside its JSON, and of an address in it. */
const ENTRY_BYTES = 600;
const ADDRESS_BYTES = 250;

/**
 * The texts of transactions and traces that are final, by id and profile, as long as there is room. An entry is valid while the
 * keys of its row are the same: the hash, which differs on another chain, and the trace; of a trace its extent. So no
 * event has to end it, and reader threads may have texts of their own.
 */
export class FinalTexts {
  readonly #transactions: LruByBytes<TransactionText>;
  readonly #traces: LruByBytes<TraceEntry>;
  readonly #views: Readonly<Record<Profile, TextsOfProfile>>;

  /** @param maxBytes half of it for transactions, half for traces */
  constructor(maxBytes: number) {
    this.#transactions = new LruByBytes(maxBytes / 2);
    this.#traces = new LruByBytes(maxBytes / 2);
    const view = (profile: Profile) => new TextsOfProfile(profile, this.#transactions, this.#traces);
    this.#views = { spec: view('spec'), toncenter: view('toncenter') };
  }

  of(profile: Profile): TextsOfProfile {
    return this.#views[profile];
  }

  get bytes(): number {
    return this.#transactions.bytes + this.#traces.bytes;
  }
}

/** @param maxBytes 0: none */
export function textsOf(maxBytes: number): FinalTexts | undefined {
  return maxBytes === 0 ? undefined : new FinalTexts(maxBytes);
}

/** The final texts in one profile. */
export class TextsOfProfile implements HeldTransactions {
  readonly #prefix: string;
  readonly #transactions: LruByBytes<TransactionText>;
  readonly #traces: LruByBytes<TraceEntry>;

  constructor(profile: Profile, transactions: LruByBytes<TransactionText>, traces: LruByBytes<TraceEntry>) {
    this.#prefix = `${profile} `;
    this.#transactions = transactions;
    this.#traces = traces;
  }

  find({ id, hash_key, trace_root }: TransactionKeys): TransactionText | undefined {
    const text = this.#transactions.get(this.#prefix + id);
    return text !== undefined && text.hash_key === hash_key && text.trace_root === trace_root ? text : undefined;
  }

  /** @param indexed a final one */
  add(indexed: IndexedTransaction, text: TransactionText): void {
    const bytes = text.written.json.length + ENTRY_BYTES + text.addresses.length * ADDRESS_BYTES;
    this.#transactions.set(this.#prefix + indexed.id, text, bytes);
  }

  findTrace(trace: IndexedTrace): TraceText | undefined {
    const entry = this.#traces.get(this.#prefix + trace.root);
    return entry !== undefined && isSameExtent(entry.trace, trace) ? entry.text : undefined;
  }

  /** @param text of transactions that are all final */
  addTrace(trace: IndexedTrace, text: TraceText): void {
    const { transactionsJson, treeJson, orderJson, addresses } = text;
    const characters = transactionsJson.length + (treeJson?.length ?? 0) + orderJson.length;
    const bytes = characters + ENTRY_BYTES + addresses.length * ADDRESS_BYTES;
    this.#traces.set(this.#prefix + trace.root, { trace, text }, bytes);
  }
}

/** Whether a trace has the same transactions: it only gains some, and each has an lt and a message of its own. */
function isSameExtent(a: IndexedTrace, b: IndexedTrace): boolean {
  if (a.nodes !== b.nodes || a.edges !== b.edges || a.end_lt !== b.end_lt || a.start_lt !== b.start_lt) return false;
  return a.trace_id.every((byte, i) => byte === b.trace_id[i]);
}

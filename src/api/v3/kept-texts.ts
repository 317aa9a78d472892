import type { SerializedJson } from '#api/http/endpoint.js';
import type { ChangeLog, Profile } from '#api/http/http-api.js';
import { jsonInUtf8 } from '#api/v3/json-pieces.js';
import type {
  AddressAccount,
  HeldMessage,
  HeldTransaction,
  HeldTransactions,
  IndexedTrace,
  IndexedTransaction,
  MessageDirection,
  MessageFacts,
  MessageKeys,
  ReadMessage,
  TransactionKeys,
  WantedFacts,
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

/** What the tree of a trace needs of a transaction. */
interface TransactionNode {
  /** Base64. */
  readonly hash: string;
  readonly lt: bigint;
  /** Raw form, hexadecimal digits in upper case. */
  readonly account: string;
  readonly in_msg_hash: string | null;
  readonly out_msg_hashes: readonly string[];
}

/** A transaction as JSON, and what the tree of its trace needs of it. */
export interface WrittenTransaction extends TransactionNode {
  readonly json: string;
}

/** The same; what is kept is in UTF-8. */
export interface WrittenOrKept extends TransactionNode {
  readonly json: SerializedJson;
}

/** The text of a final transaction. */
export class TransactionText implements HeldTransaction {
  readonly id: bigint;
  readonly hash_key: bigint;
  readonly trace_root: bigint;
  readonly account: Address;
  readonly hash: Uint8Array;
  readonly written: WrittenOrKept & { readonly json: Uint8Array };
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
    this.written = { ...written, json: jsonInUtf8(written.json) };
    this.addresses = addresses;
  }
}

/** The parts of a trace that only its transactions determine, as JSON. */
export interface TraceText {
  /** Base64; null when no transaction has an in-message. */
  readonly in_msg_hash: string | null;
  readonly warning: string | null;
  /** Its last members, in UTF-8: tree, order, transactions. */
  readonly end: Uint8Array;
  readonly addresses: readonly WrittenAddress[];
}

interface TraceEntry {
  readonly trace: IndexedTrace;
  readonly text: TraceText;
}

/** The text of a message in lists of messages of one direction, with the transactions that sent and received it. */
export class MessageText implements HeldMessage {
  readonly facts: MessageFacts;
  readonly isReceived: boolean;
  readonly keys: MessageKeys;
  /** In UTF-8. */
  readonly json: Uint8Array;
  readonly addresses: readonly WrittenAddress[];

  constructor({ keys, facts, received_by }: ReadMessage, json: string, addresses: readonly WrittenAddress[]) {
    const { isExternalIn, isExternalOut, source, destination, opcode } = facts;
    // Hashes that are read are views of all cells of their transaction.
    const hashes = facts.hashes.map((hash) => hash.slice());
    const own = { hash: facts.hash.slice(), hashes, bodyHash: facts.bodyHash.slice() };
    this.facts = { ...own, isExternalIn, isExternalOut, source, destination, opcode };
    this.isReceived = received_by !== null;
    this.keys = keys;
    this.json = jsonInUtf8(json);
    this.addresses = addresses;
  }
}

/** Approximate bytes of an entry beside its JSON, and of an address in it. */
const ENTRY_BYTES = 600;
const ADDRESS_BYTES = 250;

/** All kinds share one bound: what is asked for has the room. */
type Texts = LruByBytes<TransactionText | TraceEntry | MessageText>;

/**
 * The texts of transactions, traces and messages that are final, by id and profile, as long as there is room. An entry is valid
 * while the keys of its row are the same: the hash, which differs on another chain, and the trace; of a trace its extent; of a
 * message the transactions that it is in. So no event has to end it, and reader threads may have texts of their own.
 */
export class FinalTexts {
  readonly #texts: Texts;
  readonly #views: Readonly<Record<Profile, TextsOfProfile>>;

  constructor(maxBytes: number) {
    this.#texts = new LruByBytes(maxBytes);
    const view = (profile: Profile) => new TextsOfProfile(profile, this.#texts);
    this.#views = { spec: view('spec'), toncenter: view('toncenter') };
  }

  of(profile: Profile): TextsOfProfile {
    return this.#views[profile];
  }

  get bytes(): number {
    return this.#texts.bytes;
  }
}

/** The final texts in one profile. */
export class TextsOfProfile implements HeldTransactions {
  readonly #profile: Profile;
  readonly #texts: Texts;

  constructor(profile: Profile, texts: Texts) {
    this.#profile = profile;
    this.#texts = texts;
  }

  find({ id, hash_key, trace_root }: TransactionKeys): TransactionText | undefined {
    const text = this.#texts.get(this.#transactionKey(id)) as TransactionText | undefined;
    return text !== undefined && text.hash_key === hash_key && text.trace_root === trace_root ? text : undefined;
  }

  /** Whether there is a text of a transaction with this id, perhaps of another chain. */
  has(id: bigint): boolean {
    return this.#texts.get(this.#transactionKey(id)) !== undefined;
  }

  /** @param indexed a final one */
  add(indexed: IndexedTransaction, text: TransactionText): void {
    const bytes = text.written.json.length + ENTRY_BYTES + text.addresses.length * ADDRESS_BYTES;
    this.#texts.set(this.#transactionKey(indexed.id), text, bytes);
  }

  findTrace(trace: IndexedTrace): TraceText | undefined {
    const entry = this.#texts.get(this.#traceKey(trace)) as TraceEntry | undefined;
    return entry !== undefined && isSameExtent(entry.trace, trace) ? entry.text : undefined;
  }

  /** @param text of transactions that are all final */
  addTrace(trace: IndexedTrace, text: TraceText): void {
    const bytes = text.end.length + ENTRY_BYTES + text.addresses.length * ADDRESS_BYTES;
    this.#texts.set(this.#traceKey(trace), { trace, text }, bytes);
  }

  /** Messages in lists of one direction. */
  messages(direction: MessageDirection | undefined) {
    const keyOf = ({ tx_id, position }: MessageKeys) => `${this.#profile} m${direction ?? ''} ${tx_id} ${position}`;
    return {
      find: (keys: MessageKeys): MessageText | undefined => {
        const text = this.#texts.get(keyOf(keys)) as MessageText | undefined;
        return text !== undefined && isSameMessage(text.keys, keys) ? text : undefined;
      },
      add: (text: MessageText): void => {
        const bytes = text.json.length + ENTRY_BYTES + text.addresses.length * ADDRESS_BYTES;
        this.#texts.set(keyOf(text.keys), text, bytes);
      },
    };
  }

  #transactionKey(id: bigint): string {
    return `${this.#profile} x${id}`;
  }

  #traceKey({ root }: IndexedTrace): string {
    return `${this.#profile} t${root}`;
  }
}

/** Whether a message was read from the same transactions. */
function isSameMessage(a: MessageKeys, b: MessageKeys): boolean {
  if (a.msg_key !== b.msg_key || a.tx_hash_key !== b.tx_hash_key) return false;
  return a.received.length === b.received.length && a.received.every((key, i) => key === b.received[i]);
}

/** Whether a trace has the same transactions: it only gains some, and each has an lt and a message of its own. */
function isSameExtent(a: IndexedTrace, b: IndexedTrace): boolean {
  if (a.nodes !== b.nodes || a.edges !== b.edges || a.end_lt !== b.end_lt || a.start_lt !== b.start_lt) return false;
  return a.trace_id.every((byte, i) => byte === b.trace_id[i]);
}

/** What answers tell of an address, as JSON. */
export interface AddressRow {
  /** What it depends on: the account and, of a jetton wallet, its master. */
  readonly keys: readonly string[];
  /** Undefined: it has no state. */
  readonly account: AddressAccount | undefined;
  /** Its row of the address book; empty when that was not wanted. */
  readonly book: string;
  /** Its metadata; null: it is no token, or metadata was not wanted. */
  readonly metadata: string | null;
  /** Metadata of the jetton masters that it names, by raw address. */
  readonly masters: readonly (readonly [raw: string, metadata: string])[];
}

/** What answers may tell of addresses: the address book and metadata. */
export interface AddressRowReader {
  get(raw: string, profile: Profile, wanted: WantedFacts): AddressRow | undefined;
  /** Called before rows are read. @returns how a row that was read is kept */
  beginRead(): (raw: string, profile: Profile, wanted: WantedFacts, row: AddressRow) => void;
}

/** What a kept row tells, and of which address. */
export interface CachedRow {
  readonly raw: string;
  readonly profile: Profile;
  readonly wanted: WantedFacts;
}

interface RowEntry extends CachedRow {
  readonly row: AddressRow;
  /** The newest version of the data as of which it is known to hold. */
  version: number;
}

/** Approximate bytes of a row beside its texts. */
const ROW_BYTES = 400;

/** Rows are not read ahead when none that is kept was asked for during so many changes. */
const IDLE_CHANGES = 50;

/** Rows of addresses, each until what it tells changes. */
export class AddressRowCache implements AddressRowReader {
  readonly #rows: LruByBytes<RowEntry>;
  readonly #changes: ChangeLog;
  readonly #version: () => number;
  /** The names of the rows that depend on a key. */
  readonly #namesOf = new Map<string, Set<string>>();
  #changesSinceAsked = 0;

  /** @param version of the data, as {@link ChangeLog} counts them */
  constructor(maxBytes: number, changes: ChangeLog, version: () => number) {
    this.#rows = new LruByBytes(maxBytes, (name, entry) => this.#forget(name, entry));
    this.#changes = changes;
    this.#version = version;
  }

  get(raw: string, profile: Profile, wanted: WantedFacts): AddressRow | undefined {
    const entry = this.#holding(rowName(raw, profile, wanted));
    if (entry !== undefined) this.#changesSinceAsked = 0;
    return entry?.row;
  }

  /** The entry if it holds; else it is deleted. */
  #holding(name: string): RowEntry | undefined {
    const entry = this.#rows.get(name);
    if (entry === undefined) return undefined;
    const version = this.#version();
    if (entry.version !== version) {
      if (!this.#changes.isUnchanged(entry.row.keys, entry.version)) {
        this.#rows.delete(name);
        return undefined;
      }
      entry.version = version;
    }
    return entry;
  }

  /** Lets go of the rows that a change touched. @returns them, to be read anew; none while nobody asks for any */
  takeTouched(keys: readonly string[]): readonly CachedRow[] {
    const touched: CachedRow[] = [];
    for (const key of keys) {
      for (const name of [...(this.#namesOf.get(key) ?? [])]) {
        const entry = this.#rows.get(name);
        if (entry !== undefined && this.#holding(name) === undefined) touched.push(entry);
      }
    }
    this.#changesSinceAsked++;
    return this.#changesSinceAsked > IDLE_CHANGES ? [] : touched;
  }

  #forget(name: string, { row }: RowEntry): void {
    for (const key of row.keys) {
      const names = this.#namesOf.get(key);
      names?.delete(name);
      if (names?.size === 0) this.#namesOf.delete(key);
    }
  }

  beginRead() {
    // A change that is seen later is one of what is read.
    const version = this.#version();
    return (raw: string, profile: Profile, wanted: WantedFacts, row: AddressRow) => {
      let bytes = ROW_BYTES + row.book.length + (row.metadata?.length ?? 0);
      for (const [, metadata] of row.masters) bytes += metadata.length;
      const name = rowName(raw, profile, wanted);
      this.#rows.set(name, { raw, profile, wanted, row, version }, bytes);
      // A row that is too large is not kept.
      if (this.#rows.get(name)?.row !== row) return;
      for (const key of row.keys) {
        const names = this.#namesOf.get(key);
        if (names === undefined) this.#namesOf.set(key, new Set([name]));
        else names.add(name);
      }
    };
  }
}

function rowName(raw: string, profile: Profile, { domains, tokens }: WantedFacts): string {
  return `${profile}${domains ? 'd' : ''}${tokens ? 't' : ''} ${raw}`;
}

/** Of the memory for texts, the part for what answers tell of addresses. */
const ADDRESS_PART = 1 / 4;

/**
 * What a thread keeps of answers: the texts of what is final, and what is told of addresses.
 *
 * @param bytes 0: nothing
 * @param version as of {@link AddressRowCache}
 */
export function keptTexts(bytes: number, changes: ChangeLog, version: () => number) {
  if (bytes === 0) return {};
  const addressRows = new AddressRowCache(bytes * ADDRESS_PART, changes, version);
  return { texts: new FinalTexts(bytes * (1 - ADDRESS_PART)), addressRows };
}

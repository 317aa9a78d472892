import type { Profile } from '#api/http/http-api.js';
import { type ActionSource, actionValue } from '#api/v3/actions.js';
import { addressRowsText, readAddressRows } from '#api/v3/address-book.js';
import { AddressCollector, writeAnswerJson } from '#api/v3/answer-type.js';
import { type V3Network, v3Context, v3Switches } from '#api/v3/context.js';
import { JettonWallet } from '#api/v3/jettons.js';
import type { WrittenTransaction } from '#api/v3/kept-texts.js';
import { writeLiveActions, writeLiveTransaction, writeLiveTransactions } from '#api/v3/live-answers.js';
import { transactionsJson, treeJson } from '#api/v3/traces.js';
import { AccountStateJson, writeCells } from '#api/v3/transactions.js';
import { traceNodeJson, unfoldingTree } from '#domain/traces/trace-tree.js';
import type { IndexedAction } from '#drivers/store/read/actions.js';
import type { IndexedJettonWallet, IndexedTransaction, StateSummary } from '#drivers/store/read/index-types.js';
import type { Address } from '#formats/address/address.js';
import { systemClock } from '#kernel/clock.js';
import { sharedAbortController } from '#kernel/shared-abort.js';
import { WorkSlices } from '#kernel/work-slices.js';
import type { LiveTrace, LiveTransaction } from '#services/pending/live-trace.js';

/** What is read for the addresses of an event takes no longer, in milliseconds. */
const DEADLINE_MS = 5_000;

/** A transaction with the addresses that it names. */
interface WrittenWithAddresses {
  readonly written: WrittenTransaction;
  readonly addresses: AddressCollector;
}

/**
 * The parts of events of streams and webhooks, by the writers of API v3. Transactions have the form of those that are not indexed
 * yet: a client gets the same members at each finality.
 */
export class EventAnswers {
  readonly #network: V3Network;
  /** Texts of transactions of the same event, by profile and message. */
  readonly #written = new WeakMap<IndexedTransaction, Map<string, WrittenWithAddresses>>();

  constructor(network: V3Network) {
    this.#network = network;
  }

  /** A JSON array in the given order. */
  async transactions(transactions: readonly IndexedTransaction[], profile: Profile) {
    const addresses = new AddressCollector();
    const all = await inSlices(transactions, (each) => this.#transaction(each, null, profile, addresses).json);
    return { json: `[${all.join(',')}]`, addresses: addresses.byRaw };
  }

  /** A trace with its tree, children in the order in which their messages were sent. */
  async trace(transactions: readonly IndexedTransaction[], external_hash: Uint8Array | null, profile: Profile) {
    const addresses = new AddressCollector();
    const written = await inSlices(transactions, (each) => this.#transaction(each, external_hash, profile, addresses));
    const { trace } = unfoldingTree(written);
    return {
      trace: trace === null ? 'null' : treeJson(traceNodeJson(trace), { profile, addresses }),
      transactions: transactionsJson(written),
      addresses: addresses.byRaw,
    };
  }

  /** A JSON array; each action has its participants and names its message twice, as it is and normalised. */
  async actions(actions: readonly IndexedAction[], profile: Profile) {
    const addresses = new AddressCollector();
    const all = await inSlices(actions, (action) => {
      const { trace_external_hash_norm, trace_external_hash } = action;
      const named = { ...action, trace_external_hash_norm: trace_external_hash_norm ?? trace_external_hash };
      const source: ActionSource = { action: named, withAccounts: true, transactions: null };
      return writeAnswerJson(actionValue, source, { profile, addresses });
    });
    return { json: `[${all.join(',')}]`, addresses: addresses.byRaw };
  }

  accountState(hash: Uint8Array, state: StateSummary | null, profile: Profile): string {
    return writeAnswerJson(AccountStateJson, { hash, state }, { profile, addresses: new AddressCollector() });
  }

  jettonWallet(wallet: IndexedJettonWallet, profile: Profile) {
    const addresses = new AddressCollector();
    const json = writeAnswerJson(JettonWallet, wallet, { profile, addresses });
    return { json, addresses: addresses.byRaw };
  }

  /** Transactions that the index does not have, as a JSON array in the given order. */
  async liveTransactions(
    transactions: readonly LiveTransaction[],
    { trace_id }: Pick<LiveTrace, 'trace_id'>,
    profile: Profile,
  ) {
    const addresses = new AddressCollector();
    const origin = { trace_id, trace_external_hash: null };
    const page = { profile, addresses };
    const all = await inSlices(transactions, (each) => writeLiveTransaction(each, origin, page).json);
    return { json: `[${all.join(',')}]`, addresses: addresses.byRaw };
  }

  async liveTrace({ transactions, trace_id, external_hash }: LiveTrace, profile: Profile) {
    const addresses = new AddressCollector();
    const origin = { trace_id, trace_external_hash: external_hash };
    const page = { profile, addresses };
    const written = await writeLiveTransactions(transactions, origin, page, new WorkSlices(systemClock, null));
    return { trace: written.treeJson ?? 'null', transactions: written.transactionsJson, addresses: addresses.byRaw };
  }

  /** The actions of a trace that a client is shown, as a JSON array; null: none. */
  async liveActions(trace: LiveTrace, supported: readonly string[], profile: Profile) {
    const addresses = new AddressCollector();
    const how = { shown: { types: supported, supported }, withTransactions: false, withNorm: true };
    const all = await writeLiveActions(trace, how, { profile, addresses }, new WorkSlices(systemClock, null));
    return all.length === 0 ? null : { json: `[${all.join(',')}]`, addresses: addresses.byRaw };
  }

  /** `"address_book":{…}`, `"metadata":{…}`, or both. @throws store/* */
  async addressMembers(
    addresses: ReadonlyMap<string, Address>,
    { book, metadata }: { readonly book: boolean; readonly metadata: boolean },
    profile: Profile,
  ): Promise<string> {
    const wanted = { domains: book, tokens: metadata };
    const rows = addresses.size === 0 ? new Map() : await readAddressRows(addresses, wanted, this.#context(profile));
    const text = addressRowsText(addresses.keys(), rows, { book, metadata });
    return book ? text : text.slice(NO_BOOK.length);
  }

  #transaction(
    indexed: IndexedTransaction,
    trace_external_hash: Uint8Array | null,
    profile: Profile,
    addresses: AddressCollector,
  ): WrittenTransaction {
    const known = this.#written.get(indexed) ?? new Map<string, WrittenWithAddresses>();
    this.#written.set(indexed, known);
    const key = `${profile}${trace_external_hash === null ? '' : 't'}`;
    let found = known.get(key);
    if (found === undefined) {
      const own = new AddressCollector();
      const predicted = { finality: 'finalized', trace_external_hash };
      const written = writeCells({ ...indexed, predicted }, indexed.cell, { profile, addresses: own });
      found = { written, addresses: own };
      known.set(key, found);
    }
    addresses.addWritten([...found.addresses.byRaw]);
    return found.written;
  }

  #context(profile: Profile) {
    const { signal } = sharedAbortController();
    return v3Context(this.#network, {
      read: { signal, deadlineMs: DEADLINE_MS },
      profile,
      switches: NO_SWITCHES,
      group: null,
      header: () => {},
      worked: () => {},
      foresee: () => {},
      dependsOn: () => {},
      notKept: () => {},
    });
  }
}

/** Nobody waits for an event, so that nothing calls its writing off. */
function inSlices<Item, Result>(items: readonly Item[], write: (item: Item) => Result): Promise<readonly Result[]> {
  return new WorkSlices(systemClock, null).map(items, write);
}

const NO_BOOK = '"address_book":{},';

const NO_SWITCHES = {
  timeoutMs: v3Switches.timeoutMs.byDefault,
  noAddressBook: v3Switches.noAddressBook.byDefault,
  noMetadata: v3Switches.noMetadata.byDefault,
  debug: v3Switches.debug.byDefault,
  actionsVersion: v3Switches.actionsVersion.byDefault,
};

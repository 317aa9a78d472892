import type { Profile } from '#api/http/http-api.js';
import {
  type ActionsEvent,
  type FinalEvent,
  type FinalTransaction,
  type StateEvent,
  stateHashAfter,
  type TraceEvent,
} from '#api/stream/final-events.js';
import { EventText } from '#api/stream/subscriber.js';
import { type EventOptions, rawOf } from '#api/stream/subscription.js';
import type { IndexedAction } from '#drivers/store/read/actions.js';
import type { IndexPort } from '#drivers/store/read/index-port.js';
import type {
  IndexedJettonWallet,
  IndexedTransaction,
  IndexReadOptions,
  StateSummary,
} from '#drivers/store/read/index-types.js';
import type { Address } from '#formats/address/address.js';
import type { LiveTrace, LiveTransaction } from '#services/pending/live-trace.js';

/** JSON, and the addresses in it by raw form with upper-case digits. */
interface WrittenPart {
  readonly json: string;
  readonly addresses: ReadonlyMap<string, Address>;
}

/** A trace as JSON. */
interface WrittenTrace {
  /** The tree. */
  readonly trace: string;
  /** Transactions by hash. */
  readonly transactions: string;
  readonly addresses: ReadonlyMap<string, Address>;
}

/** Which of the two is added to an event. */
interface AddressMembers {
  readonly book: boolean;
  readonly metadata: boolean;
}

/**
 * Writes the parts of events: as API v3 writes them, by the same writers, and in slices. They are passed in, since API generations do
 * not import each other.
 */
export interface EventSerializer {
  /** A JSON array in the given order. */
  transactions(transactions: readonly IndexedTransaction[], profile: Profile): Promise<WrittenPart>;
  /** @param transactions of the whole trace, by lt @param external_hash of the message that it began with */
  trace(
    transactions: readonly IndexedTransaction[],
    external_hash: Uint8Array | null,
    profile: Profile,
  ): Promise<WrittenTrace>;
  /** A JSON array with the participants of each action. */
  actions(actions: readonly IndexedAction[], profile: Profile): Promise<WrittenPart>;
  /** Transactions that the index does not have, as a JSON array in the given order. */
  liveTransactions(
    transactions: readonly LiveTransaction[],
    trace: Pick<LiveTrace, 'trace_id'>,
    profile: Profile,
  ): Promise<WrittenPart>;
  liveTrace(trace: LiveTrace, profile: Profile): Promise<WrittenTrace>;
  /** The actions of a trace of these types that a client is shown, as a JSON array; null: none. */
  liveActions(trace: LiveTrace, supported: readonly string[], profile: Profile): Promise<WrittenPart | null>;
  /** @param hash of the account cell @param state null: only the hash is known */
  accountState(hash: Uint8Array, state: StateSummary | null, profile: Profile): string;
  jettonWallet(wallet: IndexedJettonWallet, profile: Profile): WrittenPart;
  /** `"address_book":{…}`, `"metadata":{…}`, or both with a comma between them. */
  addressMembers(addresses: ReadonlyMap<string, Address>, wanted: AddressMembers, profile: Profile): Promise<string>;
}

const NO_ADDRESSES: ReadonlyMap<string, Address> = new Map();

interface EventWriterModules {
  readonly texts: EventSerializer;
  readonly index: IndexPort;
  readonly limits: IndexReadOptions;
}

/** Writes finalized events for groups of subscribers. The parts of one event that several groups have in common are read once. */
export class FinalEventWriter {
  readonly #modules: EventWriterModules;
  readonly #together: readonly bigint[];
  readonly #actions = new Map<string, Promise<ReadonlyMap<bigint, readonly IndexedAction[]>>>();

  /** @param together roots of traces whose actions are read at once when those of one are: all of them will be written */
  constructor(modules: EventWriterModules, together: readonly bigint[] = []) {
    this.#modules = modules;
    this.#together = together;
  }

  /**
   * @param accounts of the group that the event concerns, in raw form with upper-case digits; of events of whole traces empty
   * @returns null: nothing of the event is for them
   */
  write(event: FinalEvent, accounts: ReadonlySet<string>, options: EventOptions): Promise<EventText | null> {
    switch (event.kind) {
      case 'state':
        return this.#state(event, options);
      case 'transactions':
        return this.#transactions(event.transactions, event.hashes.norm, accounts, options);
      case 'actions':
        return this.#actionsOf(event, accounts, options);
      case 'trace':
        return this.#trace(event, options);
      case 'jetton':
        return this.#jetton(this.#modules.texts.jettonWallet(event.wallet, options.profile), options);
    }
  }

  async #state({ account, transaction }: StateEvent, options: EventOptions): Promise<EventText> {
    const { state_after } = transaction;
    const state = this.#modules.texts.accountState(stateHashAfter(transaction), state_after, options.profile);
    return this.#event(
      'account_state_change',
      options,
      `"account":"${account}","state":${state}`,
      NO_ADDRESSES,
      null,
      false,
    );
  }

  async #transactions(
    all: readonly FinalTransaction[],
    norm: string,
    accounts: ReadonlySet<string>,
    options: EventOptions,
  ): Promise<EventText | null> {
    const own = all.filter(({ account }) => accounts.has(account)).map(({ indexed }) => indexed);
    if (own.length === 0) return null;
    const { json, addresses } = await this.#modules.texts.transactions(own, options.profile);
    const members = `${hashMember(norm)},"transactions":${json}`;
    return this.#event('transactions', options, members, addresses, { norm, kind: 'transactions' });
  }

  async #actionsOf(
    { root, hashes }: ActionsEvent,
    accounts: ReadonlySet<string>,
    options: EventOptions,
  ): Promise<EventText | null> {
    const all = await this.#shown(root, options);
    const own = all.filter((action) => action.accounts.some((each) => accounts.has(rawOf(each))));
    if (own.length === 0) return null;
    const { json, addresses } = await this.#modules.texts.actions(own, options.profile);
    const { norm } = hashes;
    return this.#event('actions', options, `${hashMember(norm)},"actions":${json}`, addresses, {
      norm,
      kind: 'actions',
    });
  }

  async #trace({ root, hashes, transactions, isWhole }: TraceEvent, options: EventOptions): Promise<EventText> {
    const { texts } = this.#modules;
    const written = await texts.trace(transactions, hashes.external, options.profile);
    const shown = await this.#shown(root, options);
    const actions = shown.length === 0 ? null : await texts.actions(shown, options.profile);
    const rest = actions === null ? '' : `,"actions":${actions.json}`;
    const cut = isWhole ? '' : ',"is_incomplete":true';
    const members = `${hashMember(hashes.norm)},"trace":${written.trace},"transactions":${written.transactions}${rest}${cut}`;
    const addresses = actions === null ? written.addresses : new Map([...written.addresses, ...actions.addresses]);
    return this.#event('trace', options, members, addresses, { norm: hashes.norm, kind: 'trace' });
  }

  #jetton({ json, addresses }: WrittenPart, options: EventOptions): Promise<EventText> {
    return this.#event('jettons_change', options, `"jetton":${json}`, addresses);
  }

  /** The actions of a trace that a client with these options is shown, newest first. */
  async #shown(root: bigint, { supported, actionTypes }: EventOptions): Promise<readonly IndexedAction[]> {
    const roots = this.#together.includes(root) ? this.#together : [root];
    const key = `${roots[0]} ${supported.join()}`;
    let reading = this.#actions.get(key);
    if (reading === undefined) {
      const { index, limits } = this.#modules;
      reading = index.actionsOfTraces(roots, { types: supported, supported }, limits);
      this.#actions.set(key, reading);
    }
    const all = [...((await reading).get(root) ?? [])].sort(newestFirst);
    return actionTypes === null ? all : all.filter(({ type }) => actionTypes.has(type));
  }

  async #event(
    type: string,
    options: EventOptions,
    members: string,
    addresses: ReadonlyMap<string, Address>,
    settles: EventText['settles'] = null,
    hasAddresses = true,
  ): Promise<EventText> {
    const finality = options.version === 1 ? '' : ',"finality":"finalized"';
    const tail = hasAddresses ? await addressTail(this.#modules.texts, addresses, options) : '';
    return new EventText(`{"type":"${type}"${finality},${members}${tail}}`, true, settles);
  }
}

/** `,"address_book":{…},"metadata":{…}` as far as they are asked for. */
export async function addressTail(
  texts: Pick<EventSerializer, 'addressMembers'>,
  addresses: ReadonlyMap<string, Address>,
  { addressBook, metadata, profile }: EventOptions,
): Promise<string> {
  const wanted: AddressMembers = { book: addressBook, metadata };
  return addressBook || metadata ? `,${await texts.addressMembers(addresses, wanted, profile)}` : '';
}

/** `"trace_external_hash_norm":"…"` */
export function hashMember(norm: string): string {
  return `"trace_external_hash_norm":"${norm}"`;
}

function newestFirst(a: IndexedAction, b: IndexedAction): number {
  if (a.end_lt !== b.end_lt) return a.end_lt < b.end_lt ? 1 : -1;
  if (a.start_lt !== b.start_lt) return a.start_lt < b.start_lt ? 1 : -1;
  return b.position - a.position;
}

import type { Profile } from '#api/http/http-api.js';
import { streamErrors } from '#api/stream/errors.js';
import type { RequestFields } from '#api/stream/request-json.js';
import {
  type EventOptions,
  type EventType,
  eventOptions,
  rawOf,
  type SubscribedAccount,
  type Subscription,
  subscribedAccount,
  V1_TYPES,
  V2_TYPES,
} from '#api/stream/subscription.js';
import { expandActionTypes } from '#domain/actions/action-versions.js';
import { type Address, parseAddress } from '#formats/address/address.js';
import { FINALITIES, type Finality } from '#services/pending/live-trace.js';

/** What a request to subscribe is read with. */
export interface RequestContext {
  readonly version: 1 | 2;
  readonly transport: 'sse' | 'ws';
  readonly profile: Profile;
  /** The header `X-Actions-Version`: it takes precedence over the field. */
  readonly actionsVersion: string | null;
  /** Accounts and traces at most; null: any number. */
  readonly maxAddresses: number | null;
}

const LONGEST_TEXT = 200;
const MOST_WORDS = 200;

/** What is supported by a client that says nothing. */
const LATEST = ['latest'];

/** The options of a connection before the first subscription. */
function initialOptions({ version, profile, actionsVersion }: RequestContext): EventOptions {
  const supported = supportedTypes(actionsVersion === null ? LATEST : [actionsVersion]);
  return eventOptions({ version, profile, addressBook: false, metadata: false, actionTypes: null, supported });
}

/** No subscription. */
export function emptySubscription(context: RequestContext): Subscription {
  return {
    ...{ types: new Set<EventType>(), accounts: new Map<string, SubscribedAccount>(), traces: new Set<string>() },
    minFinality: 'finalized',
    options: initialOptions(context),
  };
}

/**
 * The subscription of a request of version 2, which replaces types, accounts and traces; other options keep their values where the
 * request does not have them.
 *
 * @throws stream/request, stream/subscription, stream/too-many-addresses
 */
export function readSubscription(fields: RequestFields, before: Subscription, context: RequestContext): Subscription {
  const isSse = context.transport === 'sse';
  const types = fields.texts('types', 'v2.EventType') ?? [];
  const given = fields.texts('addresses') ?? [];
  const hashes = fields.texts('trace_external_hash_norms') ?? [];
  const minFinality = readFinality(fields, before.minFinality);
  const options = readOptions(fields, before.options, context);
  if (types.length === 0) throw refused('types', isSse ? 'types are required for subscription' : 'types are required');
  const wanted = readTypes(types, V2_TYPES);
  const addresses = readAddresses(given);
  const traces = readHashes(hashes);
  if (traces.size > 0 && !wanted.has('trace')) {
    throw refused('trace_external_hash_norms', 'trace_external_hash_norms requires type "trace"');
  }
  if (wanted.has('trace') && traces.size === 0) {
    const problem = 'trace_external_hash_norms are required for trace subscription';
    throw refused('trace_external_hash_norms', problem);
  }
  const needsAddresses = [...wanted].some((type) => type !== 'trace');
  if (needsAddresses && addresses.length === 0) {
    throw refused('addresses', isSse ? 'addresses are required for subscription' : 'addresses are required');
  }
  const ofAccounts = new Set([...wanted].filter((type) => type !== 'trace'));
  const accounts = accountsOf(addresses, ofAccounts, traces.size, context);
  return { types: wanted, accounts, traces, minFinality, options };
}

/** What remains of a subscription. @throws stream/request, stream/subscription */
export function readUnsubscribe(fields: RequestFields, before: Subscription, version: 1 | 2): Subscription {
  const given = fields.texts('addresses') ?? [];
  const hashes = (version === 2 && fields.texts('trace_external_hash_norms')) || [];
  if (given.length + hashes.length === 0) {
    if (version === 1) throw refused('addresses', 'addresses are required for unsubscribe operation');
    throw refused('addresses', 'addresses or trace_external_hash_norms are required');
  }
  const accounts = new Map(before.accounts);
  for (const address of readAddresses(given)) accounts.delete(rawOf(address));
  const traces = new Set(before.traces);
  for (const hash of readHashes(hashes)) traces.delete(hash);
  return { ...before, accounts, traces };
}

/**
 * The subscription of a request of version 1, which adds to what there is.
 *
 * @throws stream/request, stream/subscription, stream/too-many-addresses
 */
export function readFirstSubscription(
  fields: RequestFields,
  before: Subscription,
  context: RequestContext,
): Subscription {
  const isSse = context.transport === 'sse';
  const given = fields.texts('addresses') ?? [];
  const types = fields.texts('types', 'v1.EventType') ?? [];
  const options = isSse ? readOptions(fields, before.options, context) : before.options;
  if (isSse && given.length === 0) throw refused('addresses', 'addresses are required for subscribe operation');
  if (types.length === 0) throw refused('types', 'types are required for subscribe operation');
  const wanted = readTypes(types, V1_TYPES);
  const accounts = new Map(before.accounts);
  for (const [raw, account] of accountsOf(readAddresses(given), wanted, 0, context)) {
    const known = accounts.get(raw);
    accounts.set(raw, known === undefined ? account : { ...known, types: new Set([...known.types, ...wanted]) });
  }
  requireFew(accounts.size, context);
  return { ...before, types: new Set([...before.types, ...wanted]), accounts, options, minFinality: 'pending' };
}

/** The subscription of `set_subscription` of version 1. @throws as {@link readFirstSubscription} */
export function readWholeSubscription(
  fields: RequestFields,
  before: Subscription,
  context: RequestContext,
): Subscription {
  const accounts = new Map<string, SubscribedAccount>();
  const types = new Set<EventType>();
  for (const [text, list] of fields.textsByName('subscriptions', 'v1.EventType') ?? []) {
    const wanted = readTypes(list, V1_TYPES);
    for (const [raw, account] of accountsOf(readAddresses([text]), wanted, 0, context)) accounts.set(raw, account);
    requireFew(accounts.size, context);
    for (const type of wanted) types.add(type);
  }
  return { ...before, types, accounts, minFinality: 'pending' };
}

/** Include flags and types of actions; those that are absent keep their values, and empty lists do not clear. */
export function readOptions(fields: RequestFields, before: EventOptions, context: RequestContext): EventOptions {
  const { actionsVersion } = context;
  const actionTypes = readWords(fields, 'action_types');
  const supported = readWords(fields, 'supported_action_types');
  return eventOptions({
    ...before,
    addressBook: fields.flag('include_address_book') ?? before.addressBook,
    metadata: fields.flag('include_metadata') ?? before.metadata,
    actionTypes: actionTypes.length === 0 ? before.actionTypes : new Set(actionTypes),
    supported: supported.length === 0 || actionsVersion !== null ? before.supported : supportedTypes(supported),
  });
}

function readWords(fields: RequestFields, name: string): readonly string[] {
  const words = fields.texts(name) ?? [];
  if (words.length > MOST_WORDS) throw refused(name, `more than ${MOST_WORDS} types`);
  if (words.some(({ length }) => length > LONGEST_TEXT)) throw refused(name, 'a type has too many characters');
  return words;
}

function supportedTypes(words: readonly string[]): readonly string[] {
  return [...expandActionTypes(words)].sort();
}

function readFinality(fields: RequestFields, before: Finality): Finality {
  const text = fields.text('min_finality');
  if (text === null) return before;
  const known = FINALITIES.find((each) => each === text);
  if (known === undefined) throw streamErrors.request({ problem: `unknown finality state: ${shortened(text)}` });
  return known;
}

function readTypes(given: readonly string[], known: readonly EventType[]): ReadonlySet<EventType> {
  return new Set(
    given.map((text) => {
      const type = known.find((each) => each === text);
      if (type === undefined) throw refused('types', `invalid event type: ${shortened(text)}`);
      return type;
    }),
  );
}

function readAddresses(given: readonly string[]): readonly Address[] {
  return given.map((text) => {
    try {
      return parseAddress(text).address;
    } catch {
      throw refused('addresses', `invalid address: ${shortened(text)}`);
    }
  });
}

/**
 * The accounts of a subscription. Their keys, which take much of the time, are made once it is known that they are not too many.
 *
 * @param traces of the same subscription
 * @throws stream/too-many-addresses
 */
function accountsOf(
  addresses: readonly Address[],
  types: ReadonlySet<EventType>,
  traces: number,
  context: RequestContext,
): ReadonlyMap<string, SubscribedAccount> {
  const { maxAddresses } = context;
  if (maxAddresses !== null && addresses.length + traces > maxAddresses) {
    // Some may be there several times.
    requireFew(new Set(addresses.map(rawOf)).size + traces, context);
  }
  const accounts = new Map<string, SubscribedAccount>();
  for (const address of addresses) {
    const raw = rawOf(address);
    if (!accounts.has(raw)) accounts.set(raw, subscribedAccount(address, types));
  }
  return accounts;
}

function readHashes(given: readonly string[]): ReadonlySet<string> {
  return new Set(
    given.map((text) => {
      const trimmed = text.trim();
      if (trimmed === '') {
        throw refused('trace_external_hash_norms', 'trace_external_hash_norms contains empty value');
      }
      if (trimmed.length > LONGEST_TEXT) throw refused('trace_external_hash_norms', 'a value has too many characters');
      return trimmed;
    }),
  );
}

function requireFew(found: number, { maxAddresses: most }: RequestContext): void {
  if (most !== null && found > most) throw streamErrors['too-many-addresses']({ found, most });
}

function refused(field: string, problem: string) {
  return streamErrors.subscription({ field, problem });
}

function shortened(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}

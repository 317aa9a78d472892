import type { Profile } from '#api/http/http-api.js';
import { accountKey, addressBytes } from '#drivers/store/keys.js';
import type { Address } from '#formats/address/address.js';
import type { Finality } from '#services/pending/live-trace.js';

/** Types of events of the second version of the API that can be subscribed to. */
export const V2_TYPES = ['transactions', 'actions', 'trace', 'account_state_change', 'jettons_change'] as const;

/** The same of the first version: what is pending has types of its own. */
export const V1_TYPES = [
  'pending_transactions',
  'transactions',
  'pending_actions',
  'actions',
  'account_state_change',
  'jettons_change',
] as const;

export type EventType = (typeof V2_TYPES)[number] | (typeof V1_TYPES)[number];

/** How the events of a subscription are written; subscribers with equal options share the texts. */
export interface EventOptions {
  readonly version: 1 | 2;
  readonly profile: Profile;
  readonly addressBook: boolean;
  readonly metadata: boolean;
  /** Types of actions that are delivered; null: all. */
  readonly actionTypes: ReadonlySet<string> | null;
  /** Types of actions that the client supports; sorted. */
  readonly supported: readonly string[];
  /** A text that is equal for equal options. */
  readonly key: string;
}

/** An account of a subscription. As small as can be: there may be hundreds of thousands. */
export interface SubscribedAccount {
  /** `account_key` of the index. */
  readonly key: bigint;
  readonly address: Address;
  /** Types of events of this account. */
  readonly types: ReadonlySet<EventType>;
}

/** What a client wants to get. A value: a subscription that changes is another one. */
export interface Subscription {
  readonly types: ReadonlySet<EventType>;
  /** By raw form with upper-case digits. */
  readonly accounts: ReadonlyMap<string, SubscribedAccount>;
  /** Normalised hashes of external-in messages in base64; compared as they are. */
  readonly traces: ReadonlySet<string>;
  readonly minFinality: Finality;
  readonly options: EventOptions;
}

/** How many accounts and traces a subscription has. */
export function sizeOf({ accounts, traces }: Pick<Subscription, 'accounts' | 'traces'>): number {
  return accounts.size + traces.size;
}

const UNITS_PER_WATCHED = 0.01;

/** Price in work units of waiting for the accounts and traces of a subscription, and of ending that. */
export function watchingPrice(subscription: Pick<Subscription, 'accounts' | 'traces'>): number {
  return sizeOf(subscription) * UNITS_PER_WATCHED;
}

/** An account as a subscription has it. */
export function subscribedAccount(address: Address, types: ReadonlySet<EventType>): SubscribedAccount {
  return { key: accountKey(addressBytes(address)), address, types };
}

/** The raw form with upper-case digits. */
export function rawOf(address: Address): string {
  return address.toRaw().toUpperCase();
}

/** Options with their key. */
export function eventOptions(given: Omit<EventOptions, 'key'>): EventOptions {
  const { version, profile, addressBook, metadata, actionTypes, supported } = given;
  const types = actionTypes === null ? '*' : [...actionTypes].sort().join();
  const key = `${version}${profile}${addressBook ? 'b' : ''}${metadata ? 'm' : ''} ${types} ${supported.join()}`;
  return { ...given, key };
}

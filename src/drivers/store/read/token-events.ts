import type { TokenEvent, TokenEventBodies, TokenEventKind } from '#domain/tokens/token-event.js';
import type { Direction, IndexReadOptions, Listed, Page, TimeBounds } from '#drivers/store/read/index-reads.js';
import type { Address } from '#formats/address/address.js';

/** Kinds of events that are listed. Jetton transfers that were aborted are not. */
export type ListedTokenKind = Exclude<TokenEventKind, 'jetton_mint'>;

/** Filters AND together; a list is met by any of its items, an empty one by none. `*_utime` and `*_lt` bound the transaction. */
export interface TokenEventFilter extends TimeBounds {
  /** Who had or gets the tokens; of a burn, who had them. */
  readonly owner?: readonly Address[] | undefined;
  /** With `owner`, of transfers: `in`: the owner gets them; `out`: had them; absent: either. */
  readonly direction?: Direction | undefined;
  /** The jetton wallet (of the sender) or the item that received the message. */
  readonly account?: readonly Address[] | undefined;
  /** The jetton master, or the collection. */
  readonly token?: Address | undefined;
}

/** Something that happened to a token: a message to a jetton wallet or an NFT item that is or was verified. */
export type IndexedTokenEvent<Kind extends ListedTokenKind = ListedTokenKind> = {
  readonly id: bigint;
  readonly kind: Kind;
  /** Of the transaction, as what follows. */
  readonly hash: Uint8Array;
  readonly lt: bigint;
  readonly now: number;
  readonly aborted: boolean;
  /** Null while the trace is not known. */
  readonly trace_id: Uint8Array | null;
  /** The jetton wallet, or the item. */
  readonly account: Address;
  /** The jetton master, or the collection; null: an item without one. */
  readonly token: Address | null;
  /** The sender of the message. */
  readonly source: Address;
  readonly body: TokenEventBodies[Kind];
};

export interface TokenEventReads {
  /** By lt, or by now and lt where a bound of time is given; then by id, rising in both directions. */
  tokenEvents<Kind extends ListedTokenKind>(
    kind: Kind,
    filter: TokenEventFilter,
    page: Page,
    options: IndexReadOptions,
  ): Promise<Listed<IndexedTokenEvent<Kind>>>;
}

/** Compares an event with the whole values of a filter. */
export function meetsTokenFilter(
  { owner, direction, account, token }: TokenEventFilter,
  event: TokenEvent & { readonly account: Address; readonly token: Address | null },
): boolean {
  const holds = (list: readonly Address[], address: Address | null) =>
    address !== null && list.some((each) => each.equals(address));
  if (account !== undefined && !holds(account, event.account)) return false;
  if (token !== undefined && event.token?.equals(token) !== true) return false;
  if (owner === undefined) return true;
  if (event.kind === 'jetton_burn') return holds(owner, event.source);
  return (direction !== 'in' && holds(owner, event.source)) || (direction !== 'out' && holds(owner, event.destination));
}

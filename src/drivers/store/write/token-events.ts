import type { ClientBase } from 'pg';
import { parseTokenEvent } from '#domain/tokens/token-messages.js';
import { accountKey, addressBytes } from '#drivers/store/keys.js';
import type { TokenEventRow } from '#drivers/store/tables.js';
import type { Transaction, TransactionDescr } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';

/** Values of the column `token_events.kind`. */
export const TOKEN_EVENT_KINDS = { jetton_transfer: 1, jetton_burn: 2, jetton_mint: 3, nft_transfer: 4 } as const;

/** An aborted jetton transfer: a value of its own, so that no index for lists contains it. */
const ABORTED_TRANSFER = 5;

/** A received jetton or NFT message, before it is known whether its receiver is a verified wallet or item. */
export interface TokenEventCandidate {
  readonly kind: number;
  readonly aborted: boolean;
  /** The jetton wallet or the item, as `addressBytes` has it. */
  readonly address: Uint8Array;
  readonly account_key: bigint;
  readonly source_key: bigint;
  readonly destination_key: bigint | null;
}

/** The candidate of a transaction; null: it received no jetton or NFT message. @throws tlb/*, cells/* when it is malformed */
export function tokenEventCandidate(
  { in_msg, description }: Transaction,
  { address, account_key }: Pick<TokenEventCandidate, 'address' | 'account_key'>,
): TokenEventCandidate | null {
  const event = in_msg === null ? null : parseTokenEvent(in_msg.value);
  if (event === null) return null;
  const { kind, source, destination } = event;
  const aborted = isAborted(description.value);
  return {
    kind: aborted && kind === 'jetton_transfer' ? ABORTED_TRANSFER : TOKEN_EVENT_KINDS[kind],
    aborted,
    address,
    account_key,
    source_key: accountKey(addressBytes(source)),
    destination_key: destination === null ? null : accountKey(addressBytes(destination)),
  };
}

/** `account_key` of whom a token event is from and to. */
export function ownerKeys({
  source_key,
  destination_key,
}: Pick<TokenEventCandidate, 'source_key' | 'destination_key'>): readonly bigint[] {
  return destination_key === null ? [source_key] : [source_key, destination_key];
}

/** Whether the transaction was aborted. */
export function isAborted(description: TransactionDescr): boolean {
  return 'aborted' in description && description.aborted;
}

/** A jetton wallet that its master confirms; addresses as `addressBytes` encodes them. */
export interface VerifiedWallet {
  readonly address: Uint8Array;
  readonly master: Uint8Array;
}

/** An NFT item that its collection confirms, or one without a collection. */
export interface VerifiedItem {
  readonly address: Uint8Array;
  readonly collection: Uint8Array | null;
}

/** The columns `confirmed` and `token_key` of an event. */
export interface Confirmation {
  readonly confirmed: boolean;
  readonly token_key: bigint | null;
}

const UNCONFIRMED: Confirmation = { confirmed: false, token_key: null };

/** Jetton wallets and NFT items among some accounts, as they were verified last. */
export class KnownTokens {
  /** By address in hexadecimal. */
  readonly wallets: ReadonlyMap<string, VerifiedWallet>;
  readonly items: ReadonlyMap<string, VerifiedItem>;

  constructor(wallets: readonly VerifiedWallet[], items: readonly VerifiedItem[]) {
    this.wallets = new Map(wallets.map((wallet) => [toHex(wallet.address), wallet]));
    this.items = new Map(items.map((item) => [toHex(item.address), item]));
  }

  confirmation({ kind, address, source_key }: TokenEventCandidate): Confirmation {
    if (kind === TOKEN_EVENT_KINDS.nft_transfer) {
      const item = this.items.get(toHex(address));
      if (item === undefined) return UNCONFIRMED;
      return { confirmed: true, token_key: item.collection === null ? null : accountKey(item.collection) };
    }
    const wallet = this.wallets.get(toHex(address));
    if (wallet === undefined) return UNCONFIRMED;
    const token_key = accountKey(wallet.master);
    // Only the master can mint.
    return kind === TOKEN_EVENT_KINDS.jetton_mint && source_key !== token_key
      ? UNCONFIRMED
      : { confirmed: true, token_key };
  }
}

/** Reads which accounts of candidates are known wallets and items. */
export async function readKnownTokens(
  client: ClientBase,
  candidates: readonly TokenEventCandidate[],
): Promise<KnownTokens> {
  const wallets = new Map<bigint, Uint8Array>();
  const items = new Map<bigint, Uint8Array>();
  for (const { kind, account_key, address } of candidates) {
    (kind === TOKEN_EVENT_KINDS.nft_transfer ? items : wallets).set(account_key, address);
  }
  const find = async <Row extends object>(name: string, text: string, addresses: Map<bigint, Uint8Array>) => {
    if (addresses.size === 0) return [];
    const { rows } = await client.query<Row>({ name, text, values: [[...addresses.values()]] });
    return rows;
  };
  return new KnownTokens(
    await find<VerifiedWallet>(
      'known-jetton-wallets',
      'SELECT address, jetton AS master FROM jetton_wallets WHERE address = ANY($1::bytea[])',
      wallets,
    ),
    await find<VerifiedItem>(
      'known-nft-items',
      'SELECT address, collection FROM nft_items WHERE address = ANY($1::bytea[])',
      items,
    ),
  );
}

/** The row of a candidate. */
export function tokenEventRow(
  { id, lt, now }: { readonly id: bigint; readonly lt: bigint; readonly now: number },
  candidate: TokenEventCandidate,
  tokens: KnownTokens,
): TokenEventRow {
  const { kind, aborted, account_key, source_key, destination_key } = candidate;
  const { confirmed, token_key } = tokens.confirmation(candidate);
  return { tx_id: id, lt, now, account_key, token_key, source_key, destination_key, kind, aborted, confirmed };
}

/**
 * Confirms the events of newly verified wallets and items, including those that belonged to another token before; in the
 * transaction that writes their rows.
 *
 * The lock of `lockTraces` is held, and was taken before any row was written: so a concurrent batch either finds the wallets and
 * items itself, or its events are found here.
 *
 * @returns keys of the owners and tokens that the changed events name, or named before
 */
export async function confirmEvents(
  client: ClientBase,
  wallets: readonly VerifiedWallet[],
  items: readonly VerifiedItem[],
): Promise<ChangedEvents> {
  const owners = new Set<bigint>();
  const tokens = new Set<bigint>();
  const confirm = async (name: string, text: string, values: readonly unknown[]) => {
    const query = { name, text, values: [...values] };
    const { rows } = await client.query<ConfirmedRow>(query);
    for (const row of rows) {
      for (const key of ownerKeys(row)) owners.add(key);
      for (const key of [row.token_before, row.token_key]) if (key !== null) tokens.add(key);
    }
  };
  if (wallets.length > 0) {
    const values = [wallets.map(({ address }) => accountKey(address)), wallets.map(({ master }) => accountKey(master))];
    await confirm('confirm-jetton-events', CONFIRM_JETTONS, values);
  }
  if (items.length > 0) {
    const values = [
      items.map(({ address }) => accountKey(address)),
      items.map(({ collection }) => (collection === null ? null : accountKey(collection))),
    ];
    await confirm('confirm-nft-events', CONFIRM_NFTS, values);
  }
  return { owners: [...owners], tokens: [...tokens] };
}

/** What {@link confirmEvents} changed. */
export interface ChangedEvents {
  readonly owners: readonly bigint[];
  readonly tokens: readonly bigint[];
}

interface ConfirmedRow extends Pick<TokenEventCandidate, 'source_key' | 'destination_key'> {
  readonly token_before: bigint | null;
  readonly token_key: bigint | null;
}

/** Updates only events that differ. */
const CONFIRM_JETTONS = `
  UPDATE token_events e SET confirmed = n.confirmed, token_key = CASE WHEN n.confirmed THEN n.token_key END
  FROM (
    SELECT e.tx_id, e.token_key AS token_before, k.token_key, e.kind <> ${TOKEN_EVENT_KINDS.jetton_mint} OR e.source_key = k.token_key AS confirmed
    FROM unnest($1::bigint[], $2::bigint[]) k (account_key, token_key)
    JOIN token_events e ON e.account_key = k.account_key
    WHERE e.kind <> ${TOKEN_EVENT_KINDS.nft_transfer}
  ) n
  WHERE e.tx_id = n.tx_id
    AND (e.confirmed, e.token_key) IS DISTINCT FROM (n.confirmed, CASE WHEN n.confirmed THEN n.token_key END)
  RETURNING e.source_key, e.destination_key, n.token_before, e.token_key`;

const CONFIRM_NFTS = `
  UPDATE token_events e SET confirmed = true, token_key = n.token_key
  FROM (
    SELECT e.tx_id, e.token_key AS token_before, k.token_key
    FROM unnest($1::bigint[], $2::bigint[]) k (account_key, token_key)
    JOIN token_events e ON e.account_key = k.account_key
    WHERE e.kind = ${TOKEN_EVENT_KINDS.nft_transfer}
  ) n
  WHERE e.tx_id = n.tx_id AND (NOT e.confirmed OR e.token_key IS DISTINCT FROM n.token_key)
  RETURNING e.source_key, e.destination_key, n.token_before, e.token_key`;

/** Confirms events of a batch whose wallets and items became known after `before` was read. As {@link confirmEvents}. */
export async function confirmChanges(
  client: ClientBase,
  before: KnownTokens,
  candidates: readonly TokenEventCandidate[],
): Promise<void> {
  if (candidates.length === 0) return;
  const now = await readKnownTokens(client, candidates);
  const wallets = [...now.wallets].filter(([key, { master }]) => !isSame(before.wallets.get(key)?.master, master));
  const items = [...now.items].filter(
    ([key, { collection }]) => !isSame(before.items.get(key)?.collection, collection),
  );
  await confirmEvents(
    client,
    wallets.map(([, wallet]) => wallet),
    items.map(([, item]) => item),
  );
}

/** @param before undefined: it was not known */
function isSame(before: Uint8Array | null | undefined, now: Uint8Array | null): boolean {
  return before === now || (before != null && now !== null && Buffer.compare(before, now) === 0);
}

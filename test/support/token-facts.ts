import { Cell as CoreCell, type Slice as CoreSlice, loadTransaction } from '@ton/core';
import type pg from 'pg';
import { addressBytes } from '#drivers/store/keys.js';
import type { ListedTokenKind, TokenEventFilter } from '#drivers/store/read/token-events.js';
import type { VerifiedItem, VerifiedWallet } from '#drivers/store/write/token-events.js';
import { Address, parseAddress } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { type IndexedChain, insert } from '#test/support/indexed-chain.js';

/** A message about tokens, as `@ton/core` reads it from the transaction that received it. */
export interface TokenFact {
  readonly id: bigint;
  readonly lt: bigint;
  readonly now: number;
  readonly kind: 'jetton_transfer' | 'jetton_burn' | 'jetton_mint' | 'nft_transfer';
  readonly aborted: boolean;
  readonly account: Address;
  readonly source: Address;
  readonly destination: Address | null;
  /** Undefined: not verified; null: an item without a collection. */
  readonly token: Address | null | undefined;
}

const KINDS: ReadonlyMap<number, TokenFact['kind']> = new Map([
  [0x0f8a7ea5, 'jetton_transfer'],
  [0x595f07bc, 'jetton_burn'],
  [0x178d4519, 'jetton_mint'],
  [0x5fcc3d14, 'nft_transfer'],
]);

/** Made up: which token an account would be of. Every fifth is of none. */
function tokenOf(account: Address, isItem: boolean): Address | null | undefined {
  const pick = account.hash[7]! % 5;
  if (pick === 0) return undefined;
  return pick === 1 && isItem ? null : Address.ofParts(0, new Uint8Array(32).fill(pick));
}

/** All messages about tokens in the transactions of a chain. */
export function tokenFacts(chain: Pick<IndexedChain, 'transactions'>): TokenFact[] {
  return chain.transactions.flatMap(({ id, expected }) => {
    const core = loadTransaction(CoreCell.fromBoc(Buffer.from(serializeBoc(expected.cell)))[0]!.beginParse());
    const message = core.inMessage;
    if (message?.info.type !== 'internal' || message.body.isExotic) return [];
    const body = message.body.beginParse();
    const kind = body.remainingBits < 32 ? undefined : KINDS.get(body.loadUint(32));
    if (kind === undefined) return [];
    const account = Address.ofParts(expected.workchain, expected.account);
    const fact = {
      ...{ id, lt: expected.lt, now: expected.now, kind, account },
      aborted: 'aborted' in core.description && core.description.aborted,
      source: parseAddress(message.info.src.toRawString()).address,
      destination: destinationIn(body, kind),
      token: tokenOf(account, kind === 'nft_transfer'),
    };
    return [fact];
  });
}

function destinationIn(body: CoreSlice, kind: TokenFact['kind']): Address | null {
  body.loadUintBig(64);
  if (kind === 'jetton_burn' || kind === 'jetton_mint') return null;
  if (kind === 'jetton_transfer') body.loadCoins();
  const address = body.loadMaybeAddress();
  return address === null ? null : parseAddress(address.toRawString()).address;
}

/** Those of the accounts of facts that are verified. */
export function verifiedTokens(facts: readonly TokenFact[]): {
  readonly wallets: VerifiedWallet[];
  readonly items: VerifiedItem[];
} {
  const wallets = new Map<string, VerifiedWallet>();
  const items = new Map<string, VerifiedItem>();
  for (const { kind, account, token } of facts) {
    if (token === undefined) continue;
    const address = addressBytes(account);
    if (kind === 'nft_transfer') items.set(account.toRaw(), { address, collection: token && addressBytes(token) });
    else wallets.set(account.toRaw(), { address, master: addressBytes(token!) });
  }
  return { wallets: [...wallets.values()], items: [...items.values()] };
}

/** Any of the columns that say of which state a row is. */
const READ_FROM = { last_trans_lt: 1n, mc_seqno: 1 };
const NOBODY = new Uint8Array(33);

/** Puts verified wallets and items into their tables; of those that are there, the token changes. */
export async function insertTokens(
  client: pg.ClientBase,
  wallets: readonly VerifiedWallet[],
  items: readonly VerifiedItem[],
): Promise<void> {
  await remove(client, 'jetton_wallets', wallets);
  await remove(client, 'nft_items', items);
  await insert(
    client,
    'jetton_wallets',
    wallets.map(({ address, master }) => ({ ...READ_FROM, address, balance: 1n, owner: NOBODY, jetton: master })),
  );
  await insert(
    client,
    'nft_items',
    items.map(({ address, collection }) => ({ ...READ_FROM, address, init: true, index: 1n, collection, content: {} })),
  );
}

async function remove(client: pg.ClientBase, table: string, rows: readonly { address: Uint8Array }[]): Promise<void> {
  await client.query(`DELETE FROM ${table} WHERE address = ANY($1::bytea[])`, [rows.map(({ address }) => address)]);
}

/** Ids of the events of a kind that meet a filter, by brute force. */
export function tokenEventIds(
  facts: readonly TokenFact[],
  kind: ListedTokenKind,
  filter: TokenEventFilter,
  sort: 'asc' | 'desc',
): string[] {
  const { owner, direction, account, token, start_lt, end_lt, start_utime, end_utime } = filter;
  const is = (list: readonly Address[], address: Address | null) => list.some((one) => address?.equals(one) === true);
  const found = facts.filter(
    (fact) =>
      fact.kind === kind &&
      fact.token !== undefined &&
      !(kind === 'jetton_transfer' && fact.aborted) &&
      (account === undefined || is(account, fact.account)) &&
      (token === undefined || is([token], fact.token)) &&
      (owner === undefined ||
        (is(owner, fact.source) && (direction !== 'in' || kind === 'jetton_burn')) ||
        (is(owner, fact.destination) && direction !== 'out' && kind !== 'jetton_burn')) &&
      (start_lt === undefined || fact.lt >= start_lt) &&
      (end_lt === undefined || fact.lt <= end_lt) &&
      (start_utime === undefined || fact.now >= start_utime) &&
      (end_utime === undefined || fact.now <= end_utime),
  );
  const byTime = start_utime !== undefined || end_utime !== undefined;
  const way = sort === 'asc' ? 1 : -1;
  found.sort(
    (a, b) => (byTime ? way * (a.now - b.now) : 0) || way * Number(a.lt - b.lt) || Number(a.id < b.id ? -1 : 1),
  );
  return found.map(({ id }) => String(id));
}

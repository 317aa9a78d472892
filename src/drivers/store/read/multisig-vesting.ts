import { multisig } from '#domain/contracts/interfaces/multisig.js';
import { multisigOrder } from '#domain/contracts/interfaces/multisig-order.js';
import { vesting } from '#domain/contracts/interfaces/vesting.js';
import {
  BY_ID,
  byAddress,
  distinctAddresses,
  distinctBytes,
  mergedWalks,
  ownedById,
  readContracts,
  walk,
} from '#drivers/store/read/contract-lists.js';
import { contractReader, type IndexedRow, type StoredContract } from '#drivers/store/read/contract-rows.js';
import type { Listed, Page } from '#drivers/store/read/index-types.js';
import type { RowWindow } from '#drivers/store/read/pages.js';
import { all, type IndexSession, join, opaqueToPlanner, raw, type Sql, sql } from '#drivers/store/read/session.js';
import type { Address } from '#formats/address/address.js';

/** A multisig wallet, version 2. */
export type IndexedMultisig = IndexedRow<typeof multisig>;

/** An order of a multisig; null before it is initialised. */
export type IndexedMultisigOrder = IndexedRow<typeof multisigOrder>;

/** A vesting wallet. */
export type IndexedVesting = IndexedRow<typeof vesting>;

/** Filters are combined with AND; an absent one filters nothing; a list matches any of its items, an empty list nothing. */
export interface MultisigFilter {
  readonly address?: readonly Address[] | undefined;
  /** Of a signer or a proposer. */
  readonly wallet_address?: readonly Address[] | undefined;
}

/** As {@link MultisigFilter}. */
export interface MultisigOrderFilter {
  readonly address?: readonly Address[] | undefined;
  readonly multisig_address?: readonly Address[] | undefined;
}

/** As {@link MultisigFilter}. */
export interface VestingFilter {
  readonly contract_address?: readonly Address[] | undefined;
  /** Of the owner or the sender. */
  readonly wallet_address?: readonly Address[] | undefined;
  /** `wallet_address` may also be one of the whitelist. */
  readonly check_whitelist?: boolean | undefined;
}

const MULTISIGS = contractReader(multisig);
const ORDERS = contractReader(multisigOrder);
const VESTINGS = contractReader(vesting);
const NOT_LAPSED = raw('t.lapsed IS NULL');

/** A page of multisigs. */
export function readMultisigs(
  session: IndexSession,
  filter: MultisigFilter,
  page: Page,
): Promise<Listed<IndexedMultisig>> {
  const { address, wallet_address } = filter;
  const order = { ...BY_ID, sort: page.sort };
  const members =
    wallet_address === undefined
      ? []
      : [sql`(t.signers || t.proposers) && ${anyOf(distinctAddresses(wallet_address))}`];
  const source = ({ after, offset, count }: RowWindow) => {
    if (address !== undefined) return byAddress('multisigs', distinctAddresses(address), members);
    if (members.length === 0) return walk('multisigs', [[]], order, [], { after, most: offset + count });
    // Rows with one of the members are found first: they are few, and walking all others in order would take long.
    return sql`SELECT t.* FROM multisigs t WHERE ${all([NOT_LAPSED, ...members])} OFFSET 0`;
  };
  return readContracts(session, MULTISIGS, { name: 'multisigs', filter, order, source }, page);
}

/** A page of orders. */
export function readMultisigOrders(
  session: IndexSession,
  filter: MultisigOrderFilter,
  page: Page,
): Promise<Listed<IndexedMultisigOrder>> {
  const order = { ...BY_ID, sort: page.sort };
  const [addresses, multisigs] = [filter.address, filter.multisig_address].map(distinctBytes);
  const source = ownedById('multisig_orders', 'multisig', addresses, multisigs, order);
  return readContracts(session, ORDERS, { name: 'multisigOrders', filter, order, source }, page);
}

/** The first orders of some multisigs, rising. */
export async function readOrdersOfMultisigs(
  session: IndexSession,
  multisigs: readonly Address[],
  most: number,
): Promise<readonly IndexedMultisigOrder[]> {
  if (multisigs.length === 0) return [];
  const rows = ofKeys('multisig_orders', 'multisig', distinctAddresses(multisigs), {
    after: null,
    offset: 0,
    count: most,
  });
  const found = await session.rows<StoredContract<typeof multisigOrder>>(
    sql`SELECT ${raw(ORDERS.columns('t'))} FROM (${rows}) AS t ORDER BY t.id`,
  );
  return session.slices.map(found, ORDERS.row);
}

/** A page of vesting wallets. */
export function readVestingContracts(
  session: IndexSession,
  filter: VestingFilter,
  page: Omit<Page, 'sort'>,
): Promise<Listed<IndexedVesting>> {
  const source = (window: RowWindow) => vestingSource(filter, window);
  const list = { name: 'vestingContracts', filter, order: BY_ID, source };
  return readContracts(session, VESTINGS, list, { ...page, sort: 'asc' });
}

/** The rows that match the filter: each once, those of the window among them. */
function vestingSource({ contract_address, wallet_address, check_whitelist }: VestingFilter, window: RowWindow): Sql {
  const table = 'vesting_contracts';
  const wallets = wallet_address && distinctAddresses(wallet_address);
  if (contract_address !== undefined) {
    const parties = check_whitelist === true ? 'ARRAY[t.sender, t.owner] || t.whitelist' : 'ARRAY[t.sender, t.owner]';
    const conditions = wallets === undefined ? [] : [sql`(${raw(parties)}) && ${anyOf(wallets)}`];
    return byAddress(table, distinctAddresses(contract_address), conditions);
  }
  if (wallets === undefined) {
    const { after, offset, count } = window;
    return walk(table, [[]], BY_ID, [], { after, most: offset + count });
  }
  const parts = [ofKeys(table, 'sender', wallets, window), ofKeys(table, 'owner', wallets, window)];
  if (check_whitelist === true) {
    parts.push(sql`SELECT t.* FROM ${raw(table)} t WHERE t.whitelist && ${anyOf(wallets)} AND ${NOT_LAPSED} OFFSET 0`);
  }
  const union = join(
    parts.map((part) => sql`(${part})`),
    ' UNION ALL ',
  );
  return sql`SELECT DISTINCT ON (t.id) t.* FROM (${union}) AS t ORDER BY t.id`;
}

/** The first rows of the window whose column has one of some values. */
function ofKeys(table: string, column: string, keys: readonly Uint8Array[], { after, offset, count }: RowWindow): Sql {
  const window = { after, most: offset + count };
  const of = (value: Sql) => walk(table, [[{ column: raw(`t.${column}`), value }]], BY_ID, [], window);
  return mergedWalks(keys, BY_ID, of, window.most);
}

function anyOf(addresses: readonly Uint8Array[]): Sql {
  return opaqueToPlanner(addresses, 'bytea[]');
}

import { multisig } from '#domain/contracts/interfaces/multisig.js';
import { multisigOrder } from '#domain/contracts/interfaces/multisig-order.js';
import { vesting } from '#domain/contracts/interfaces/vesting.js';
import { distinctAddresses, rowsAt } from '#drivers/store/read/contract-lists.js';
import {
  type ContractFound,
  contractReader,
  type IndexedRow,
  type StoredContract,
} from '#drivers/store/read/contract-rows.js';
import type { Listed, Page } from '#drivers/store/read/index-types.js';
import { type RowWindow, readPage } from '#drivers/store/read/pages.js';
import { all, type IndexSession, opaqueToPlanner, raw, type Sql, sql } from '#drivers/store/read/session.js';
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

const MULTISIGS = contractReader(multisig);
const ORDERS = contractReader(multisigOrder);
const VESTINGS = contractReader(vesting);
const MULTISIG = raw(MULTISIGS.columns('m'));
const ORDER = raw(ORDERS.columns('m'));
const NOT_LAPSED = raw('m.lapsed IS NULL');

/** A page of multisigs. */
export async function readMultisigs(
  session: IndexSession,
  filter: MultisigFilter,
  page: Page,
): Promise<Listed<IndexedMultisig>> {
  const { address, wallet_address } = filter;
  const { rows, next } = await readById<StoredContract<typeof multisig>>(
    session,
    'multisigs',
    filter,
    page,
    (stretch) => {
      const members =
        wallet_address === undefined
          ? []
          : [sql`(m.signers || m.proposers) && ${opaqueToPlanner(distinctAddresses(wallet_address), 'bytea[]')}`];
      const conditions = [NOT_LAPSED, ...members, ...behindRow(stretch, page)];
      if (address !== undefined)
        return sql`${MULTISIG} FROM ${rowsAt('multisigs', address)} AS m WHERE ${all(conditions)}`;
      if (members.length === 0) return sql`${MULTISIG} FROM multisigs m WHERE ${all(conditions)}`;
      // Rows with one of the members are found first: they are few, and walking all others in order would take long.
      return sql`${MULTISIG} FROM (SELECT * FROM multisigs m WHERE ${all([NOT_LAPSED, ...members])} OFFSET 0) AS m
      WHERE ${all(conditions)}`;
    },
  );
  return { rows: rows.map(MULTISIGS.row), next };
}

/** A page of orders. */
export async function readMultisigOrders(
  session: IndexSession,
  filter: MultisigOrderFilter,
  page: Page,
): Promise<Listed<IndexedMultisigOrder>> {
  const { address, multisig_address } = filter;
  const { rows, next } = await readById<StoredContract<typeof multisigOrder>>(
    session,
    'multisigOrders',
    filter,
    page,
    (stretch) => {
      const conditions = [NOT_LAPSED, ...behindRow(stretch, page)];
      if (address !== undefined) {
        if (multisig_address !== undefined) {
          conditions.push(sql`m.multisig = ANY(${distinctAddresses(multisig_address)}::bytea[])`);
        }
        return sql`${ORDER} FROM ${rowsAt('multisig_orders', address)} AS m WHERE ${all(conditions)}`;
      }
      if (multisig_address === undefined) return sql`${ORDER} FROM multisig_orders m WHERE ${all(conditions)}`;
      return sql`${ORDER} FROM ${ordersOf(multisig_address, conditions, page.sort, stretch.offset + stretch.count)} AS m`;
    },
  );
  return { rows: rows.map(ORDERS.row), next };
}

/** The first orders of some multisigs, rising. */
export async function readOrdersOfMultisigs(
  session: IndexSession,
  multisigs: readonly Address[],
  most: number,
): Promise<readonly IndexedMultisigOrder[]> {
  if (multisigs.length === 0) return [];
  const rows = await session.rows<StoredContract<typeof multisigOrder>>(
    sql`SELECT ${ORDER} FROM ${ordersOf(multisigs, [NOT_LAPSED], 'asc', most)} AS m ORDER BY m.id LIMIT ${raw(most)}`,
  );
  return rows.map(ORDERS.row);
}

/** The first or last orders of each multisig. */
function ordersOf(multisigs: readonly Address[], conditions: readonly Sql[], sort: 'asc' | 'desc', most: number): Sql {
  return sql`unnest(${opaqueToPlanner(distinctAddresses(multisigs), 'bytea[]')}) AS k(address) CROSS JOIN LATERAL (
    SELECT * FROM multisig_orders m WHERE m.multisig = k.address AND ${all(conditions)}
    ORDER BY m.id ${raw(sort)} LIMIT ${raw(most)}
  )`;
}

/** @param select columns and source, without the order */
function readById<Row extends ContractFound>(
  session: IndexSession,
  name: string,
  filter: object,
  page: Page,
  select: (stretch: RowWindow) => Sql,
): Promise<Listed<Row>> {
  return readPage<Row, Row>(
    {
      ...{ name, filter, keyParts: 1 },
      read: (stretch) => {
        const { offset, count } = stretch;
        return session.rows<Row>(
          sql`SELECT ${select(stretch)} ORDER BY id ${raw(page.sort)} LIMIT ${raw(count)} OFFSET ${raw(offset)}`,
          offset === 0 ? {} : { planned: 'each time' },
        );
      },
      check: (found) => found,
      keyOf: ({ id }) => [id],
    },
    page,
  );
}

function behindRow({ after }: RowWindow, { sort }: Page): Sql[] {
  return after === null ? [] : [sql`m.id ${raw(sort === 'desc' ? '<' : '>')} ${after[0]}::bigint`];
}

/** Filters are combined with AND; an absent one filters nothing; a list matches any of its items, an empty list nothing. */
export interface VestingFilter {
  readonly contract_address?: readonly Address[] | undefined;
  /** Of the owner or the sender. */
  readonly wallet_address?: readonly Address[] | undefined;
  /** `wallet_address` may also be one of the whitelist. */
  readonly check_whitelist?: boolean | undefined;
}

const VESTING_NOT_LAPSED = raw('v.lapsed IS NULL');

/** A page of vesting wallets. */
export async function readVestingContracts(
  session: IndexSession,
  filter: VestingFilter,
  page: Omit<Page, 'sort'>,
): Promise<Listed<IndexedVesting>> {
  const ascending: Page = { ...page, sort: 'asc' };
  const { rows, next } = await readById<StoredContract<typeof vesting>>(
    session,
    'vestingContracts',
    filter,
    ascending,
    (stretch) => sql`${raw(VESTINGS.columns('v'))} FROM ${vestingSource(filter, stretch)}`,
  );
  return { rows: rows.map(VESTINGS.row), next };
}

/** The rows `v` that match the filter: each once, those of the window among them. */
function vestingSource({ contract_address, wallet_address, check_whitelist }: VestingFilter, stretch: RowWindow): Sql {
  const { after, offset, count } = stretch;
  const conditions = [VESTING_NOT_LAPSED, ...(after === null ? [] : [sql`v.id > ${after[0]}::bigint`])];
  if (wallet_address === undefined) {
    const rows =
      contract_address === undefined ? raw('vesting_contracts') : rowsAt('vesting_contracts', contract_address);
    return sql`${rows} AS v WHERE ${all(conditions)}`;
  }
  const wallets = opaqueToPlanner(distinctAddresses(wallet_address), 'bytea[]');
  if (contract_address !== undefined) {
    const parties = check_whitelist === true ? 'ARRAY[v.sender, v.owner] || v.whitelist' : 'ARRAY[v.sender, v.owner]';
    conditions.push(sql`(${raw(parties)}) && ${wallets}`);
    return sql`${rowsAt('vesting_contracts', contract_address)} AS v WHERE ${all(conditions)}`;
  }
  const by = (
    column: 'sender' | 'owner',
  ): Sql => sql`SELECT w.* FROM unnest(${wallets}) AS k(address) CROSS JOIN LATERAL (
      SELECT * FROM vesting_contracts v WHERE v.${raw(column)} = k.address AND ${all(conditions)}
      ORDER BY v.id LIMIT ${raw(offset + count)}
    ) AS w`;
  const listed =
    check_whitelist === true
      ? sql` UNION ALL (SELECT * FROM vesting_contracts v WHERE v.whitelist && ${wallets} AND ${all(conditions)} OFFSET 0)`
      : raw('');
  return sql`(SELECT DISTINCT ON (a.id) a.* FROM (${by('sender')} UNION ALL ${by('owner')}${listed}) AS a ORDER BY a.id) AS v`;
}

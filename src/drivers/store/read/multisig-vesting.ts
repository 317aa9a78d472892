import { addressOfBytes } from '#drivers/store/keys.js';
import { distinctAddresses, maybeAddress, rowsAt } from '#drivers/store/read/contract-lists.js';
import type { Listed, Page } from '#drivers/store/read/index-types.js';
import { type RowWindow, readPage } from '#drivers/store/read/pages.js';
import { all, type IndexSession, opaqueToPlanner, raw, type Sql, sql } from '#drivers/store/read/session.js';
import type { Address } from '#formats/address/address.js';

/** The state that a row was read from. */
interface ReadState {
  readonly address: Address;
  readonly last_trans_lt: bigint;
  readonly code_hash: Uint8Array | null;
  readonly data_hash: Uint8Array | null;
}

/** A multisig wallet, version 2. */
export interface IndexedMultisig extends ReadState {
  /** -1: order seqnos are arbitrary. */
  readonly next_order_seqno: bigint;
  readonly threshold: bigint;
  readonly signers: readonly Address[];
  readonly proposers: readonly Address[];
}

/** An order of a multisig; null before it is initialised. */
export interface IndexedMultisigOrder extends ReadState {
  readonly multisig: Address;
  readonly order_seqno: bigint;
  readonly threshold: bigint | null;
  readonly sent_for_execution: boolean | null;
  readonly approvals_mask: bigint | null;
  readonly approvals_num: bigint | null;
  /** Unix seconds. */
  readonly expiration_date: bigint | null;
  /** BoC of the actions. */
  readonly order_boc: Uint8Array | null;
  readonly signers: readonly Address[] | null;
}

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

interface Found {
  readonly id: bigint;
  readonly address: Uint8Array;
  readonly last_trans_lt: bigint;
  readonly code_hash: Uint8Array | null;
  readonly data_hash: Uint8Array | null;
}

interface MultisigFound extends Found {
  readonly next_order_seqno: bigint;
  readonly threshold: bigint;
  readonly signers: readonly Uint8Array[];
  readonly proposers: readonly Uint8Array[];
}

interface OrderFound extends Found {
  readonly multisig: Uint8Array;
  readonly order_seqno: bigint;
  readonly threshold: bigint | null;
  readonly sent_for_execution: boolean | null;
  readonly approvals_mask: bigint | null;
  readonly approvals_num: bigint | null;
  readonly expiration_date: bigint | null;
  readonly order_boc: Uint8Array | null;
  readonly signers: readonly Uint8Array[] | null;
}

const STATE = 'm.id, m.address, m.last_trans_lt, m.code_hash, m.data_hash, m.signers, m.threshold';
const MULTISIG = raw(`${STATE}, m.next_order_seqno, m.proposers`);
const ORDER = raw(
  `${STATE}, m.multisig, m.order_seqno, m.sent_for_execution, m.approvals_mask, m.approvals_num, m.expiration_date, m.order_boc`,
);
const NOT_LAPSED = raw('m.lapsed IS NULL');

/** A page of multisigs. */
export async function readMultisigs(
  session: IndexSession,
  filter: MultisigFilter,
  page: Page,
): Promise<Listed<IndexedMultisig>> {
  const { address, wallet_address } = filter;
  const { rows, next } = await readById<MultisigFound>(session, 'multisigs', filter, page, (stretch) => {
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
  });
  return { rows: rows.map(multisigOf), next };
}

/** A page of orders. */
export async function readMultisigOrders(
  session: IndexSession,
  filter: MultisigOrderFilter,
  page: Page,
): Promise<Listed<IndexedMultisigOrder>> {
  const { address, multisig_address } = filter;
  const { rows, next } = await readById<OrderFound>(session, 'multisigOrders', filter, page, (stretch) => {
    const conditions = [NOT_LAPSED, ...behindRow(stretch, page)];
    if (address !== undefined) {
      if (multisig_address !== undefined) {
        conditions.push(sql`m.multisig = ANY(${distinctAddresses(multisig_address)}::bytea[])`);
      }
      return sql`${ORDER} FROM ${rowsAt('multisig_orders', address)} AS m WHERE ${all(conditions)}`;
    }
    if (multisig_address === undefined) return sql`${ORDER} FROM multisig_orders m WHERE ${all(conditions)}`;
    return sql`${ORDER} FROM ${ordersOf(multisig_address, conditions, page.sort, stretch.offset + stretch.count)} AS m`;
  });
  return { rows: rows.map(orderOf), next };
}

/** The first orders of some multisigs, rising. */
export async function readOrdersOfMultisigs(
  session: IndexSession,
  multisigs: readonly Address[],
  most: number,
): Promise<readonly IndexedMultisigOrder[]> {
  if (multisigs.length === 0) return [];
  const rows = await session.rows<OrderFound>(
    sql`SELECT ${ORDER} FROM ${ordersOf(multisigs, [NOT_LAPSED], 'asc', most)} AS m ORDER BY m.id LIMIT ${raw(most)}`,
  );
  return rows.map(orderOf);
}

/** The first or last orders of each multisig. */
function ordersOf(multisigs: readonly Address[], conditions: readonly Sql[], sort: 'asc' | 'desc', most: number): Sql {
  return sql`unnest(${opaqueToPlanner(distinctAddresses(multisigs), 'bytea[]')}) AS k(address) CROSS JOIN LATERAL (
    SELECT * FROM multisig_orders m WHERE m.multisig = k.address AND ${all(conditions)}
    ORDER BY m.id ${raw(sort)} LIMIT ${raw(most)}
  )`;
}

/** @param select columns and source, without the order */
function readById<Row extends Found>(
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
          sql`SELECT ${select(stretch)} ORDER BY m.id ${raw(page.sort)} LIMIT ${raw(count)} OFFSET ${raw(offset)}`,
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

function multisigOf({ id: _, address, signers, proposers, ...same }: MultisigFound): IndexedMultisig {
  return {
    ...same,
    address: addressOfBytes(address),
    signers: signers.map(addressOfBytes),
    proposers: proposers.map(addressOfBytes),
  };
}

function orderOf({ id: _, address, multisig, signers, ...same }: OrderFound): IndexedMultisigOrder {
  return {
    ...same,
    address: addressOfBytes(address),
    multisig: addressOfBytes(multisig),
    signers: signers === null ? null : signers.map(addressOfBytes),
  };
}

/** A vesting wallet. */
export interface IndexedVesting {
  readonly address: Address;
  /** Unix seconds; the durations in seconds. */
  readonly start_time: bigint;
  readonly total_duration: bigint;
  readonly unlock_period: bigint;
  readonly cliff_duration: bigint;
  /** Nanotons. */
  readonly total_amount: bigint;
  readonly sender: Address | null;
  readonly owner: Address | null;
  /** Destinations for locked coins. */
  readonly whitelist: readonly Address[];
}

/** Filters are combined with AND; an absent one filters nothing; a list matches any of its items, an empty list nothing. */
export interface VestingFilter {
  readonly contract_address?: readonly Address[] | undefined;
  /** Of the owner or the sender. */
  readonly wallet_address?: readonly Address[] | undefined;
  /** `wallet_address` may also be one of the whitelist. */
  readonly check_whitelist?: boolean | undefined;
}

interface VestingFound {
  readonly id: bigint;
  readonly address: Uint8Array;
  readonly start_time: bigint;
  readonly total_duration: bigint;
  readonly unlock_period: bigint;
  readonly cliff_duration: bigint;
  readonly total_amount: bigint;
  readonly sender: Uint8Array | null;
  readonly owner: Uint8Array | null;
  readonly whitelist: readonly Uint8Array[];
}

const VESTING_NOT_LAPSED = raw('v.lapsed IS NULL');

/** A page of vesting wallets. */
export async function readVestingContracts(
  session: IndexSession,
  filter: VestingFilter,
  page: Omit<Page, 'sort'>,
): Promise<Listed<IndexedVesting>> {
  const { rows, next } = await readPage<VestingFound, VestingFound>(
    {
      ...{ name: 'vestingContracts', filter, keyParts: 1 },
      read: (stretch) => {
        const { offset, count } = stretch;
        return session.rows<VestingFound>(
          sql`SELECT v.id, v.address, v.start_time, v.total_duration, v.unlock_period, v.cliff_duration, v.total_amount,
              v.sender, v.owner, v.whitelist
            FROM ${vestingSource(filter, stretch)} ORDER BY v.id LIMIT ${raw(count)} OFFSET ${raw(offset)}`,
          offset === 0 ? {} : { planned: 'each time' },
        );
      },
      check: (found) => found,
      keyOf: ({ id }) => [id],
    },
    { ...page, sort: 'asc' },
  );
  const contracts = rows.map(({ id: _, address, sender, owner, whitelist, ...same }) => ({
    ...same,
    address: addressOfBytes(address),
    sender: maybeAddress(sender),
    owner: maybeAddress(owner),
    whitelist: whitelist.map(addressOfBytes),
  }));
  return { rows: contracts, next };
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

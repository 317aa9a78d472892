import { addressOfBytes } from '#drivers/store/keys.js';
import { distinctAddresses, maybeAddress, rowsAt } from '#drivers/store/read/address-values.js';
import type { IndexReadOptions, Listed, Page } from '#drivers/store/read/index-reads.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import { readPage, type Stretch } from '#drivers/store/read/keyset-page.js';
import { all, raw, type Sql, sql, unseen } from '#drivers/store/read/sql.js';
import type { Address } from '#formats/address/address.js';

/** A wallet whose coins become free little by little. */
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
  /** To whom coins may be sent that are not free yet. */
  readonly whitelist: readonly Address[];
}

/** Filters AND together; an absent one filters nothing; a list is met by any of its items. An empty list is met by none. */
export interface VestingFilter {
  readonly contract_address?: readonly Address[] | undefined;
  /** Of the owner or the sender. */
  readonly wallet_address?: readonly Address[] | undefined;
  /** `wallet_address` may also be one of the whitelist. */
  readonly check_whitelist?: boolean | undefined;
}

export interface VestingReads {
  /** In the order in which they were found, rising. */
  vestingContracts(
    filter: VestingFilter,
    page: Omit<Page, 'sort'>,
    options: IndexReadOptions,
  ): Promise<Listed<IndexedVesting>>;
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

const NOT_LAPSED = raw('v.lapsed IS NULL');

/** A page of contracts with vesting. */
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
            FROM ${source(filter, stretch)} ORDER BY v.id LIMIT ${raw(count)} OFFSET ${raw(offset)}`,
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

/** The rows `v` that meet the filter: each once, those of the stretch among them. */
function source({ contract_address, wallet_address, check_whitelist }: VestingFilter, stretch: Stretch): Sql {
  const { after, offset, count } = stretch;
  const conditions = [NOT_LAPSED, ...(after === null ? [] : [sql`v.id > ${after[0]}::bigint`])];
  if (wallet_address === undefined) {
    const rows =
      contract_address === undefined ? raw('vesting_contracts') : rowsAt('vesting_contracts', contract_address);
    return sql`${rows} AS v WHERE ${all(conditions)}`;
  }
  const wallets = unseen(distinctAddresses(wallet_address), 'bytea[]');
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

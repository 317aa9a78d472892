import { accountStatusName } from '#drivers/store/encode/account-status.js';
import { addressOfBytes } from '#drivers/store/keys.js';
import { bytesOfKey, distinctAddresses, keyOfBytes } from '#drivers/store/read/address-values.js';
import type { AccountFilter, IndexedAccount, Listed, Page } from '#drivers/store/read/index-reads.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import { readPage } from '#drivers/store/read/keyset-page.js';
import { all, nothing, raw, sql, unseen } from '#drivers/store/read/sql.js';
import type { Address } from '#formats/address/address.js';

interface AccountFound {
  readonly address: Uint8Array;
  readonly state_hash: Uint8Array;
  readonly status: number;
  readonly balance: bigint;
  readonly extra_currencies: Readonly<Record<string, string>> | null;
  readonly last_trans_lt: bigint;
  readonly last_trans_hash: Uint8Array;
  readonly mc_seqno: number;
  readonly gen_utime: bigint;
  readonly code_hash: Uint8Array | null;
  readonly data_hash: Uint8Array | null;
  readonly frozen_hash: Uint8Array | null;
  readonly incomplete: boolean;
  readonly data_boc: Uint8Array | null;
  readonly code_boc: Uint8Array | null;
}

/** The newest states of accounts, in the order of their addresses in the filter; each once. */
export async function readAccounts(
  session: IndexSession,
  { address, code_hash }: AccountFilter,
  boc: boolean,
): Promise<readonly IndexedAccount[]> {
  const addresses = distinctAddresses(address);
  if (addresses.length === 0) return [];
  const rows = await session.rows<AccountFound>(sql`
    SELECT a.address, a.state_hash, a.status, a.balance, a.extra_currencies, a.last_trans_lt, a.last_trans_hash, a.mc_seqno,
      a.gen_utime, a.code_hash, a.data_hash, a.frozen_hash, a.incomplete,
      ${raw(boc ? 'a.data_boc, (SELECT c.boc FROM codes c WHERE c.code_hash = a.code_hash)' : 'NULL::bytea AS data_boc, NULL::bytea')} AS code_boc
    FROM unnest(${unseen(addresses, 'bytea[]')}) WITH ORDINALITY AS k(address, n)
    CROSS JOIN LATERAL (SELECT * FROM accounts a WHERE a.address = k.address LIMIT 1) AS a
    ${code_hash === undefined ? nothing : sql`WHERE a.code_hash = ANY(${code_hash}::bytea[])`}
    ORDER BY k.n`);
  return rows.map((row) => ({
    address: addressOfBytes(row.address),
    state_hash: row.state_hash,
    status: accountStatusName(row.status),
    balance: row.balance,
    extra_currencies: new Map(
      Object.entries(row.extra_currencies ?? {}).map(([id, amount]) => [Number(id), BigInt(amount)]),
    ),
    last_trans_lt: row.last_trans_lt,
    last_trans_hash: row.last_trans_hash,
    mc_seqno: row.mc_seqno,
    gen_utime: Number(row.gen_utime),
    code_hash: row.code_hash,
    data_hash: row.data_hash,
    frozen_hash: row.frozen_hash,
    incomplete: row.incomplete,
    data_boc: row.data_boc,
    code_boc: row.code_boc,
  }));
}

interface BalanceFound {
  readonly address: Uint8Array;
  readonly balance: bigint;
}

/** Accounts by balance, then address, which rises when balances fall. */
export async function readTopAccounts(
  session: IndexSession,
  page: Page,
): Promise<Listed<{ address: Address; balance: bigint }>> {
  const [down, up] = page.sort === 'desc' ? ['DESC', 'ASC'] : ['ASC', 'DESC'];
  const { rows, next } = await readPage<BalanceFound, BalanceFound>(
    {
      name: 'topAccounts',
      filter: {},
      keyParts: 2,
      keyBits: 400,
      read: ({ after, offset, count }) => {
        const [balance, address] = after ?? [];
        const compare = page.sort === 'desc' ? ['<', '>'] : ['>', '<'];
        const behind =
          after === null || balance == null || address == null
            ? []
            : [
                sql`a.balance ${raw(compare[0]!)}= ${balance}::numeric`,
                sql`(a.balance ${raw(compare[0]!)} ${balance}::numeric OR a.address ${raw(compare[1]!)} ${bytesOfKey(address)}::bytea)`,
              ];
        return session.rows<BalanceFound>(
          sql`SELECT a.address, a.balance FROM accounts a WHERE ${all(behind)}
            ORDER BY a.balance ${raw(down!)}, a.address ${raw(up!)} LIMIT ${raw(count)} OFFSET ${raw(offset)}`,
          offset === 0 ? {} : { planned: 'each time' },
        );
      },
      check: (found) => found,
      keyOf: ({ balance, address }) => [balance, keyOfBytes(address)],
    },
    page,
  );
  return { rows: rows.map(({ address, balance }) => ({ address: addressOfBytes(address), balance })), next };
}

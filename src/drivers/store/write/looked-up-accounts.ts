import type { ClientBase } from 'pg';
import { recordContractChange } from '#drivers/store/event-log.js';
import { accountKey, firstIdOf } from '#drivers/store/keys.js';
import { ACCOUNTS, currenciesJson } from '#drivers/store/tables.js';
import type { ImportedAccountRow } from '#drivers/store/write/accounts.js';
import { queueingContracts } from '#drivers/store/write/contract-queue.js';
import { lockEvents } from '#drivers/store/write/locks.js';
import { lockTraces } from '#drivers/store/write/traces.js';

/** Accounts that were read from the chain because the index has never seen them. */
export interface LookedUpAccounts {
  /** The indexed masterchain block as of which they were read. */
  readonly block: { readonly seqno: number; readonly root_hash: Uint8Array };
  readonly found: readonly ImportedAccountRow[];
  /** Addresses of those that do not exist. */
  readonly absent: readonly Uint8Array[];
}

export interface LookedUpOptions {
  /** Hashes of codes whose accounts need no contract detection. */
  readonly plain: readonly Uint8Array[];
  /** At most so many accounts are remembered as absent: the oldest beyond are deleted now. Null: not now, as counting them takes time. */
  readonly mostAbsent: number | null;
  /** The accounts are among those that an index of selected accounts has. Default: not known. */
  readonly ofSelection?: boolean;
}

/**
 * Adds accounts to the index as of its head, as if a block had shown them, in the transaction of the caller. Those that have a row by
 * now, because a block or another look-up showed them, are left as they are, except that what is not known of the same state is filled
 * in. Contracts enter the contract queue.
 *
 * An account without a row had no transaction in any indexed block, so its state at the block is that at the head if all blocks between
 * them are indexed. If they are not, or the index has another block with that seqno, nothing is written.
 *
 * @returns whether they are in the index now
 */
export async function addLookedUpAccounts(
  client: ClientBase,
  { block, found, absent }: LookedUpAccounts,
  { plain, mostAbsent, ofSelection = false }: LookedUpOptions,
): Promise<boolean> {
  // Batches merge accounts and their first transactions under this lock.
  await lockTraces(client);
  await lockEvents(client);
  const { rowCount } = await client.query({
    name: 'looked-up-block',
    text: `SELECT FROM index_state s JOIN blocks b ON b.id = $1
           WHERE b.root_hash = $2 AND s.rounds @> int4range($3, upper(s.rounds)) AND NOT s.accounts_elsewhere
             AND ($4 OR s.selection = '{}')`,
    values: [firstIdOf(block.seqno), block.root_hash, block.seqno, ofSelection],
  });
  if (rowCount !== 1) return false;
  const sorted = found.toSorted((a, b) => Buffer.compare(a.account.address, b.account.address));
  const codes = sorted.flatMap(({ code }) => (code === null ? [] : [code]));
  for (const { code_hash, boc, methods, methods_read } of codes) {
    await client.query({
      name: 'add-looked-up-code',
      text: 'INSERT INTO codes (code_hash, boc, methods, methods_read) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
      values: [code_hash, boc, methods, methods_read],
    });
  }
  for (const { account } of sorted) {
    const row = { ...account, extra_currencies: currenciesJson(account.extra_currencies), incomplete: false };
    await client.query({
      name: 'add-looked-up-account',
      text: queueingContracts(ADD_ACCOUNT, 'known', ACCOUNTS.columns.length + 1),
      values: [...ACCOUNTS.columns.map((name) => row[name as keyof typeof row]), plain],
    });
  }
  if (absent.length > 0) await addAbsent(client, absent, block.seqno, mostAbsent);
  if (sorted.length > 0) {
    await recordContractChange(
      client,
      sorted.map(({ account }) => accountKey(account.address)),
    );
  }
  return true;
}

const ADD_ACCOUNT = `
  INSERT INTO accounts AS known (${ACCOUNTS.columns.join(', ')})
  VALUES (${ACCOUNTS.columns.map((_, i) => `$${i + 1}`).join(', ')})
  ON CONFLICT (address) DO UPDATE SET data_boc = excluded.data_boc, extra_currencies = excluded.extra_currencies, incomplete = false
  WHERE known.incomplete AND known.state_hash = excluded.state_hash`;

async function addAbsent(
  client: ClientBase,
  addresses: readonly Uint8Array[],
  mc_seqno: number,
  most: number | null,
): Promise<void> {
  await client.query({
    name: 'add-absent-accounts',
    text: `INSERT INTO absent_accounts SELECT n, $2 FROM unnest($1::bytea[]) n ORDER BY n
           ON CONFLICT (address) DO UPDATE SET mc_seqno = greatest(absent_accounts.mc_seqno, excluded.mc_seqno)`,
    values: [addresses, mc_seqno],
  });
  if (most === null) return;
  const { rows } = await client.query<{ count: bigint }>('SELECT count(*) AS count FROM absent_accounts');
  const over = Number(rows[0]!.count) - most;
  if (over <= 0) return;
  await client.query({
    name: 'forget-absent-accounts',
    text: `DELETE FROM absent_accounts WHERE address IN (
             SELECT address FROM absent_accounts ORDER BY mc_seqno, address LIMIT $1)`,
    values: [over + Math.ceil(most / 16)],
  });
}

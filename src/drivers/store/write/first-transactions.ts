import type { ClientBase } from 'pg';
import { CONTRACT_INTERFACES } from '#domain/contracts/interface-registry.js';
import { recordContractChange } from '#drivers/store/event-log.js';
import { accountKey, addressBytes, listedLast } from '#drivers/store/keys.js';
import { loadTransaction } from '#drivers/store/stored-transaction.js';
import { lockEvents } from '#drivers/store/write/locks.js';
import { lockTraces } from '#drivers/store/write/traces.js';
import { Address } from '#formats/address/address.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { bytesEqual } from '#kernel/bytes.js';

/** Tables whose rows are listed by the first transactions of their accounts. */
const TABLES = CONTRACT_INTERFACES.map(({ table }) => table.name);

/** Moves contracts to the ids in `moved (address, id)`: one statement, most of whose parts have nothing to do. */
function movingContracts(moved: string): string {
  const updates = TABLES.map(
    (table, i) =>
      `moved_${i} AS (UPDATE ${table} t SET id = m.id FROM moved m WHERE t.address = m.address AND t.id <> m.id RETURNING t.id)`,
  );
  const all = TABLES.map((_, i) => `SELECT id FROM moved_${i}`).join(' UNION ALL ');
  return `WITH moved AS (${moved}), ${updates.join(', ')} SELECT count(*) AS count FROM (${all}) AS m`;
}

/** An older block than those before may contain the first transaction of an account that is known. */
const MERGE_FIRST = {
  name: 'merge-first-transactions',
  text: `UPDATE accounts a SET first_tx = s.first_tx FROM staged_accounts s
         WHERE a.address = s.address AND (a.first_tx > s.first_tx OR (a.first_tx IS NULL AND s.first_tx IS NOT NULL))
         RETURNING a.address`,
};

const MOVE_CONTRACTS = {
  name: 'move-contracts',
  text: movingContracts(
    'SELECT c.address, a.first_tx AS id FROM contracts c JOIN accounts a ON a.address = c.address WHERE c.address = ANY($1::bytea[])',
  ),
};

/** Merges the first transactions of the staged accounts, before the accounts themselves are merged. */
export async function mergeFirstTransactions(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ address: Uint8Array }>(MERGE_FIRST);
  if (rows.length > 0) await client.query({ ...MOVE_CONTRACTS, values: [rows.map(({ address }) => address)] });
}

interface FirstTransaction {
  readonly n: bigint;
  readonly id: bigint;
  readonly lt: bigint;
  readonly workchain: number;
  readonly boc: Uint8Array;
}

const FIND_FIRST = {
  name: 'find-first-transactions',
  text: `SELECT k.n, t.id, t.lt, t.workchain, t.boc
         FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS k (account_key, after, n)
         CROSS JOIN LATERAL (
           SELECT * FROM transactions t WHERE t.account_key = k.account_key AND t.lt > k.after ORDER BY t.lt LIMIT 1
         ) AS t`,
};

/** Ids of the first indexed transactions of accounts; null: none. */
async function firstTransactions(
  client: ClientBase,
  addresses: readonly Uint8Array[],
): Promise<readonly (bigint | null)[]> {
  const found = addresses.map((): bigint | null => null);
  // Two accounts may have the same key: the next transaction is looked at then.
  for (let wanted = addresses.map((address, i) => ({ i, address, after: -1n })); wanted.length > 0; ) {
    const { rows } = await client.query<FirstTransaction>({
      ...FIND_FIRST,
      values: [wanted.map(({ address }) => accountKey(address)), wanted.map(({ after }) => after)],
    });
    const others: typeof wanted = [];
    for (const { n, id, lt, workchain, boc } of rows) {
      const { i, address } = wanted[Number(n) - 1]!;
      const { account_addr } = decodeCell(
        Transaction,
        loadTransaction(boc, () => null),
      );
      if (bytesEqual(addressBytes(Address.ofParts(workchain, account_addr)), address)) found[i] = id;
      else others.push({ i, address, after: lt });
    }
    wanted = others;
  }
  return found;
}

/**
 * Finds the first transactions of the next accounts, and moves their contracts to the place in lists that follows; in a transaction.
 *
 * @returns the address of the last one; null: no more accounts
 */
export async function deriveFirstTransactions(
  client: ClientBase,
  after: Uint8Array,
  most: number,
): Promise<Uint8Array | null> {
  const page = await client.query<{ address: Uint8Array }>({
    name: 'next-accounts',
    text: 'SELECT address FROM accounts WHERE address > $1 ORDER BY address LIMIT $2',
    values: [after, most],
  });
  const addresses = page.rows.map(({ address }) => address);
  const first = await firstTransactions(client, addresses);
  await lockTraces(client);
  await lockEvents(client);
  await client.query({
    name: 'set-first-transactions',
    text: `UPDATE accounts a SET first_tx = n.first_tx FROM unnest($1::bytea[], $2::bigint[]) AS n (address, first_tx)
           WHERE a.address = n.address AND (a.first_tx > n.first_tx OR (a.first_tx IS NULL AND n.first_tx IS NOT NULL))`,
    values: [addresses, first],
  });
  const { rows } = await client.query<{ count: bigint }>({
    name: 'place-contracts',
    text: movingContracts(
      `SELECT n.address, coalesce(a.first_tx, n.last) AS id FROM unnest($1::bytea[], $2::bigint[]) AS n (address, last)
       JOIN accounts a ON a.address = n.address`,
    ),
    values: [addresses, addresses.map(listedLast)],
  });
  if (rows[0]!.count > 0n) await recordContractChange(client, null);
  return addresses.length < most ? null : addresses.at(-1)!;
}

import type { ClientBase } from 'pg';
import { AccountStatusCode } from '#drivers/store/stored-state.js';
import { ACCOUNTS, type AccountRow, type CodeRow, currenciesJson, currenciesOf } from '#drivers/store/tables.js';
import { queueingContracts } from '#drivers/store/write/contract-queue.js';
import { mergeFirstTransactions } from '#drivers/store/write/first-transactions.js';
import type { AddressInterval } from '#drivers/store/write/state-imports.js';
import { NO_ACCOUNT } from '#formats/tlb/account.js';

/**
 * Staging tables for the accounts and codes of a batch: temporary, and empty again after the transaction.
 */
const STAGING = `
  CREATE TEMP TABLE IF NOT EXISTS staged_accounts (LIKE accounts) ON COMMIT DELETE ROWS;
  CREATE TEMP TABLE IF NOT EXISTS staged_codes (LIKE codes INCLUDING DEFAULTS) ON COMMIT DELETE ROWS;
`;

/**
 * A batch looks up some rows of large tables by their indexes and never scans one. Tables that are being filled have no statistics
 * yet, so the planner would take them for small ones.
 */
const PLANNING = ['seqscan', 'hashjoin', 'mergejoin', 'material'].map((way) => `SET enable_${way} = off`).join('; ');

/** Once for each connection that writes batches. */
export async function createStagingTables(client: ClientBase): Promise<void> {
  await client.query(`${STAGING}; ${PLANNING}`);
}

/**
 * Merges the staged accounts and codes, in whatever order batches come: of two states of an account the one with the greater
 * last_trans_lt stays. Addresses are distinct, and staged accounts are `incomplete` when they have unknown extra currencies;
 * other reasons for it are found here. Accounts whose newest state is completely known now enter the contract queue.
 *
 * @param plain hashes of codes whose accounts need no contract detection
 * @param detected the same for the staged states only, whose contracts the caller writes itself
 */
export async function mergeAccounts(
  client: ClientBase,
  plain: readonly Uint8Array[],
  detected: readonly Uint8Array[] = plain,
): Promise<void> {
  await mergeFirstTransactions(client);
  await writeAccounts(client, MERGE_NEWER, plain, detected);
  await client.query({ ...FILL_DATA, values: [plain] });
}

/** As {@link mergeAccounts}, for staged accounts none of which is known. */
export function addAccounts(
  client: ClientBase,
  plain: readonly Uint8Array[],
  detected: readonly Uint8Array[],
): Promise<void> {
  return writeAccounts(client, ADD_NEW, plain, detected);
}

async function writeAccounts(
  client: ClientBase,
  statement: { readonly name: string; readonly text: string },
  plain: readonly Uint8Array[],
  detected: readonly Uint8Array[],
): Promise<void> {
  const { rows } = await client.query<{ code_hash: Uint8Array }>(MERGE_CODES);
  await client.query({ ...statement, values: [detected] });
  if (rows.length > 0) {
    await completeByCodes(
      client,
      rows.map(({ code_hash }) => code_hash),
      plain,
    );
  }
}

/** Where a state has no accounts but the staged ones. */
export interface StagedInterval extends AddressInterval {
  /** The masterchain block of the state. */
  readonly mc_seqno: number;
  /** Unix time of the newest block of the shard by then. */
  readonly gen_utime: number;
}

/**
 * Marks accounts as deleted that a state does not have: between the addresses, not staged, and not shown by a later block. The blocks
 * that deleted them are not indexed, so the last transaction that is known stays. Those with contract rows enter the contract queue.
 *
 * @param plain as {@link mergeAccounts}
 */
export async function deleteAbsentAccounts(
  client: ClientBase,
  { after, last, mc_seqno, gen_utime }: StagedInterval,
  plain: readonly Uint8Array[],
): Promise<void> {
  await client.query({ ...DELETE_ABSENT, values: [after, last, mc_seqno, gen_utime, NO_ACCOUNT.hash(), plain] });
}

/**
 * Stages accounts as deleted that have no row although all states as of a masterchain block are known, because they were imported:
 * they were deleted until then, in a block that may be indexed later.
 *
 * @param mc_seqno of that block; states of later blocks stay
 * @param known where the states are known
 */
export async function stageDeletedAccounts(
  client: ClientBase,
  mc_seqno: number,
  known: readonly AddressInterval[] = [ALL_ADDRESSES],
): Promise<void> {
  const bounds = [known.map(({ after }) => after), known.map(({ last }) => last)];
  await client.query({ ...STAGE_DELETED, values: [mc_seqno, NO_ACCOUNT.hash(), ...bounds] });
}

/** Parts of accounts that are known before a batch and that the batch may leave out. */
export interface StoredAccountParts {
  readonly address: Uint8Array;
  readonly data_boc: Uint8Array | null;
  readonly extra_currencies: ReadonlyMap<number, bigint> | null;
}

export async function readKnownAccounts(
  client: ClientBase,
  addresses: readonly Uint8Array[],
): Promise<readonly StoredAccountParts[]> {
  if (addresses.length === 0) return [];
  const { rows } = await client.query<{
    address: Uint8Array;
    data_boc: Uint8Array | null;
    extra_currencies: Readonly<Record<string, string>> | null;
  }>({
    name: 'known-accounts',
    text: 'SELECT address, data_boc, extra_currencies FROM accounts WHERE address = ANY($1::bytea[])',
    values: [addresses],
  });
  return rows.map(({ address, data_boc, extra_currencies }) => ({
    address,
    data_boc,
    extra_currencies: extra_currencies && currenciesOf(extra_currencies),
  }));
}

/** Accounts are not incomplete any more for lack of these codes. */
async function completeByCodes(
  client: ClientBase,
  codes: readonly Uint8Array[],
  plain: readonly Uint8Array[],
): Promise<void> {
  await client.query({ ...COMPLETE_BY_CODES, values: [codes, plain] });
}

/** An account parts of which are not known. */
export interface IncompleteAccount {
  readonly address: Uint8Array;
  readonly state_hash: Uint8Array;
  readonly last_trans_lt: bigint;
  readonly mc_seqno: number;
}

/** Incomplete accounts whose newest state is in a range of masterchain blocks, by address. */
export async function incompleteAccounts(
  client: ClientBase,
  { from, to }: { readonly from: number; readonly to: number },
  after: Uint8Array | null,
  limit: number,
): Promise<IncompleteAccount[]> {
  const { rows } = await client.query<IncompleteAccount>({
    name: 'incomplete-accounts',
    text: `SELECT address, state_hash, last_trans_lt, mc_seqno FROM accounts
           WHERE incomplete AND mc_seqno BETWEEN $1 AND $2 AND address > $3 ORDER BY address LIMIT $4`,
    values: [from, to, after ?? new Uint8Array(), limit],
  });
  return rows;
}

/** The missing parts of an account. */
export interface MissingAccountParts {
  readonly address: Uint8Array;
  /** Hash of the state that they belong to: when the account has changed meanwhile, nothing is written. */
  readonly state_hash: Uint8Array;
  readonly data_boc: Uint8Array | null;
  /** By currency id, as JSON; null for none. */
  readonly extra_currencies: string | null;
  readonly code: CodeRow | null;
}

/**
 * Completes an account, in the transaction of the caller.
 *
 * @param plain as {@link mergeAccounts}
 */
export async function completeAccount(
  client: ClientBase,
  parts: MissingAccountParts,
  plain: readonly Uint8Array[],
): Promise<void> {
  const { address, state_hash, data_boc, extra_currencies, code } = parts;
  if (code !== null) {
    await client.query({
      name: 'complete-code',
      text: 'INSERT INTO codes (code_hash, boc, methods, methods_read) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
      values: [code.code_hash, code.boc, code.methods, code.methods_read],
    });
    await completeByCodes(client, [code.code_hash], plain);
  }
  await client.query({
    name: 'complete-account',
    text: queueingContracts(
      `UPDATE accounts a SET data_boc = $3, extra_currencies = $4, incomplete = false
       WHERE address = $1 AND state_hash = $2 AND incomplete`,
      'a',
      5,
    ),
    values: [address, state_hash, data_boc, extra_currencies, plain],
  });
}

/** Marks unknown extra currencies. */
const UNKNOWN_CURRENCIES = `'{}'::jsonb`;

const NO_CODE = (account: string) =>
  `(${account}.code_hash IS NOT NULL AND NOT EXISTS (SELECT FROM codes c WHERE c.code_hash = ${account}.code_hash))`;

const MERGE_CODES = {
  name: 'merge-codes',
  text: `INSERT INTO codes SELECT * FROM staged_codes ORDER BY code_hash ON CONFLICT DO NOTHING RETURNING code_hash`,
};

/** Staged accounts as rows of `accounts`. */
const STAGED = `
  SELECT s.address, s.state_hash, s.status, s.balance, CASE WHEN s.incomplete THEN ${UNKNOWN_CURRENCIES} ELSE s.extra_currencies END,
    s.last_trans_lt, s.last_trans_hash, s.mc_seqno, s.gen_utime, s.code_hash, s.data_hash, s.frozen_hash, s.data_boc,
    s.incomplete OR (s.data_hash IS NOT NULL AND s.data_boc IS NULL) OR ${NO_CODE('s')},
    s.first_tx
  FROM staged_accounts s ORDER BY s.address`;

/** Fails when one of the accounts is known. */
const ADD_NEW = {
  name: 'add-accounts',
  text: queueingContracts(`INSERT INTO accounts AS known ${STAGED}`, 'known', 1, false),
};

/**
 * For an imported account it is known that it has its state at a block, not since which one. One that is known to be deleted by a
 * block, while the block that deleted it is not indexed yet, does not come back with a state of an earlier block.
 *
 * Data that a batch leaves out is the data known before when the hashes are equal.
 */
const MERGE_NEWER = {
  name: 'merge-accounts',
  text: queueingContracts(
    `
    INSERT INTO accounts AS known ${STAGED}
    ON CONFLICT (address) DO UPDATE SET
      state_hash = excluded.state_hash, status = excluded.status, balance = excluded.balance,
      extra_currencies = excluded.extra_currencies, last_trans_lt = excluded.last_trans_lt,
      last_trans_hash = excluded.last_trans_hash, mc_seqno = excluded.mc_seqno, gen_utime = excluded.gen_utime,
      code_hash = excluded.code_hash, data_hash = excluded.data_hash, frozen_hash = excluded.frozen_hash,
      data_boc = CASE WHEN excluded.data_boc IS NULL AND excluded.data_hash = known.data_hash THEN known.data_boc
        ELSE excluded.data_boc END,
      incomplete = (excluded.data_hash IS NOT NULL AND excluded.data_boc IS NULL
          AND (known.data_boc IS NULL OR known.data_hash IS DISTINCT FROM excluded.data_hash))
        OR coalesce(excluded.extra_currencies = ${UNKNOWN_CURRENCIES}, false) OR ${NO_CODE('excluded')}
    WHERE (known.last_trans_lt < excluded.last_trans_lt
        AND NOT (known.status = ${AccountStatusCode.nonexist} AND known.mc_seqno > excluded.mc_seqno
          AND excluded.status <> ${AccountStatusCode.nonexist}))
      OR (known.last_trans_lt = excluded.last_trans_lt AND known.mc_seqno > excluded.mc_seqno
        AND known.state_hash = excluded.state_hash)`,
    'known',
    1,
  ),
};

/** Columns of a deleted account. @param mc_seqno, state_hash SQL: of the block as of which it is, of `account_none` */
const DELETED = (mc_seqno: string, state_hash: string) => `
  mc_seqno = ${mc_seqno}, state_hash = ${state_hash}, status = ${AccountStatusCode.nonexist}, balance = 0, extra_currencies = NULL,
  code_hash = NULL, data_hash = NULL, frozen_hash = NULL, data_boc = NULL, incomplete = false`;

/** An address has at most 36 bytes. */
const ALL_ADDRESSES: AddressInterval = { after: new Uint8Array(), last: new Uint8Array(37).fill(0xff) };

const STAGE_DELETED = {
  name: 'stage-deleted-accounts',
  text: `UPDATE staged_accounts s SET ${DELETED('$1', '$2')}
         WHERE s.mc_seqno <= $1 AND s.status <> ${AccountStatusCode.nonexist}
           AND EXISTS (SELECT FROM unnest($3::bytea[], $4::bytea[]) AS known (after, last)
             WHERE s.address > known.after AND s.address <= known.last)
           AND NOT EXISTS (SELECT FROM accounts a WHERE a.address = s.address)`,
};

const DELETE_ABSENT = {
  name: 'delete-absent-accounts',
  text: queueingContracts(
    `
    UPDATE accounts a SET gen_utime = $4, ${DELETED('$3', '$5')}
    WHERE a.address > $1 AND a.address <= $2 AND a.mc_seqno <= $3 AND a.status <> ${AccountStatusCode.nonexist}
      AND NOT EXISTS (SELECT FROM staged_accounts s WHERE s.address = a.address)`,
    'a',
    6,
  ),
};

/** A state with all its parts, of which the newest known one lacks some: an imported state can be the same as that of a block. */
const IS_WHOLE = `(a.state_hash = s.state_hash AND NOT s.incomplete AND (s.data_hash IS NULL OR s.data_boc IS NOT NULL)
  AND ((a.data_boc IS NULL AND s.data_boc IS NOT NULL) OR coalesce(a.extra_currencies = ${UNKNOWN_CURRENCIES}, false)))`;

/** A batch of older blocks may contain the data that a newer one left out. */
const FILL_DATA = {
  name: 'fill-accounts',
  text: queueingContracts(
    `
    UPDATE accounts a SET data_boc = s.data_boc,
      extra_currencies = CASE WHEN ${IS_WHOLE} THEN s.extra_currencies ELSE a.extra_currencies END,
      incomplete = (NOT ${IS_WHOLE} AND coalesce(a.extra_currencies = ${UNKNOWN_CURRENCIES}, false)) OR ${NO_CODE('a')}
    FROM staged_accounts s
    WHERE a.address = s.address AND a.incomplete AND (${IS_WHOLE} OR (a.last_trans_lt > s.last_trans_lt
      AND a.data_boc IS NULL AND a.data_hash = s.data_hash AND s.data_boc IS NOT NULL))`,
    'a',
    1,
  ),
};

const COMPLETE_BY_CODES = {
  name: 'complete-by-codes',
  text: queueingContracts(
    `
    UPDATE accounts a SET incomplete = false
    WHERE a.incomplete AND a.code_hash = ANY($1::bytea[]) AND (a.data_hash IS NULL OR a.data_boc IS NOT NULL)
      AND a.extra_currencies IS DISTINCT FROM ${UNKNOWN_CURRENCIES}`,
    'a',
    2,
  ),
};

/** An account without a transaction in an indexed block, read from a liteserver as a whole, and its code. */
export interface ImportedAccountRow {
  readonly account: AccountRow;
  readonly code: CodeRow | null;
}

/** Adds imported accounts unless newer states of them are known; in the transaction of the caller. */
export async function addImportedAccounts(
  client: ClientBase,
  foreign: readonly ImportedAccountRow[],
  plain: readonly Uint8Array[],
): Promise<void> {
  for (const { account, code } of foreign) {
    if (code !== null) {
      await client.query({
        name: 'add-foreign-code',
        text: `INSERT INTO codes (code_hash, boc, methods, methods_read) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
        values: [code.code_hash, code.boc, code.methods, code.methods_read],
      });
    }
    const row = { ...account, extra_currencies: currenciesJson(account.extra_currencies), incomplete: false };
    await client.query({
      name: 'add-imported-account',
      text: queueingContracts(ADD_IMPORTED_ACCOUNT, 'known', ACCOUNTS.columns.length + 1),
      values: [...ACCOUNTS.columns.map((name) => row[name as keyof typeof row]), plain],
    });
  }
}

const NEW_VALUES = ACCOUNTS.columns
  .filter((name) => name !== 'address' && name !== 'first_tx')
  .map((name) => `${name} = excluded.${name}`);

const ADD_IMPORTED_ACCOUNT = `
  INSERT INTO accounts AS known (${ACCOUNTS.columns.join(', ')})
  VALUES (${ACCOUNTS.columns.map((_, i) => `$${i + 1}`).join(', ')})
  ON CONFLICT (address) DO UPDATE SET ${NEW_VALUES.join(', ')}
  WHERE known.last_trans_lt < excluded.last_trans_lt`;

/** A stored code. */
export interface StoredCode {
  readonly code_hash: Uint8Array;
  readonly boc: Uint8Array;
}

/** The next codes by hash. @param options `withMethods`: also those whose get-methods are stored already */
export async function nextStoredCodes(
  client: ClientBase,
  after: Uint8Array,
  limit: number,
  { withMethods }: { readonly withMethods: boolean },
): Promise<StoredCode[]> {
  const { rows } = await client.query<StoredCode>({
    name: withMethods ? 'next-codes' : 'unread-codes',
    text: `SELECT code_hash, boc FROM codes WHERE ${withMethods ? '' : 'NOT methods_read AND '}code_hash > $1
           ORDER BY code_hash LIMIT $2`,
    values: [after, limit],
  });
  return rows;
}

/** Known codes by their hashes. */
export async function readStoredCodes(client: ClientBase, hashes: readonly Uint8Array[]): Promise<StoredCode[]> {
  if (hashes.length === 0) return [];
  const { rows } = await client.query<StoredCode>({
    name: 'known-codes',
    text: 'SELECT code_hash, boc FROM codes WHERE code_hash = ANY($1::bytea[])',
    values: [hashes],
  });
  return rows;
}

/**
 * Stores the get methods of a code, for a library reference those of the library; they are final. The transaction of the caller
 * has to record it with `recordContractChange`.
 *
 * @param methods null: it has no table of methods
 */
export async function setCodeMethods(
  client: ClientBase,
  code_hash: Uint8Array,
  methods: readonly number[] | null,
): Promise<void> {
  await client.query({
    name: 'set-code-methods',
    text: 'UPDATE codes SET methods = $2, methods_read = true WHERE code_hash = $1',
    values: [code_hash, methods],
  });
}

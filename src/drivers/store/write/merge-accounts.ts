import type { ClientBase } from 'pg';

/**
 * Where a batch copies the accounts and codes that it tells of: tables of the session, which are empty again after the
 * transaction.
 */
const STAGING = `
  CREATE TEMP TABLE IF NOT EXISTS staged_accounts (LIKE accounts) ON COMMIT DELETE ROWS;
  CREATE TEMP TABLE IF NOT EXISTS staged_codes (LIKE codes) ON COMMIT DELETE ROWS;
`;

/** Once for each connection that writes batches. */
export async function createStagingTables(client: ClientBase): Promise<void> {
  await client.query(STAGING);
}

/**
 * Takes the staged accounts and codes over, whatever the order in which batches come: of two states of an account the one
 * with the greater last_trans_lt stays. Staged accounts are one for each address; `incomplete` is decided here.
 */
export async function mergeAccounts(client: ClientBase): Promise<void> {
  await client.query(MERGE_CODES);
  await client.query(MERGE_NEWER);
  await client.query(FILL_DATA);
}

const MERGE_CODES = {
  name: 'merge-codes',
  text: 'INSERT INTO codes SELECT * FROM staged_codes ORDER BY code_hash ON CONFLICT DO NOTHING',
};

/** Data that is left out and has the hash of the data known before is that. */
const MERGE_NEWER = {
  name: 'merge-accounts',
  text: `
    INSERT INTO accounts AS known
    SELECT s.address, s.state_hash, s.status, s.balance, s.extra_currencies, s.last_trans_lt, s.last_trans_hash,
      s.mc_seqno, s.gen_utime, s.code_hash, s.data_hash, s.frozen_hash, s.data_boc,
      (s.data_hash IS NOT NULL AND s.data_boc IS NULL)
        OR (s.code_hash IS NOT NULL AND NOT EXISTS (SELECT FROM codes c WHERE c.code_hash = s.code_hash))
    FROM staged_accounts s ORDER BY s.address
    ON CONFLICT (address) DO UPDATE SET
      state_hash = excluded.state_hash, status = excluded.status, balance = excluded.balance,
      extra_currencies = excluded.extra_currencies, last_trans_lt = excluded.last_trans_lt,
      last_trans_hash = excluded.last_trans_hash, mc_seqno = excluded.mc_seqno, gen_utime = excluded.gen_utime,
      code_hash = excluded.code_hash, data_hash = excluded.data_hash, frozen_hash = excluded.frozen_hash,
      data_boc = CASE WHEN excluded.data_boc IS NULL AND excluded.data_hash = known.data_hash THEN known.data_boc
        ELSE excluded.data_boc END,
      incomplete = (excluded.data_hash IS NOT NULL AND excluded.data_boc IS NULL
          AND (known.data_boc IS NULL OR known.data_hash IS DISTINCT FROM excluded.data_hash))
        OR (excluded.code_hash IS NOT NULL
          AND NOT EXISTS (SELECT FROM codes c WHERE c.code_hash = excluded.code_hash))
    WHERE known.last_trans_lt < excluded.last_trans_lt`,
};

/** A batch of older rounds may tell the data that a newer one left out, and the code. */
const FILL_DATA = {
  name: 'fill-accounts',
  text: `
    UPDATE accounts a SET
      data_boc = CASE WHEN a.data_hash = s.data_hash THEN coalesce(a.data_boc, s.data_boc) ELSE a.data_boc END,
      incomplete = (a.data_hash IS NOT NULL AND a.data_boc IS NULL
          AND (s.data_boc IS NULL OR s.data_hash IS DISTINCT FROM a.data_hash))
        OR (a.code_hash IS NOT NULL AND NOT EXISTS (SELECT FROM codes c WHERE c.code_hash = a.code_hash))
    FROM staged_accounts s
    WHERE a.address = s.address AND a.incomplete AND a.last_trans_lt >= s.last_trans_lt`,
};

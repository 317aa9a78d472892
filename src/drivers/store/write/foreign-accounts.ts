import type { ClientBase } from 'pg';
import type { AccountRow, CodeRow } from '#drivers/store/rows.js';
import { alsoQueued } from '#drivers/store/write/contract-queue.js';

/** An account that no indexed block tells of, whole; and its code. */
export interface ForeignAccountRow {
  readonly account: AccountRow;
  readonly code: CodeRow | null;
}

/** Adds accounts that were asked for, unless newer states of them are known; in the transaction of the caller. */
export async function addForeignAccounts(
  client: ClientBase,
  foreign: readonly ForeignAccountRow[],
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
    const { extra_currencies: extra } = account;
    const currencies =
      extra === null ? null : Object.fromEntries([...extra].map(([id, amount]) => [id, String(amount)]));
    await client.query({
      name: 'add-foreign-account',
      text: alsoQueued(ADD, 'known', 14),
      values: [
        ...[account.address, account.state_hash, account.status, account.balance],
        ...[currencies === null ? null : JSON.stringify(currencies), account.last_trans_lt, account.last_trans_hash],
        ...[account.mc_seqno, account.gen_utime, account.code_hash, account.data_hash, account.frozen_hash],
        ...[account.data_boc, plain],
      ],
    });
  }
}

const ADD = `
  INSERT INTO accounts AS known (address, state_hash, status, balance, extra_currencies, last_trans_lt, last_trans_hash,
    mc_seqno, gen_utime, code_hash, data_hash, frozen_hash, data_boc, incomplete)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, false)
  ON CONFLICT (address) DO UPDATE SET
    state_hash = excluded.state_hash, status = excluded.status, balance = excluded.balance,
    extra_currencies = excluded.extra_currencies, last_trans_lt = excluded.last_trans_lt,
    last_trans_hash = excluded.last_trans_hash, mc_seqno = excluded.mc_seqno, gen_utime = excluded.gen_utime,
    code_hash = excluded.code_hash, data_hash = excluded.data_hash, frozen_hash = excluded.frozen_hash,
    data_boc = excluded.data_boc, incomplete = false
  WHERE known.last_trans_lt < excluded.last_trans_lt`;

import type pg from 'pg';
import { addressOfBytes } from '#drivers/store/keys.js';
import { loadTransaction } from '#drivers/store/stored-transaction.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';

/** Different ones, as the reference was measured with. */
const KEYS = 300;

/** An endpoint with its requests, and what the reference service did on such a machine at a million transactions. */
export interface LoadCase {
  readonly name: string;
  readonly paths: readonly string[];
  /** Requests a second at 16 connections; null: it was not measured. */
  readonly reference: number | null;
  /** How many times that is wanted. */
  readonly target: number;
  /** Bytes of its answers. */
  readonly referenceBytes: number | null;
}

/** Requests for what is there, evenly over all of it. */
export async function loadCases(client: pg.Client, mcBlocks: number): Promise<readonly LoadCase[]> {
  const accounts = await addresses(client, 'ORDER BY state_hash');
  const wallets = await addresses(client, `WHERE code_hash = (${COMMON_CODE}) ORDER BY state_hash`);
  const busy = await busyAccounts(client);
  const { transactions, senders, messages } = await hashes(client, mcBlocks);
  const traces = await traceIds(client);
  const seqnos = Array.from({ length: KEYS }, (_, i) => 1 + Math.floor((i * (mcBlocks - 1)) / KEYS));
  const of = (method: string, query: string, values: readonly (string | number)[]) =>
    values.map((value) => `/api/v3/${method}?${query.replace('{}', encodeURIComponent(String(value)))}`);
  return [
    row('accountStates', of('accountStates', 'address={}', accounts), 1160, 2386, 3),
    row('accountStates_noboc', of('accountStates', 'address={}&include_boc=false', accounts), 1172, 1228, 3),
    row('addressInformation', of('addressInformation', 'address={}&use_v2=false', accounts), 1165, 1484),
    row('walletStates', of('walletStates', 'address={}', wallets), 1222, 771, 3),
    row('blocks', of('blocks', 'workchain=-1&shard=8000000000000000&seqno={}', seqnos), 9222, 1046, 1),
    row('blocks_latest', ['/api/v3/blocks?limit=10'], 5339, 8866, 1),
    row('masterchainInfo', ['/api/v3/masterchainInfo'], 6759, 1892, 1),
    row('messages_destination', of('messages', 'destination={}&limit=10', accounts), 687, 4142),
    row('messages_latest', ['/api/v3/messages?limit=10'], 792, 14_403),
    row('traces_account', of('traces', 'account={}&limit=10', accounts), 298, 40_640, 3),
    row('transactionsByMessage', of('transactionsByMessage', 'msg_hash={}', messages), 597, 7010),
    row('transactions_account', of('transactions', 'account={}&limit=10', accounts), 670, 10_893),
    row('actions_account', of('actions', 'account={}&limit=10', accounts), 357, null, 3),
    row('actions_busy', of('actions', 'account={}&limit=10', busy), 357, null, 3),
    row('actions_latest', ['/api/v3/actions?limit=10'], null, null, 3),
    row('actions_trace', of('actions', 'trace_id={}&limit=10', traces), null, null, 3),
    row('actions_transaction', of('actions', 'tx_hash={}&limit=10', transactions), null, null, 3),
    row('actions_type', of('actions', 'action_type={}&limit=10', ['contract_deploy', 'jetton_burn']), null, null, 3),
    row('transactions_busy', of('transactions', 'account={}&limit=10', busy), null, null),
    row('messages_busy', of('messages', 'destination={}&limit=10', busy), null, null),
    row('transactions_hash', of('transactions', 'hash={}', transactions), null, null),
    row('transactions_latest', ['/api/v3/transactions?limit=10'], null, null),
    row('adjacentTransactions', of('adjacentTransactions', 'hash={}', senders), null, null),
    row(
      'transactionsByMasterchainBlock',
      of('transactionsByMasterchainBlock', 'seqno={}&limit=10', seqnos),
      null,
      null,
    ),
  ];
}

function row(
  name: string,
  paths: readonly string[],
  reference: number | null,
  referenceBytes: number | null,
  target = 2,
): LoadCase {
  return { name, paths, reference, referenceBytes, target };
}

/** Of the most frequent kind of account with code, which is a wallet. */
const COMMON_CODE =
  'SELECT code_hash FROM accounts WHERE code_hash IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC LIMIT 1';

async function addresses(client: pg.Client, order: string): Promise<string[]> {
  const { rows } = await client.query<{ address: Uint8Array }>(`SELECT address FROM accounts ${order} LIMIT ${KEYS}`);
  return rows.map(({ address }) => addressOfBytes(address).toRaw());
}

/** Accounts of random transactions: those that have many come often. */
async function busyAccounts(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ boc: Uint8Array; workchain: number }>(
    `SELECT boc, workchain FROM (SELECT boc, workchain, hash_key FROM transactions TABLESAMPLE SYSTEM (0.5) LIMIT 20000) t
     ORDER BY hash_key LIMIT ${KEYS}`,
  );
  return rows.map(({ boc, workchain }) => `${workchain}:${toHex(read(boc).transaction.account_addr)}`);
}

async function hashes(client: pg.Client, mcBlocks: number) {
  const { rows } = await client.query<{ boc: Uint8Array }>(
    `SELECT t.boc FROM generate_series(1, ${KEYS}) AS n
     CROSS JOIN LATERAL (
       SELECT boc FROM transactions t WHERE t.id >= (n * ${Math.floor((mcBlocks - 100) / KEYS)}::bigint) << 24 ORDER BY id
       LIMIT 1 OFFSET 3
     ) AS t`,
  );
  const found = rows.map(({ boc }) => read(boc));
  return {
    transactions: found.map(({ hash }) => toHex(hash)),
    /** Those with another one before or behind. */
    senders: found.filter(({ transaction }) => transaction.outmsg_cnt > 0).map(({ hash }) => toHex(hash)),
    messages: found.map(({ transaction }) => toHex(transaction.in_msg!.cell.hash(0))),
  };
}

async function traceIds(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ trace_id: Uint8Array }>(
    `SELECT trace_id FROM (SELECT trace_id FROM traces TABLESAMPLE SYSTEM (0.5) LIMIT 20000) x ORDER BY trace_id LIMIT ${KEYS}`,
  );
  return rows.map(({ trace_id }) => toHex(trace_id));
}

function read(stored: Uint8Array) {
  const cell = loadTransaction(stored, () => null);
  return { hash: cell.hash(0), transaction: decodeCell(Transaction, cell) };
}

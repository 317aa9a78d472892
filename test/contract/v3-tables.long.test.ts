import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { libraryHashOf } from '#domain/contracts/native-code.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { toBase64 } from '#kernel/bytes.js';
import { type Columns, type Json, shardNumber } from '#test/contract/v3-columns.js';
import {
  blockColumns,
  latestColumns,
  messageColumns,
  stateColumns,
  traceColumns,
  transactionColumns,
} from '#test/contract/v3-table-rows.js';
import { readCsv } from '#test/support/csv.js';
import { type ServedV3, serveV3 } from '#test/support/served-v3.js';
import { RECORDED_NET } from '#test/support/shared-index.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

const network = vectorPath('collection/recorded-net');

/** Hash of `account_none$0`. */
const EMPTY_STATE = 'kK7Illr6uxbrw8ubQI665xthjXh4i8gNCYQ1k8rJjaQ=';

describe('the tables of a reference index', () => {
  let served: ServedV3;
  let transactions: Json[];
  beforeAll(async () => {
    served = await serveV3(RECORDED_NET);
    transactions = await allOf('transactions?sort=asc&x_no_address_book=1', 'transactions');
  }, 600_000);
  afterAll(() => served?.close());

  /** All pages of a list, by cursors. */
  async function allOf(query: string, list: string): Promise<Json[]> {
    const items: Json[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const behind = cursor === '' ? '' : `&cursor=${cursor}`;
      const answer = await fetch(`${served.url}/toncenter/api/v3/${query}&limit=1000${behind}`);
      expect(answer.status).toBe(200);
      items.push(...((await answer.json()) as Json)[list]);
      cursor = answer.headers.get('x-tern-next');
    }
    return items;
  }

  const table = (name: string) => readCsv(readBytes(`${network}/v3-tables/${name}.csv.br`));

  /** Every row of a table is one of ours, and there is no other. */
  function expectTable(
    name: string,
    ours: ReadonlyMap<string, Columns>,
    keyOf: (row: Columns) => string,
    rules: TableRules = {},
  ) {
    const used = new Set<string>();
    const differences: string[] = [];
    const keys = new Set<string>();
    for (const row of table(name)) {
      const key = keyOf(row);
      keys.add(key);
      const found = ours.get(key);
      if (found === undefined) {
        differences.push(`${key} is not there`);
        continue;
      }
      for (const [column, value] of Object.entries(row)) {
        if (found[column] === value) continue;
        const rule = Object.entries(rules).find(([, allows]) => allows(column, row, found));
        if (rule !== undefined) used.add(rule[0]);
        else differences.push(`${key} ${column}: ${value.slice(0, 100)} there, ${found[column]?.slice(0, 100)} here`);
      }
    }
    for (const key of ours.keys()) if (!keys.has(key)) differences.push(`${key} is not in the table`);
    expect({ count: differences.length, some: differences.slice(0, 12) }).toEqual({ count: 0, some: [] });
    expect([...used].sort(), 'rules that are needed').toEqual(Object.keys(rules).sort());
    return keys.size;
  }

  it('blocks', async () => {
    const ours = await allOf('blocks?sort=asc', 'blocks');
    const rows = ours.map(blockColumns);
    const keyOf = ({ workchain, shard, seqno }: Columns) => `${workchain}:${shard}:${seqno}`;
    expect(expectTable('blocks', new Map(rows.map((row) => [keyOf(row), row])), keyOf)).toBe(2270);
  });

  it('shard_state', async () => {
    const expected = new Map<string, string[]>();
    for (const { mc_seqno, workchain, shard, seqno } of table('shard_state')) {
      const list = expected.get(mc_seqno!) ?? [];
      expected.set(mc_seqno!, [...list, `${workchain}:${shard}:${seqno}`]);
    }
    expect(expected.size).toBe(1060);
    const ask = async (mc_seqno: string, blocks: string[]) => {
      const answer = await fetch(`${served.url}/toncenter/api/v3/masterchainBlockShardState?seqno=${mc_seqno}`);
      const { blocks: ours } = (await answer.json()) as Json;
      const names = ours.map(({ workchain, shard, seqno }: Json) => `${workchain}:${shardNumber(shard)}:${seqno}`);
      expect(names.sort(), mc_seqno).toEqual(blocks.sort());
    };
    const all = [...expected];
    for (let at = 0; at < all.length; at += 20) await Promise.all(all.slice(at, at + 20).map((one) => ask(...one)));
  });

  it('transactions', () => {
    const rows = new Map(transactions.map((one) => [one.hash, transactionColumns(one)]));
    expect(expectTable('transactions', rows, ({ hash }) => hash!)).toBe(10_956);
  });

  it('messages', () => {
    const keyOf = ({ tx_hash, msg_hash, direction }: Columns) => `${tx_hash} ${msg_hash} ${direction}`;
    const rows = new Map(transactions.flatMap((one) => [...messageColumns(one)]).map((row) => [keyOf(row), row]));
    expect(expectTable('messages', rows, keyOf)).toBe(15_380);
  });

  it('account_states', () => {
    const rows = new Map<string, Columns>();
    for (const { account, account_state_before: before, account_state_after: after } of transactions) {
      for (const state of [before, after])
        if (state.account_status !== null) rows.set(state.hash, stateColumns(account, state));
    }
    // The reference has it only when its node happened to keep that cell.
    expect(rows.get(EMPTY_STATE)).toMatchObject({ account_status: 'nonexist', balance: '0' });
    rows.delete(EMPTY_STATE);
    expect(expectTable('account_states', rows, ({ hash }) => hash!)).toBe(8800);
  });

  it('latest_account_states', async () => {
    const addresses = [...table('latest_account_states')].map(({ account }) => account!);
    const times = new Map(transactions.map(({ hash, now }) => [hash, now]));
    const rows = new Map<string, Columns>();
    for (let at = 0; at < addresses.length; at += 500) {
      const query = addresses
        .slice(at, at + 500)
        .map((address) => `address=${address}`)
        .join('&');
      const answer = await fetch(`${served.url}/toncenter/api/v3/accountStates?${query}`);
      const { accounts } = (await answer.json()) as Json;
      for (const one of accounts) rows.set(one.address, latestColumns(one, times.get(one.last_transaction_hash)));
    }
    const rules: TableRules = {
      'rows have no numbers, and the friendly form is not stored there either': (column) =>
        column === 'id' || column === 'account_friendly',
      'the reference keeps the state before an account was deleted': (_, theirs, ours) =>
        ours.account_status === 'nonexist' && BigInt(theirs.last_trans_lt!) < BigInt(ours.last_trans_lt!),
    };
    expect(expectTable('latest_account_states', rows, ({ account }) => account!, rules)).toBe(2155);
  });

  it('contract_methods', async () => {
    const { rows: codes } = await served.database.withWriter((client) =>
      client.query('SELECT code_hash, boc, methods, methods_read FROM codes'),
    );
    const ours = new Map(codes.map(({ code_hash, ...row }) => [toBase64(code_hash), row]));
    const theirs = new Map([...table('contract_methods')].map(({ code_hash, methods }) => [code_hash!, methods!]));
    const others: string[] = [];
    for (const [code, methods] of theirs) {
      if (`{${ours.get(code)?.methods?.join(',')}}` !== methods) others.push(code);
    }
    // Three accounts had it until their code was changed or they were destroyed, and blocks leave its cells out.
    expect(others).toEqual(['gO3I17u7ZSbDsGzLfC0CqCwg2MzfQxv0CIsfFHDMlMw=']);
    expect(ours.has(others[0]!)).toBe(false);
    expect(theirs.size).toBe(96);
    // Codes of accounts have no others, but for references to libraries, whose methods the reference does not look for.
    for (const code of new Set([...table('latest_account_states')].map(({ code_hash }) => code_hash!))) {
      const row = ours.get(code);
      if (row === undefined || libraryHashOf(parseBocRoot(row.boc)) !== null) continue;
      expect([row.methods !== null, row.methods_read], code).toEqual([theirs.has(code), true]);
    }
  });

  it('traces', async () => {
    const traces = await allOf('traces?sort=asc&x_no_address_book=1', 'traces');
    const rows = new Map(traces.map((one) => [one.trace_id, traceColumns(one)]));
    const rules: TableRules = {
      'the table was read before the reference had classified its traces': (column, theirs, ours) =>
        column === 'classification_state' && theirs[column] === 'unclassified' && ours[column] === 'ok',
    };
    expect(expectTable('traces', rows, ({ trace_id }) => trace_id!, rules)).toBe(4453);
  });
});

/** By the reason: whether a difference in a column is meant. */
type TableRules = Readonly<Record<string, (column: string, theirs: Columns, ours: Columns) => boolean>>;

import { beforeAll, describe, expect, it } from 'vitest';
import { accountKey, addressBytes } from '#drivers/store/keys.js';
import { decodeState } from '#drivers/store/stored-state.js';
import { loadTransaction, sharedCodes, TransactionWriter } from '#drivers/store/stored-transaction.js';
import type { MessageRow } from '#drivers/store/tables.js';
import { parseAddress } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { fromBase64, toBase64, toHex } from '#kernel/bytes.js';
import { BatchAccounts, type LatestAccount } from '#services/indexer/rows/batch-accounts.js';
import { buildBundleRows, zerostateAccounts } from '#services/indexer/rows/build-rows.js';
import type { AccountStateChange, BundleRows, BundleTransaction } from '#services/indexer/rows/bundle-rows.js';
import { receivedMessage } from '#services/indexer/rows/transaction-rows.js';
import { readCsv } from '#test/support/csv.js';
import { expectEqual } from '#test/support/expect-equal.js';
import { expectedTransactions, rankedKey } from '#test/support/expected-rows.js';
import { FULL } from '#test/support/full-depth.js';
import { type RecordedBundles, recordedBundles } from '#test/support/recorded-bundles.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

const folder = vectorPath('collection/recorded-net');
const STATUS = ['uninit', 'active', 'frozen', 'nonexist'];

describe('rows of the recorded network', () => {
  let chain: RecordedBundles;
  let rows: BundleRows[];
  const writer = new TransactionWriter();

  beforeAll(() => {
    chain = recordedBundles(`${folder}/chain`);
    rows = chain.bundles.map((bundle) => buildBundleRows(bundle, { globalVersion: chain.globalVersion, writer }));
  });

  it('of transactions and messages are what the whole decoders say', () => {
    let count = 0;
    for (const [i, bundle] of chain.bundles.entries()) {
      if (!FULL && i % 6 !== 0) continue;
      const expected = expectedTransactions(bundle);
      const { transactions, messages } = rows[i]!;
      expectEqual(transactions.length, expected.length, `masterchain block ${bundle.mc_seqno}`);
      const found = transactions.map((row, ordinal) => ({
        hash: toHex(row.hash),
        lt: row.lt,
        now: row.now,
        account: expected[ordinal]!.account,
        workchain: row.workchain,
        shard: row.shard,
        block_seqno: row.block_seqno,
        account_key: row.account_key,
        hash_key: row.hash_key,
        in_msg_key: row.in_msg_key,
        in_msg: row.in_msg === null ? null : { ...row.in_msg, hash: toHex(row.in_msg.hash) },
        out_msgs: row.out_msgs.map(({ hash, external }) => ({ hash: toHex(hash), external })),
        state_hash: toHex(row.state_hash),
        messages: messages.filter(({ tx_id }) => tx_id === row.id).map(({ tx_id: _, ...message }) => message),
      }));
      const wanted = expected.map(({ cell: _, messages: all, ...row }) => ({
        ...row,
        messages: all.filter(({ position }) => position > 0 || row.in_msg!.kind !== 'internal'),
      }));
      expectEqual(found, wanted, `masterchain block ${bundle.mc_seqno}`);
      for (const [ordinal, { messages: all, in_msg }] of expected.entries()) {
        const row = transactions[ordinal]!;
        expectEqual(row.id, (BigInt(bundle.mc_seqno) << 24n) | BigInt(ordinal), `masterchain block ${bundle.mc_seqno}`);
        expectEqual(receivedMessage(row), in_msg === null ? null : { tx_id: row.id, ...all[0] }, row.hash.toString());
      }
      count += expected.length;
    }
    expect(count).toBeGreaterThan(FULL ? 10_900 : 1_500);
  });

  it('of transactions hold their cells', () => {
    const codes = new Map(writer.codes.map(({ code_hash, boc }) => [toHex(code_hash), parseBocRoot(boc)]));
    let shared = 0;
    for (const { transactions } of rows) {
      for (const { boc, hash } of transactions) {
        const bare = loadTransaction(boc, () => null);
        expectEqual(toHex(bare.hash(0)), toHex(hash), toHex(hash));
        const whole = loadTransaction(boc, (code) => codes.get(toHex(code)) ?? null);
        expectEqual(toHex(whole.hash()), toHex(hash), toHex(hash));
        expectEqual(whole.levelMask, 0, toHex(hash));
        shared += sharedCodes(boc).length;
      }
    }
    expect(shared).toBeGreaterThan(100);
    for (const [hash, cell] of codes) expect(toHex(cell.hash())).toBe(hash);
  });

  it('of accounts are what the whole states hold', () => {
    for (const [i, bundle] of chain.bundles.entries()) {
      const states = bundle.states.map((state) => decodeCell(ShardStateUnsplit, state));
      for (const change of rows[i]!.accounts) {
        const id = change.address.subarray(1);
        const holders = bundle.blocks.flatMap(({ id: block }, at) =>
          block.workchain === new Int8Array(change.address)[0] ? [states[at]!] : [],
        );
        const name = `${bundle.mc_seqno} ${toHex(change.address)}`;
        const matching = holders
          .map(({ accounts }) => accounts.value.get(id))
          .filter((account) => account?.last_trans_lt === change.last_trans_lt);
        if (change.status === 3) {
          expectEqual(
            holders.some(({ accounts }) => accounts.value.get(id) === undefined),
            true,
            name,
          );
          expectEqual(change.balance, 0n, name);
          continue;
        }
        expect(matching.length, name).toBeGreaterThan(0);
        const { account, last_trans_hash } = matching[0]!;
        expectEqual(toHex(change.last_trans_hash), toHex(last_trans_hash), name);
        expectEqual(toHex(change.state_hash), toHex(account.cell.hash()), name);
        expectState(change, account.value, name);
      }
    }
  });

  it.each([1, 50, 2000])(
    'of accounts are whole at the end, in batches of %i masterchain blocks',
    (size) => {
      const index = new Map<string, LatestAccount>();
      const counts = { batches: 0, rows: 0, wanting: 0, unknown: 0 };
      const zerostates = chain.zerostates.flatMap(({ id, root }) => {
        const { gen_utime } = decodeCell(ShardStateUnsplit, root);
        return zerostateAccounts(parseBocRoot(serializeBoc(root)), { workchain: id.workchain, gen_utime }, writer);
      });
      const batches: Pick<BundleRows, 'accounts' | 'transactions'>[][] = [[{ accounts: zerostates, transactions: [] }]];
      for (let at = 0; at < rows.length; at += size) batches.push(rows.slice(at, at + size));
      for (const batch of batches) {
        const fold = new BatchAccounts();
        for (const bundle of batch) fold.add(bundle);
        const wanting = fold.incompleteAddresses();
        const known = new Map(
          wanting.flatMap((address) => {
            const before = index.get(toHex(address));
            return before === undefined ? [] : [[toHex(address), before] as const];
          }),
        );
        counts.batches++;
        counts.wanting += wanting.length;
        for (const row of fold.finish(known)) {
          const key = toHex(row.address);
          const before = index.get(key);
          const same =
            row.data_hash !== null &&
            row.data_boc === null &&
            before?.data_hash !== undefined &&
            before.data_hash !== null &&
            toHex(before.data_hash) === toHex(row.data_hash);
          const stored = same ? { ...row, data_boc: before.data_boc } : row;
          if (row.incomplete || (stored.data_hash !== null && stored.data_boc === null)) counts.unknown++;
          index.set(key, stored);
          counts.rows++;
        }
      }
      console.info(`batches of ${size} rounds:`, counts);
      expect(counts.unknown).toBe(0);
      const codes = new Set(writer.codes.map(({ code_hash }) => toHex(code_hash)));
      const unknownCodes = new Set<string>();
      let compared = 0;
      for (const [at, bundle] of chain.bundles.slice(-1).entries()) {
        expect(at).toBe(0);
        for (const [i, state] of bundle.states.entries()) {
          const { workchain } = bundle.blocks[i]!.id;
          for (const [id, { account }] of decodeCell(ShardStateUnsplit, state).accounts.value) {
            const key = toHex(new Uint8Array([workchain, ...id]));
            const row = index.get(key)!;
            const { value } = account;
            if (value.kind === 'account_none') throw new TypeError(`${key} is not there`);
            const { balance, state: held } = value.storage;
            const init = held.kind === 'account_active' ? held.state_init : null;
            expectEqual(toHex(row.state_hash), toHex(account.cell.hash()), key);
            expectEqual([...(row.extra_currencies ?? [])], [...balance.other], key);
            expectEqual(row.data_boc && toHex(row.data_boc), init?.data ? toHex(serializeBoc(init.data)) : null, key);
            if (init?.code && !codes.has(toHex(init.code.hash())))
              unknownCodes.add(`${key} ${toHex(init.code.hash())}`);
            compared++;
          }
        }
      }
      expect([...unknownCodes]).toEqual([]);
      expect(compared).toBeGreaterThan(2000);
    },
    120_000,
  );

  it('of the other index agree, for all transactions', () => {
    const found = new Map(rows.flatMap(({ transactions }) => transactions.map((row) => [toBase64(row.hash), row])));
    const head = Math.max(...[...csvRows('blocks')].map((row) => Number(row.mc_block_seqno)));
    let count = 0;
    for (const row of csvRows('transactions')) {
      const ours = found.get(row.hash!)!;
      const name = row.hash!;
      expectEqual(
        [ours.lt, ours.now, ours.mc_seqno, ours.workchain, ours.shard, ours.block_seqno].map(String),
        [row.lt, row.now, row.mc_block_seqno, row.block_workchain, row.block_shard, row.block_seqno],
        name,
      );
      expectEqual(toBase64(ours.state_hash), row.account_state_hash_after, name);
      expectEqual(ours.account_key, accountKey(addressBytes(parseAddress(row.account!).address)), name);
      count++;
    }
    expect(count).toBe(
      rows.filter(({ mc_seqno }) => mc_seqno <= head).flatMap(({ transactions }) => transactions).length,
    );
  });

  it('of the other index agree, for all messages', () => {
    const ids = new Map(rows.flatMap(({ transactions }) => transactions.map((row) => [row.id, toBase64(row.hash)])));
    const ours = new Map<string, MessageRow>();
    for (const { messages } of rows) {
      for (const row of messages) ours.set(`${ids.get(row.tx_id)} ${row.msg_key} ${row.position > 0}`, row);
    }
    const received = new Map<string, BundleTransaction>();
    for (const { transactions } of rows) for (const row of transactions) received.set(toBase64(row.hash), row);
    let count = 0;
    for (const row of csvRows('messages')) {
      const key = rankedKey(fromBase64(row.msg_hash!)!);
      const inbound = row.direction === 'in';
      const message = inbound ? receivedMessage(received.get(row.tx_hash!)!) : ours.get(`${row.tx_hash} ${key} true`);
      const name = `${row.tx_hash} ${row.msg_hash}`;
      const normalised = row.msg_hash_norm === '' ? null : rankedKey(fromBase64(row.msg_hash_norm!)!);
      expectEqual(
        { ...message, tx_id: null, position: null },
        {
          tx_id: null,
          position: null,
          msg_key: key,
          body_key: rankedKey(fromBase64(row.body_hash!)!),
          norm_key: normalised === key ? null : normalised,
          source_key: addressKey(row.source!),
          destination_key: addressKey(row.destination!),
          created_lt: row.created_lt === '' ? null : BigInt(row.created_lt!),
          created_at: row.created_at === '' ? null : Number(row.created_at),
          opcode: row.opcode === '' ? null : Number(row.opcode),
        },
        name,
      );
      count++;
    }
    expect(count).toBeGreaterThan(15_000);
  });

  it('of the other index agree, for all states of accounts', () => {
    const ours = new Map<string, AccountStateChange>();
    for (const { accounts } of rows) for (const row of accounts) ours.set(toBase64(row.state_hash), row);
    const counts = { agreed: 0, zerostate: 0 };
    for (const row of csvRows('account_states')) {
      const found = ours.get(row.hash!);
      if (found === undefined) {
        counts.zerostate++;
        continue;
      }
      const hash = (value: Uint8Array | null) => (value === null ? '' : toBase64(value));
      expectEqual(
        {
          balance: String(found.balance),
          account_status: STATUS[found.status],
          frozen_hash: hash(found.frozen_hash),
          data_hash: hash(found.data_hash),
          code_hash: hash(found.code_hash),
        },
        {
          balance: row.balance,
          account_status: row.account_status,
          frozen_hash: row.frozen_hash,
          data_hash: row.data_hash,
          code_hash: row.code_hash,
        },
        row.hash,
      );
      counts.agreed++;
    }
    console.info('states that the other index has:', counts);
    expect(counts.agreed).toBeGreaterThan(8000);
  });

  it('of the other index agree, for all blocks', () => {
    const ours = new Map(rows.flatMap(({ blocks }) => blocks.map((row) => [toBase64(row.root_hash), row])));
    let count = 0;
    for (const row of csvRows('blocks')) {
      const found = ours.get(row.root_hash!)!;
      const flags = [
        'after_merge',
        'before_split',
        'after_split',
        'want_merge',
        'want_split',
        'key_block',
        'vert_seqno_incr',
      ];
      const bits = flags.reduce((sum, flag, bit) => sum + (row[flag] === 't' ? 1 << bit : 0), 0);
      expectEqual(String(found.id >> 24n), row.mc_block_seqno, row.root_hash);
      expectEqual(found.bits, bits, row.root_hash);
      for (const column of [
        'workchain',
        'shard',
        'seqno',
        'global_id',
        'version',
        'flags',
        'gen_utime',
        'start_lt',
        'end_lt',
        'gen_catchain_seqno',
        'min_ref_mc_seqno',
        'prev_key_block_seqno',
        'vert_seqno',
        'master_ref_seqno',
        'tx_count',
      ] as const) {
        expectEqual(String(found[column] ?? 0), row[column], `${row.root_hash} ${column}`);
      }
      expectEqual(found.validator_list_hash_short | 0, Number(row.validator_list_hash_short), row.root_hash);
      for (const column of ['file_hash', 'rand_seed', 'created_by'] as const) {
        expectEqual(toBase64(found[column]), row[column], `${row.root_hash} ${column}`);
      }
      const prev = [...row.prev_blocks!.matchAll(/\((-?\d+),(-?\d+),(\d+)\)/g)].flatMap((match) =>
        match.slice(1).map(BigInt),
      );
      expectEqual(found.prev_blocks, prev, row.root_hash);
      count++;
    }
    expect(count).toBe(2270);
  });

  it('of accounts are in the last transaction of each', () => {
    let count = 0;
    for (const { transactions, accounts } of rows) {
      const states = transactions.flatMap(({ state_after, state_hash }) =>
        state_after === null ? [] : [{ state_after, state_hash }],
      );
      expect(states.length).toBe(accounts.length);
      for (const [at, change] of accounts.entries()) {
        const { state_after, state_hash } = states[at]!;
        const stored = decodeState(state_after);
        expectEqual(toHex(state_hash), toHex(change.state_hash), toHex(change.address));
        const wanted = {
          status: STATUS[change.status],
          balance: change.balance,
          extra_currencies: change.extra_currencies ?? new Map(),
          extra_hash: change.extra_hash,
          frozen_hash: change.frozen_hash,
          code_hash: change.code_hash,
          data_hash: change.data_hash,
        };
        expectEqual(stored, wanted, toHex(change.address));
        count++;
      }
    }
    expect(count).toBeGreaterThan(5000);
  });

  function csvRows(table: string): Iterable<Record<string, string>> {
    return readCsv(readBytes(`${folder}/v3-tables/${table}.csv.br`));
  }

  function addressKey(raw: string): bigint | null {
    return raw === '' ? null : accountKey(addressBytes(parseAddress(raw).address));
  }

  function expectState(change: AccountStateChange, value: Account, name: string): void {
    if (value.kind === 'account_none') throw new TypeError(`${name}: an account that is not there`);
    const { balance, state } = value.storage;
    expectEqual(change.balance, balance.grams, name);
    if (change.extra_hash === null) expectEqual([...(change.extra_currencies ?? [])], [...balance.other], name);
    else expectEqual(toHex(change.extra_hash), toHex(balance.other.root!.hash()), name);
    const init = state.kind === 'account_active' ? state.state_init : null;
    expectEqual(STATUS[change.status], state.kind.slice('account_'.length), name);
    expectEqual(change.code_hash && toHex(change.code_hash), init?.code ? toHex(init.code.hash()) : null, name);
    expectEqual(change.data_hash && toHex(change.data_hash), init?.data ? toHex(init.data.hash()) : null, name);
    expectEqual(
      change.frozen_hash && toHex(change.frozen_hash),
      state.kind === 'account_frozen' ? toHex(state.state_hash) : null,
      name,
    );
    const { data } = change;
    if (data.kind === 'whole') expectEqual(toHex(data.cell.hash()), toHex(init!.data!.hash()), name);
    if (data.kind === 'partial') expectEqual(toHex(data.cell.hash(0)), toHex(init!.data!.hash()), name);
    expectEqual(data.kind === 'none', !init?.data, name);
  }
});

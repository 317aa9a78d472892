import { beforeAll, describe, expect, it } from 'vitest';
import { decodeState } from '#drivers/store/encode/state-summary.js';
import { loadTransaction, sharedCodes, TransactionWriter } from '#drivers/store/encode/stored-transaction.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes/bytes.js';
import { buildRound } from '#services/indexer/rows/build-round.js';
import type { AccountChange, RoundRows } from '#services/indexer/rows/round-rows.js';
import { receivedMessage } from '#services/indexer/rows/transaction-rows.js';
import { expectedTransactions } from '#test/support/expected-rows.js';
import { type RecordedRounds, recordedRounds } from '#test/support/recorded-rounds.js';
import { sharedData } from '#test/support/shared-data.js';

const folder = sharedData('recorded-net');
const STATUS = ['uninit', 'active', 'frozen', 'nonexist'];

describe.skipIf(folder === null)('rows of the recorded network', () => {
  let chain: RecordedRounds;
  let rows: RoundRows[];
  const writer = new TransactionWriter();

  beforeAll(() => {
    chain = recordedRounds(`${folder}/chain`);
    rows = chain.rounds.map((round) => buildRound(round, { globalVersion: chain.globalVersion, writer }));
  }, 240_000);

  it('of transactions and messages are what the whole decoders say', () => {
    let count = 0;
    for (const [i, round] of chain.rounds.entries()) {
      const expected = expectedTransactions(round);
      const { transactions, messages } = rows[i]!;
      expect(transactions.length, `round ${round.mc_seqno}`).toBe(expected.length);
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
      expect(found, `round ${round.mc_seqno}`).toEqual(wanted);
      for (const [ordinal, { messages: all, in_msg }] of expected.entries()) {
        const row = transactions[ordinal]!;
        expect(row.id).toBe((BigInt(round.mc_seqno) << 24n) | BigInt(ordinal));
        expect(receivedMessage(row), row.hash.toString()).toEqual(
          in_msg === null ? null : { tx_id: row.id, ...all[0] },
        );
      }
      count += expected.length;
    }
    expect(count).toBeGreaterThan(10_900);
  }, 120_000);

  it('of transactions hold their cells', () => {
    const codes = new Map(writer.codes.map(({ code_hash, boc }) => [toHex(code_hash), parseBocRoot(boc)]));
    let shared = 0;
    for (const { transactions } of rows) {
      for (const { boc, hash } of transactions) {
        const bare = loadTransaction(boc, () => null);
        expect(toHex(bare.hash(0)), toHex(hash)).toBe(toHex(hash));
        const whole = loadTransaction(boc, (code) => codes.get(toHex(code)) ?? null);
        expect(toHex(whole.hash()), toHex(hash)).toBe(toHex(hash));
        expect(whole.levelMask, toHex(hash)).toBe(0);
        shared += sharedCodes(boc).length;
      }
    }
    expect(shared).toBeGreaterThan(100);
    for (const [hash, cell] of codes) expect(toHex(cell.hash())).toBe(hash);
  }, 60_000);

  it('of accounts are what the whole states hold', () => {
    for (const [i, round] of chain.rounds.entries()) {
      const states = round.states.map((state) => decodeCell(ShardStateUnsplit, state));
      for (const change of rows[i]!.accounts) {
        const id = change.address.subarray(1);
        const holders = round.blocks.flatMap(({ id: block }, at) =>
          block.workchain === new Int8Array(change.address)[0] ? [states[at]!] : [],
        );
        const name = `${round.mc_seqno} ${toHex(change.address)}`;
        const matching = holders
          .map(({ accounts }) => accounts.value.get(id))
          .filter((account) => account?.last_trans_lt === change.last_trans_lt);
        if (change.status === 3) {
          expect(
            holders.some(({ accounts }) => accounts.value.get(id) === undefined),
            name,
          ).toBe(true);
          expect(change.balance, name).toBe(0n);
          continue;
        }
        expect(matching.length, name).toBeGreaterThan(0);
        const { account, last_trans_hash } = matching[0]!;
        expect(toHex(change.last_trans_hash), name).toBe(toHex(last_trans_hash));
        expect(toHex(change.state_hash), name).toBe(toHex(account.cell.hash()));
        expectState(change, account.value, name);
      }
    }
  }, 120_000);

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
        expect(toHex(state_hash)).toBe(toHex(change.state_hash));
        expect(stored).toEqual({
          status: STATUS[change.status],
          balance: change.balance,
          extra_currencies: change.extra_currencies ?? new Map(),
          extra_hash: change.extra_hash,
          frozen_hash: change.frozen_hash,
          code_hash: change.code_hash,
          data_hash: change.data_hash,
        });
        count++;
      }
    }
    expect(count).toBeGreaterThan(5000);
  });

  function expectState(change: AccountChange, value: Account, name: string): void {
    if (value.kind === 'account_none') throw new TypeError(`${name}: an account that is not there`);
    const { balance, state } = value.storage;
    expect(change.balance, name).toBe(balance.grams);
    if (change.extra_hash === null) expect([...(change.extra_currencies ?? [])], name).toEqual([...balance.other]);
    else expect(toHex(change.extra_hash), name).toBe(toHex(balance.other.root!.hash()));
    const init = state.kind === 'account_active' ? state.state_init : null;
    expect(STATUS[change.status], name).toBe(state.kind.slice('account_'.length));
    expect(change.code_hash && toHex(change.code_hash), name).toBe(init?.code ? toHex(init.code.hash()) : null);
    expect(change.data_hash && toHex(change.data_hash), name).toBe(init?.data ? toHex(init.data.hash()) : null);
    expect(change.frozen_hash && toHex(change.frozen_hash), name).toBe(
      state.kind === 'account_frozen' ? toHex(state.state_hash) : null,
    );
    const { data } = change;
    if (data.kind === 'whole') expect(toHex(data.cell.hash()), name).toBe(toHex(init!.data!.hash()));
    if (data.kind === 'partial') expect(toHex(data.cell.hash(0)), name).toBe(toHex(init!.data!.hash()));
    expect(data.kind === 'none', name).toBe(!init?.data);
  }
});

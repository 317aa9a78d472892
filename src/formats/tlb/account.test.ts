import * as core from '@ton/core';
import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { Account, ShardAccount, ShardAccounts, StorageExtraInfo } from '#formats/tlb/account.js';
import { decodeCell, encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { BitString, toHex } from '#kernel/bytes.js';
import { coreCells } from '#test/support/block-transactions.js';
import { itReads, itRefuses, roundTrip } from '#test/support/codec-harness.js';
import { coreAccount, plainAccount } from '#test/support/core-shape.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

/** Compares all accounts of a state with @ton/core, and builds their dictionary again. */
function checkState(path: string): void {
  const boc = readBytes(path);
  const coreKeys = core.Dictionary.load(
    core.Dictionary.Keys.BigUint(256),
    { parse: (slice) => slice.remainingBits, serialize: () => {} },
    core.Cell.fromBoc(Buffer.from(boc))[0]!.refs[1]!.beginParse(),
  ).keys();
  const theirs = coreCells(boc);
  const accounts = decodeCell(ShardStateUnsplit, parseBocRoot(boc)).accounts;
  const entries: [Uint8Array, ShardAccount][] = [];
  for (const [key, entry] of accounts.value) {
    const account = roundTrip(Account, entry.account.cell);
    const other = theirs.get(toHex(entry.account.cell.hash()))!.beginParse();
    expect(other.loadBit()).toBe(true);
    expect(plainAccount(account)).toEqual(coreAccount(core.loadAccount(other)));
    entries.push([key, entry]);
  }
  const rebuilt = encodeCell(ShardAccounts, ShardAccounts.of(entries));
  expect(toHex(rebuilt.hash())).toBe(toHex(accounts.cell.hash()));
  expect(entries.map(([key]) => BigInt(`0x${toHex(key)}`))).toEqual(coreKeys);
}

describe('accounts of states, as @ton/core reads them', () => {
  it.each(['zerostate_mc_5E994FCF.boc', 'zerostate_wc0_EE0BEDFE.boc'])('%s', (file) => {
    checkState(vectorPath(`mainnet-genesis/${file}`));
  });

  const folder = vectorPath('collection/recorded-net/chain');
  it.each(['zerostate-mc.boc', 'zerostate-basechain.boc'])('recorded-net %s', (file) => {
    checkState(`${folder}/${file}`);
  });
});

const hash = new Uint8Array(32).fill(0xab);
const address = core.Address.parseRaw(`-1:${'55'.repeat(32)}`);
const cell = core.beginCell().storeUint(7, 9).endCell();
const fromCore = (store: (builder: core.Builder) => void): Cell =>
  parseBocRoot(new Uint8Array(core.beginCell().store(store).endCell().toBoc()));

describe('accounts in every state', () => {
  const states: Record<string, core.AccountState> = {
    uninit: { type: 'uninit' },
    frozen: { type: 'frozen', stateHash: 2n ** 255n + 9n },
    active: { type: 'active', state: { code: cell, data: cell } },
    'active, special, with a prefix': {
      type: 'active',
      state: { code: cell, data: null, splitDepth: 8, special: { tick: false, tock: true } },
    },
  };
  const rows = Object.entries(states).flatMap(([id, state]) =>
    [null, { dictHash: 3n ** 160n }].map((storageExtra) => ({ id, state, storageExtra })),
  );
  it.each(rows)('$id, storage extra $storageExtra', ({ state, storageExtra }) => {
    const account: core.Account = {
      addr: address,
      storageStats: {
        used: { cells: 26n, bits: 2n ** 47n },
        storageExtra,
        lastPaid: 1,
        duePayment: state.type === 'frozen' ? 5n : null,
      },
      storage: { lastTransLt: 2n ** 64n - 1n, balance: { coins: 10n ** 9n }, state },
    };
    const whole = new Builder()
      .storeBit(true)
      .storeSlice(openCell(fromCore(core.storeAccount(account))))
      .endCell();
    expect(plainAccount(roundTrip(Account, whole))).toEqual(coreAccount(account));
  });

  itReads(ShardAccount, [
    {
      id: 'of no account',
      cell: encodeCell(ShardAccount, {
        account: Lazy.ofValue(Account, { kind: 'account_none' }),
        last_trans_hash: hash,
        last_trans_lt: 5n,
      }),
    },
  ]);
  itReads(StorageExtraInfo, [
    { id: 'none', cell: new Builder().storeUint(0, 3).endCell(), value: { kind: 'storage_extra_none' } },
    {
      id: 'info',
      cell: new Builder().storeUint(1, 3).storeBytes(hash).endCell(),
      value: { kind: 'storage_extra_info', dict_hash: hash },
    },
  ]);
});

describe('refused accounts', () => {
  const std = (builder: Builder) => builder.storeUint(0b1100, 4).storeUint(0, 264);
  itRefuses(Account, [
    { id: 'nothing', cell: new Builder().endCell(), code: 'cells/slice-underflow', path: '' },
    { id: 'none with more', cell: new Builder().storeUint(0, 2).endCell(), code: 'cells/slice-not-empty', path: '' },
    { id: 'no address', cell: new Builder().storeUint(0b100, 3).endCell(), code: 'tlb/constructor-tag', path: 'addr' },
    {
      id: 'an unknown storage extra',
      cell: std(new Builder()).storeUint(0, 6).storeUint(0b010, 3).endCell(),
      code: 'tlb/constructor-tag',
      path: 'storage_stat.storage_extra',
    },
    {
      id: 'a length of 7 bytes',
      cell: std(new Builder()).storeUint(0b111, 3).storeUint(1, 56).endCell(),
      code: 'tlb/constraint',
      path: 'storage_stat.used.cells',
    },
    {
      id: 'a state that is cut off',
      cell: std(new Builder())
        .storeUint(0, 9)
        .storeUint(0, 33)
        .storeUint(0, 64)
        .storeUint(0, 5)
        .storeUint(0b01, 2)
        .endCell(),
      code: 'cells/slice-underflow',
      path: 'storage.state.state_hash',
    },
  ]);
});

describe('ShardAccounts', () => {
  it('sums balances, and keeps the greatest depth of anycast', () => {
    const account = (coins: bigint, depth: number): ShardAccount => ({
      account: Lazy.ofValue(Account, {
        kind: 'account',
        addr:
          depth === 0
            ? Address.ofParts(0, hash)
            : {
                kind: 'addr_std',
                anycast: { depth, rewrite_pfx: new BitString(new Uint8Array(1), depth) },
                workchain_id: 0,
                address: hash,
              },
        storage_stat: {
          used: { cells: 1n, bits: 2n },
          storage_extra: { kind: 'storage_extra_none' },
          last_paid: 0,
          due_payment: null,
        },
        storage: { last_trans_lt: 1n, balance: onlyGrams(coins), state: { kind: 'account_uninit' } },
      }),
      last_trans_hash: hash,
      last_trans_lt: 0n,
    });
    const key = (byte: number) => new Uint8Array(32).fill(byte);
    let accounts = ShardAccounts.of([
      [key(1), account(10n, 0)],
      [key(200), account(5n, 3)],
      [key(201), account(7n, 2)],
    ]);
    expect(accounts.extra.balance.grams).toBe(22n);
    expect(accounts.extra.split_depth).toBe(3);
    accounts = accounts.delete(key(200));
    expect(accounts.extra.balance.grams).toBe(17n);
    expect(accounts.extra.split_depth).toBe(2);
    expect(accounts.get(key(1))!.account.value.kind).toBe('account');
    expect(accounts.get(key(2))).toBeUndefined();
  });
});

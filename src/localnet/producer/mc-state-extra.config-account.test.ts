import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { Account, type ShardAccounts } from '#formats/tlb/account.js';
import { decodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { type ConfigDictionary, encodeConfigParam } from '#formats/tlb/config/config-params.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import { configOfAccounts, configProblem, nextMcStateExtra } from '#localnet/producer/mc-state-extra.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

const zerostate = decodeCell(ShardStateUnsplit, parseBocRoot(readBytes(vectorPath('recorded-chain/zerostate-mc.boc'))));
const extra = zerostate.custom!.value;
const before = extra.config;
const accounts = zerostate.accounts.value;
const { config_addr } = before;

/** The accounts, with a configuration contract at an address that has this dictionary in its data. */
function withData(id: Uint8Array, root: Cell | null): ShardAccounts {
  const holder = accounts.get(config_addr)!;
  const account = holder.account.value;
  if (account.kind !== 'account' || account.storage.state.kind !== 'account_active') throw new TypeError('no contract');
  const data = root === null ? new Builder().endCell() : new Builder().storeRef(root).storeUint(7, 32).endCell();
  const { storage } = account;
  const state = { ...account.storage.state, state_init: { ...account.storage.state.state_init, data } };
  const changed = Lazy.ofValue(Account, { ...account, storage: { ...storage, state } });
  return accounts.set(id, { ...holder, account: changed });
}

const rootHash = ({ root }: ConfigDictionary): string => toHex(root!.hash());
const changed = before.config.set(19, encodeConfigParam(19, -778));

describe('the configuration after a block', () => {
  it('is the one before when the contract has not changed it', () => {
    expect(rootHash(configOfAccounts(accounts, before).config)).toBe(rootHash(before.config));
  });

  it('is what the contract has in its data', () => {
    const after = configOfAccounts(withData(config_addr, changed.root), before);
    expect(rootHash(after.config)).toBe(rootHash(changed));
    expect(after.config_addr).toEqual(config_addr);
  });

  it.each<readonly [string, Cell | null]>([
    ['has no reference', null],
    ['is no dictionary', new Builder().storeUint(1, 1).endCell()],
    ['lacks a mandatory parameter', before.config.delete(34).root],
    ['has a parameter in a wrong form', before.config.set(8, new Builder().storeUint(0, 8).endCell()).root],
    ['has a parameter of an unknown number', before.config.set(1_000, new Builder().endCell()).root],
  ])('is the one before when the data %s', (_, root) => {
    expect(configOfAccounts(withData(config_addr, root), before)).toBe(before);
  });

  it.each<readonly [number, ConfigDictionary]>([
    [34, before.config.delete(34)],
    [8, before.config.set(8, new Builder().storeUint(0, 8).endCell())],
    [1_000, before.config.set(1_000, new Builder().endCell())],
  ])('is the one before because of parameter %i, and this is said', (index, config) => {
    expect(configProblem(config, before.config)).toMatch(new RegExp(`\\b${index}\\b`));
    expect(configProblem(changed, before.config)).toBeNull();
  });

  it('may have anything under negative numbers', () => {
    const free = before.config.set(-1_000, new Builder().endCell());
    expect(rootHash(configOfAccounts(withData(config_addr, free.root), before).config)).toBe(rootHash(free));
  });

  it('moves to the contract that parameter 0 names, once that has a configuration', () => {
    const successor = new Uint8Array(32).fill(0x77);
    const moved = before.config.set(0, encodeConfigParam(0, successor));
    const announced = withData(config_addr, moved.root);
    expect(configOfAccounts(announced, before).config_addr).toEqual(config_addr);
    const next = withData(successor, moved.root).get(successor)!;
    const after = configOfAccounts(announced.set(successor, next), before);
    expect(after.config_addr).toEqual(successor);
    expect(rootHash(after.config)).toBe(rootHash(moved));
  });
});

describe('a key block', () => {
  const id = {
    workchain: -1,
    shard: 1n << 63n,
    seqno: 0,
    root_hash: new Uint8Array(32),
    file_hash: new Uint8Array(32),
  };
  const step = (config: ConfigDictionary) =>
    nextMcStateExtra({
      before: extra,
      previous: { id, end_lt: 0n, gen_utime: 1_795_255_620 },
      registered: extra.shard_hashes,
      config: { config_addr, config },
      gen_utime: 1_795_255_641,
      global_balance: extra.global_balance,
      creators: { masterchain: new Uint8Array(32), shards: [] },
    });

  it('comes with another configuration, and begins a session', () => {
    const { key_block, extra: after } = step(changed);
    expect(key_block).toBe(true);
    expect(after.info.value).toMatchObject({ after_key_block: true, last_key_block: { seq_no: 0 } });
    expect(after.info.value.validator_info).toMatchObject({ catchain_seqno: 1, nx_cc_updated: true });
  });

  it('does not come without', () => {
    const { key_block, extra: after } = step(before.config);
    expect(key_block).toBe(false);
    expect(after.info.value.validator_info).toMatchObject({ catchain_seqno: 0, nx_cc_updated: false });
  });
});

import { createHash } from 'node:crypto';
import { Cell as CoreCell, Dictionary as CoreDictionary, loadShardStateUnsplit, ShardAccountRefValue } from '@ton/core';
import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { checkDictionary } from '#formats/cells/dict-build.js';
import { MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { checkZerostate } from '#formats/proofs/shard-state.js';
import { computeValidatorGroup, validatorConfigOf } from '#formats/proofs/validators.js';
import { AccountStorage, storageUsed } from '#formats/tlb/account.js';
import { AugmentedDictionary } from '#formats/tlb/codec/augmented-dictionary.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { CONFIG_PARAMS, configParam, decodeConfigParam } from '#formats/tlb/config/config-params.js';
import { recognizeCell } from '#formats/tlb/recognize.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { type VisitedNode, walkValue } from '#formats/tlb/walk-value.js';
import { toHex } from '#kernel/bytes.js';
import { makeGenesis } from '#localnet/genesis/make-genesis.js';
import { signingKey, TOTAL_SUPPLY, WALLET_BALANCE } from '#localnet/wallets/wallet-contract.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

const options = {
  now: 1_800_000_000,
  randomBytes: (size: number) => new Uint8Array(size).fill(7),
  validatorSeed: new Uint8Array(32).fill(1),
  configSeed: new Uint8Array(32).fill(2),
};
const genesis = makeGenesis(options);
const basechain = genesis.workchains[0]!;
const SYSTEM = 20_000_000_000n;

/** The zerostate of a network of the reference software. */
const recorded = decodeCell(ShardStateUnsplit, parseBocRoot(readBytes(vectorPath('recorded-chain/zerostate-mc.boc'))));

describe('a zerostate', () => {
  it.each([genesis.masterchain, basechain])('is what its id says, in the form of files of nodes', (zerostate) => {
    const { id, bytes, state } = zerostate;
    const root = parseBocRoot(bytes);
    expect(toHex(root.hash())).toBe(toHex(id.root_hash));
    expect(toHex(state.hash())).toBe(toHex(id.root_hash));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(toHex(id.file_hash));
    expect(checkZerostate(root, id).state.gen_utime).toBe(options.now);
    expect([id.seqno, id.shard]).toEqual([0, 1n << 63n]);
  });

  it.each([genesis.masterchain, basechain])(
    'decodes to the last bit, its dictionaries as they must be',
    (zerostate) => {
      const { type, value } = recognizeCell(parseBocRoot(zerostate.bytes));
      expect(type).toBe('ShardState');
      const seen = { parts: 0, augmented: 0 };
      const enter = (node: VisitedNode): boolean => {
        seen.parts++;
        if (node.kind !== 'dictionary') return true;
        const dictionary = node.value;
        if (dictionary instanceof AugmentedDictionary) {
          seen.augmented++;
          checkDictionary(dictionary.root, dictionary.type.key.bits, { augmentation: dictionary.type.augmentation });
        } else {
          checkDictionary(dictionary.root, dictionary.type.key.bits);
        }
        return true;
      };
      walkValue(value, { enter });
      expect(seen.parts).toBeGreaterThan(100);
      expect(seen.augmented).toBeGreaterThanOrEqual(2);
    },
  );

  it('is the same for the same keys and time, and another for others', () => {
    const hashOf = (change: Partial<typeof options>) =>
      toHex(makeGenesis({ ...options, ...change }).masterchain.id.file_hash);
    expect(hashOf({})).toBe(toHex(genesis.masterchain.id.file_hash));
    const others = [
      hashOf({ now: options.now + 1 }),
      hashOf({ validatorSeed: new Uint8Array(32).fill(3) }),
      hashOf({ configSeed: new Uint8Array(32).fill(3) }),
    ];
    expect(new Set([hashOf({}), ...others]).size).toBe(4);
  });

  it('takes keys from the source of randomness when none are given', () => {
    const { now, randomBytes } = options;
    const { validatorSeed, configSeed } = makeGenesis({ now, randomBytes });
    expect([validatorSeed, configSeed]).toEqual([randomBytes(32), randomBytes(32)]);
  });

  it('has a logical time and a global id of choice', () => {
    const { masterchain, workchains } = makeGenesis({ ...options, startLt: 77_000_000n, globalId: -5 });
    for (const { state } of [masterchain, ...workchains]) {
      const { gen_lt, global_id } = decodeCell(ShardStateUnsplit, state);
      expect([gen_lt, global_id]).toEqual([77_000_000n, -5]);
    }
  });
});

describe('the accounts', () => {
  const masterchain = decodeCell(ShardStateUnsplit, genesis.masterchain.state);
  const shard = decodeCell(ShardStateUnsplit, basechain.state);

  it('have all coins together', () => {
    const ofMasterchain = WALLET_BALANCE + SYSTEM;
    expect(masterchain.totals.value.total_balance.grams).toBe(ofMasterchain);
    expect(shard.totals.value.total_balance.grams).toBe(TOTAL_SUPPLY - WALLET_BALANCE);
    expect(masterchain.custom!.value.global_balance.grams).toBe(TOTAL_SUPPLY + SYSTEM);
    for (const { accounts, totals } of [masterchain, shard]) {
      let sum = 0n;
      for (const [, { account }] of accounts.value) {
        const { value } = account;
        if (value.kind === 'account') sum += value.storage.balance.grams;
      }
      expect(sum).toBe(totals.value.total_balance.grams);
      expect(accounts.value.extra.balance.grams).toBe(sum);
    }
  });

  it('are the funded wallets, each in its workchain, and two contracts of the network', () => {
    const states = new Map([
      [-1, masterchain],
      [0, shard],
    ]);
    for (const { address, balance } of genesis.wallets) {
      const account = states.get(address.workchain)!.accounts.value.get(address.hash)!.account.value;
      expect(account.kind === 'account' && account.storage.balance.grams).toBe(balance);
    }
    expect(shard.accounts.value.count()).toBe(7);
    expect(masterchain.accounts.value.count()).toBe(3);
  });

  it('are what @ton/core reads', () => {
    const states = [genesis.masterchain, basechain].map(({ bytes }) => CoreCell.fromBoc(Buffer.from(bytes))[0]!);
    const read = states.map((state) =>
      CoreDictionary.load(CoreDictionary.Keys.BigUint(256), ShardAccountRefValue, state.refs[1]!),
    );
    expect(read.map(({ size }) => size)).toEqual([3, 7]);
    for (const { address, balance } of genesis.wallets) {
      const accounts = read[address.workchain + 1]!;
      const { account } = accounts.get(BigInt(`0x${toHex(address.hash)}`))!.shardAccount;
      expect(account!.addr.toRawString()).toBe(address.toRaw());
      expect(account!.storage.balance.coins).toBe(balance);
      expect(account!.storage.state.type).toBe('active');
    }
    const whole = loadShardStateUnsplit(states[1]!.beginParse());
    expect([whole.globalId, whole.genUtime, whole.accounts!.size]).toEqual([-217, options.now, 7]);
  });

  it('store as much as the reference software counts', () => {
    let checked = 0;
    for (const [, { account }] of recorded.accounts.value) {
      const { value } = account;
      if (value.kind !== 'account') continue;
      expect(storageUsed(encodeCell(AccountStorage, value.storage))).toEqual(value.storage_stat.used);
      checked++;
    }
    expect(checked).toBe(5);
  });
});

describe('the configuration', () => {
  const { custom, gen_lt } = decodeCell(ShardStateUnsplit, genesis.masterchain.state);
  const { config, info, shard_hashes } = custom!.value;
  const theirs = recorded.custom!.value;

  it('is of known parameters only, each in its form', () => {
    for (const [index, cell] of config.config) {
      expect(decodeConfigParam(index, cell).name).toBe(CONFIG_PARAMS[index as keyof typeof CONFIG_PARAMS].name);
    }
  });

  it('has all parameters that the network says must be there', () => {
    const mandatory = [...configParam(config.config, 9)!].map(([index]) => index);
    expect(mandatory.length).toBe(18);
    expect(mandatory.filter((index) => !config.config.has(index))).toEqual([]);
  });

  it('has the parameters of a network of the reference software, but for accounts of mainnet', () => {
    const missing = [...theirs.config.config].map(([index]) => index).filter((index) => !config.config.has(index));
    expect(missing).toEqual([4, 44, 71, 72, 79]);
    const more = [...config.config].map(([index]) => index).filter((index) => !theirs.config.config.has(index));
    expect(more).toEqual([]);
  });

  it('names the zerostate of the basechain and one validator', () => {
    const workchains = configParam(config.config, 12)!;
    expect(workchains.count()).toBe(1);
    const { zerostate_root_hash, zerostate_file_hash } = workchains.get(0)!;
    expect(toHex(zerostate_root_hash)).toBe(toHex(basechain.id.root_hash));
    expect(toHex(zerostate_file_hash)).toBe(toHex(basechain.id.file_hash));
    const { validators } = validatorConfigOf(config.config);
    expect(validators.map(({ public_key }) => toHex(public_key))).toEqual([
      toHex(signingKey(options.validatorSeed).publicKey),
    ]);
  });

  it('is the one that the config contract has in its data', () => {
    const { accounts } = decodeCell(ShardStateUnsplit, genesis.masterchain.state);
    const { value } = accounts.value.get(config.config_addr)!.account;
    const state = value.kind === 'account' ? value.storage.state : null;
    const data = state?.kind === 'account_active' ? state.state_init.data : null;
    expect(toHex(data!.ref(0).hash())).toBe(toHex(config.config.root!.hash()));
  });

  it('comes with an extra as the reference software makes it', () => {
    const group = computeValidatorGroup(validatorConfigOf(theirs.config.config), MASTERCHAIN_SHARD, 0);
    expect(group.hash).toBe(theirs.info.value.validator_info.validator_list_hash_short);
    const own = computeValidatorGroup(validatorConfigOf(config.config), MASTERCHAIN_SHARD, 0);
    expect(info.value).toEqual({
      ...theirs.info.value,
      prev_blocks: info.value.prev_blocks,
      validator_info: { ...theirs.info.value.validator_info, validator_list_hash_short: own.hash },
    });
    expect([info.value.prev_blocks.isEmpty, shard_hashes.isEmpty, gen_lt]).toEqual([true, true, 0n]);
  });
});

describe('a fork', () => {
  const theirs = recorded.custom!.value.config.config;
  const { masterchain, workchains } = makeGenesis({
    ...options,
    config: theirs.root!,
    startLt: 9_000_000n,
    globalId: -777,
  });
  const state = decodeCell(ShardStateUnsplit, masterchain.state);
  const { config, info } = state.custom!.value;

  it('begins with the configuration of the other network, but for what it does by itself', () => {
    expect(configParam(config.config, 21)).toEqual(configParam(theirs, 21));
    expect(configParam(config.config, 44)!.addresses.count()).toBe(configParam(theirs, 44)!.addresses.count());
    expect(toHex(configParam(config.config, 12)!.get(0)!.zerostate_root_hash)).toBe(toHex(workchains[0]!.id.root_hash));
    expect(configParam(config.config, 8)).toEqual({ version: 13, capabilities: 110n });
    const group = computeValidatorGroup(validatorConfigOf(config.config), MASTERCHAIN_SHARD, 0);
    expect(group.validators.map(({ public_key }) => toHex(public_key))).toEqual([
      toHex(signingKey(options.validatorSeed).publicKey),
    ]);
    expect(info.value.validator_info.validator_list_hash_short).toBe(group.hash);
    expect([state.gen_lt, state.global_id]).toEqual([9_000_000n, -777]);
  });

  it('keeps that configuration in its contract', () => {
    const { value } = state.accounts.value.get(config.config_addr)!.account;
    const active =
      value.kind === 'account' && value.storage.state.kind === 'account_active' ? value.storage.state : null;
    expect(toHex(active!.state_init.data!.ref(0).hash())).toBe(toHex(config.config.root!.hash()));
  });
});

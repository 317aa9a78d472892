import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { configDictionary, configParam, encodeConfigParam } from '#formats/tlb/config/config-params.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import { forkConfig, localNetworkConfig } from '#localnet/genesis/network-config.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

const mainnet = parseBocRoot(readFileSync(vectorPath('config/mainnet-65466080.boc')));
const facts = {
  now: 1_800_000_000,
  validator: new Uint8Array(32).fill(7),
  minter: new Uint8Array(32).fill(8),
  basechain: { root_hash: new Uint8Array(32).fill(9), file_hash: new Uint8Array(32).fill(10) },
};
const ours = localNetworkConfig(facts).root!;

const cells = (root: Cell): ReadonlyMap<number, string> =>
  new Map([...configDictionary(root)].map(([index, cell]) => [index, toHex(cell.hash())]));

describe('the configuration of a fork', () => {
  const forked = forkConfig(mainnet, ours);
  const config = configDictionary(forked);

  it('is that of the other network, but for what the local one does by itself', () => {
    const [theirs, own, found] = [cells(mainnet), cells(ours), cells(forked)];
    const changed = new Set([8, 31]);
    const local = new Set([0, 1, 2, 7, 12, 28, 29, 30, 34]);
    for (const [index, hash] of found) {
      if (changed.has(index)) continue;
      expect(hash, `parameter ${index}`).toBe((local.has(index) ? own : theirs).get(index));
    }
    expect([...found.keys()].filter((index) => !local.has(index)).sort()).toEqual(
      [...theirs.keys()].filter((index) => !local.has(index)).sort(),
    );
    expect([...local].every((index) => found.has(index))).toBe(true);
    // Names, suspended accounts, bridges.
    expect([4, 44, 71, -71].every((index) => found.has(index))).toBe(true);
  });

  it('has our validator, and none before or after', () => {
    const [[, validator] = []] = configParam(config, 34)!.list;
    expect(validator).toMatchObject({ public_key: { pubkey: facts.validator } });
    const theirs = configDictionary(mainnet)
      .set(3, encodeConfigParam(3, facts.minter))
      .set(32, configDictionary(mainnet).get(34)!)
      .set(36, configDictionary(mainnet).get(34)!);
    const without = cells(forkConfig(theirs.root!, ours));
    expect([3, 32, 33, 35, 36, 37, 39].filter((index) => without.has(index))).toEqual([]);
    expect(without).toEqual(cells(forked));
  });

  it('has our workchain alone', () => {
    expect([...configParam(config, 12)!].map(([id, { zerostate_root_hash }]) => [id, zerostate_root_hash])).toEqual([
      [0, facts.basechain.root_hash],
    ]);
  });

  it('keeps to the rules that the emulator has, without deferred messages and metadata', () => {
    const newer = configDictionary(mainnet).set(8, encodeConfigParam(8, { version: 15, capabilities: 0x3ffn }));
    const { version, capabilities } = configParam(configDictionary(forkConfig(newer.root!, ours)), 8)!;
    expect(version).toBe(13);
    expect(capabilities & 0x180n).toBe(0n);
    expect(capabilities & 0x44n).toBe(0x44n);
    const older = configDictionary(mainnet).set(8, encodeConfigParam(8, { version: 1, capabilities: 0n }));
    const found = configParam(configDictionary(forkConfig(older.root!, ours)), 8)!;
    expect(found.version).toBe(13);
    expect(found.capabilities & 4n).toBe(0n);
  });

  it('names the special accounts of both', () => {
    const names = [...configParam(config, 31)!].map(([account]) => toHex(account));
    const specialOf = (root: Cell) => [...configParam(configDictionary(root), 31)!].map(([account]) => toHex(account));
    expect(names).toEqual([...new Set([...specialOf(mainnet), ...specialOf(ours)])].sort());
    expect(names.length).toBeGreaterThan(specialOf(mainnet).length);
    const none = forkConfig(configDictionary(mainnet).delete(31).root!, ours);
    expect(specialOf(none)).toEqual(specialOf(ours));
  });

  it('of the recorded network is one, too', () => {
    const state = parseBocRoot(readBytes(vectorPath('recorded-chain/zerostate-mc.boc')));
    const theirs = decodeCell(ShardStateUnsplit, state).custom!.value.config.config.root!;
    expect(configParam(configDictionary(forkConfig(theirs, ours)), 21)).toEqual(
      configParam(configDictionary(theirs), 21),
    );
  });

  it('is not made of one without prices, or of cells that are none', () => {
    const without = configDictionary(mainnet).delete(21).root!;
    expect(() => forkConfig(without, ours)).toThrow(expect.objectContaining({ code: 'fork/bad-config' }));
    const broken = configDictionary(mainnet).set(24, EMPTY_CELL).root!;
    expect(() => forkConfig(broken, ours)).toThrow(expect.objectContaining({ code: 'fork/bad-config' }));
    expect(() => forkConfig(EMPTY_CELL, ours)).toThrow(expect.objectContaining({ code: 'fork/bad-config' }));
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { type Codec, Lazy } from '#formats/tlb/codec/codec.js';
import { Dictionary } from '#formats/tlb/codec/dictionary.js';
import {
  type ConfigDictionary,
  configDictionary,
  decodeConfigParam,
  encodeConfigParam,
  isConfigParamIndex,
} from '#formats/tlb/config/config-params.js';
import { JettonBridgePrices } from '#formats/tlb/config/network.js';
import { ConfigProposalSetup, NewConsensusConfig } from '#formats/tlb/config/validators.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import {
  blockConfigurations,
  chainConfigurations,
  type NamedConfiguration,
  proofConfigurations,
  wholeConfigurations,
} from '#test/support/configurations.js';
import { type Plain, plainConfig, readTongoConfig } from '#test/support/tongo-config.js';
import { vectorPath } from '#test/support/vector-files.js';

/**
 * Parameters that the schema says nothing about but that occur in real networks, and what their cells look like. All have
 * negative numbers: anything may stand there, since validators check and use only those from 0 on.
 */
const RAW: Readonly<Record<string, string>> = {
  '-1000': 'mainnet: TVM code; the number by which a vote replaces the code of the configuration contract',
  '-999': 'mainnet and testnet: 256 bits; the number by which a vote replaces the key of the configuration contract',
  '-236': 'testnet: 307 bits, among them an address',
  '-137': 'testnet: 16 zero bits',
  '-90': 'mainnet: 264 bits and a tree of cells with addresses',
  '-80': 'testnet: a dictionary',
  '-79': 'testnet: the cell that once stood under 79 as well',
  '-71': 'mainnet: oracle_bridge_params without external_chain_address',
  '-41': 'testnet: a dictionary',
};

/** Parameters whose cell is not of the form that the schema gives their number: file, number, error. */
const MISFITS: readonly string[] = [
  // Testnet had its token bridge there before the form got its tag.
  'config_proof_4324374.boc 79 tlb/constructor-tag',
];

/** Codecs of the values that stand in cells of their own, to write them again. */
const IN_CELLS: Readonly<Record<string, Codec<never>>> = {
  ConfigProposalSetup: ConfigProposalSetup as Codec<unknown> as Codec<never>,
  JettonBridgePrices: JettonBridgePrices as Codec<unknown> as Codec<never>,
  NewConsensusConfig: NewConsensusConfig as Codec<unknown> as Codec<never>,
};

/** The same value with each dictionary built from its entries and each cell made from its value. */
function rebuilt(value: unknown): unknown {
  if (value instanceof Dictionary) {
    let fresh: Dictionary<unknown, unknown> = value;
    const entries = [...(value as Dictionary<unknown, unknown>)];
    for (const [key] of entries) fresh = fresh.delete(key);
    expect(fresh.root).toBeNull();
    for (const [key, part] of entries) fresh = fresh.set(key, rebuilt(part));
    return fresh;
  }
  if (value instanceof Lazy) {
    const codec = IN_CELLS[value.type];
    if (codec === undefined) throw new TypeError(`no codec for ${value.type}`);
    return Lazy.ofValue(codec, rebuilt(value.value) as never);
  }
  const whole = typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype;
  if (whole) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, rebuilt(part)]));
}

interface Tally {
  configurations: number;
  /** Distinct cells of parameters, by number. */
  readonly cells: Map<number, Set<string>>;
  pruned: number;
  readonly misfits: string[];
}

function newTally(): Tally {
  return { configurations: 0, cells: new Map(), pruned: 0, misfits: [] };
}

/** Decodes each parameter whole, nothing left over, and makes its cell again. */
function checkAll(configurations: Iterable<NamedConfiguration>, tally: Tally): void {
  for (const { name, config } of configurations) {
    tally.configurations++;
    for (const [index, cell] of config.entries({ pruned: 'skip' })) {
      if (cell.type === CellType.prunedBranch) {
        tally.pruned++;
        continue;
      }
      const hash = toHex(cell.hash());
      const seen = tally.cells.get(index) ?? new Set();
      if (seen.has(hash)) continue;
      tally.cells.set(index, seen.add(hash));
      try {
        checkParam(name, index, cell);
      } catch (error) {
        if (!isTernError(error)) throw error;
        tally.misfits.push(`${name} ${index} ${error.code}`);
      }
    }
  }
}

function checkParam(name: string, index: number, cell: Cell): void {
  const { value } = decodeConfigParam(index, cell);
  if (!isConfigParamIndex(index)) {
    expect(value).toBe(cell);
    return;
  }
  const again = encodeConfigParam(index, rebuilt(value) as never);
  expect(toHex(again.hash()), `${name}: parameter ${index}`).toBe(toHex(cell.hash()));
}

/** @param unseen parameters that tongo's JSON does not show */
function compare(config: ConfigDictionary, json: string, unseen: readonly number[]): void {
  const expected = readTongoConfig(json);
  const found = new Map<number, Plain>();
  for (const [index, cell] of config) {
    if (!unseen.includes(index)) found.set(index, plainConfig(decodeConfigParam(index, cell).value));
  }
  expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
  for (const [index, value] of expected) {
    const raw = index < 0 ? toHex(parseBocRoot(new Uint8Array(Buffer.from(value as string, 'hex'))).hash()) : value;
    expect(found.get(index), `parameter ${index}`).toEqual(raw);
  }
}

describe('parameters of real configurations', () => {
  it('decodes and makes again those of the zerostate and of a block of 2026', () => {
    const tally = newTally();
    const modern = configDictionary(parseBocRoot(readFileSync(vectorPath('config/mainnet-65466080.boc'))));
    checkAll(chainConfigurations(vectorPath('mainnet-genesis')), tally);
    checkAll([{ name: 'modern', config: modern }], tally);
    expect(tally.configurations).toBe(2);
    expect(tally.misfits).toEqual([]);
    expect([...tally.cells.keys()].filter((index) => !isConfigParamIndex(index)).sort()).toEqual([
      -1000, -71, -90, -999,
    ]);
    expect(toHex(modern.root!.hash())).toBe('9b2944532b2a08f9574bd4c6db825b033cc5ae77803f7c5a8eba38f22851e76d');
  });

  it('finds the values that tongo finds', () => {
    const config = configDictionary(parseBocRoot(readFileSync(vectorPath('config/mainnet-65466080.boc'))));
    compare(config, readFileSync(vectorPath('config/mainnet-65466080.json'), 'utf8'), [19, 34, -90, -1000]);
  });
});

const genesis = vectorPath('collection/mainnet-genesis');
const recorded = vectorPath('collection/recorded-net/chain');
const blocks = vectorPath('collection/mainnet-blocks');
const proofs = vectorPath('collection/mainnet-proofs');
const configs = vectorPath('collection/configs');
const whole = vectorPath('collection/accounts/configs.json');

describe('the same, on the collection of real data', () => {
  it('decodes and makes again all of them; without a form are just the known ones', () => {
    const tally = newTally();
    checkAll(chainConfigurations(genesis), tally);
    checkAll(chainConfigurations(recorded), tally);
    checkAll(blockConfigurations(blocks), tally);
    checkAll(blockConfigurations(proofs), tally);
    checkAll(proofConfigurations(configs), tally);
    checkAll(wholeConfigurations(whole), tally);
    const raw = [...tally.cells.keys()].filter((index) => !isConfigParamIndex(index));
    expect(tally.misfits).toEqual(MISFITS);
    expect(raw.map(String).sort()).toEqual(Object.keys(RAW).sort());
    const distinct = [...tally.cells.values()].reduce((sum, cells) => sum + cells.size, 0);
    expect({ configurations: tally.configurations, distinct, pruned: tally.pruned }).toEqual({
      configurations: 16,
      distinct: 135,
      pruned: 0,
    });
  });

  it.each([
    ['4324374', [19, 79, -41, -79, -80]],
    ['33651872', [19]],
    ['65466080', [19, -90, -1000]],
  ] as const)('finds the values that tongo finds in block %s', (seqno, unseen) => {
    const file = `config_proof_${seqno}.boc`;
    const found = [...proofConfigurations(configs)].find(({ name }) => name === file);
    compare(found!.config, readFileSync(`${configs}/config_${seqno}.json`, 'utf8'), unseen);
  });
});

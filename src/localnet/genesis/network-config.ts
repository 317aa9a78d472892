import type { Cell } from '#formats/cells/cell.js';
import { Lazy } from '#formats/tlb/codec/codec.js';
import { bytesKey, Dictionary, type DictionaryType, intKey, uintKey } from '#formats/tlb/codec/dictionary.js';
import { cellRef, uint32, unit } from '#formats/tlb/codec/primitives.js';
import {
  type ConfigDictionary,
  type ConfigParamIndex,
  type ConfigParamValue,
  configDictionary,
  configParam,
  encodeConfigParam,
} from '#formats/tlb/config/config-params.js';
import { type GasLimitsPrices, PrecompiledSmc, StoragePrices } from '#formats/tlb/config/limits-and-prices.js';
import { type GlobalVersion, WorkchainDescr } from '#formats/tlb/config/network.js';
import {
  ConfigProposalSetup,
  NewConsensusConfig,
  type NewConsensusConfigAll,
  ValidatorDescr,
  type ValidatorSet,
} from '#formats/tlb/config/validators.js';
import { ExtraCurrencyCollection } from '#formats/tlb/currency.js';
import { fromHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { forkErrors } from '#localnet/fork/errors.js';

/** The masterchain account of the config contract. */
export const CONFIG_ACCOUNT = new Uint8Array(32).fill(0x55);
/** The masterchain account of the elector, which collects all fees. */
export const ELECTOR_ACCOUNT = new Uint8Array(32).fill(0x33);

/** Global version: the highest that the emulator supports. */
const GLOBAL_VERSION = 13;

/**
 * Capabilities: block creation statistics (2), bodies of bounced messages (4), version in block headers (8), short
 * dequeue records (32), queue sizes in states (64). Not: message metadata (128), deferred messages (256).
 */
const CAPABILITIES = 2n | 4n | 8n | 32n | 64n;

/** Weight of the only validator. */
const VALIDATOR_WEIGHT = 17n;
/** Unix second until which it validates: the greatest, so that no election starts. */
const FOR_EVER = 0xffff_ffff;

/** Code that every network runs precompiled: a jetton wallet, for 1000 units of gas. */
const PRECOMPILED = '89468f02c78e570802e39979c8516fc38df07ea76a48357e0536f2ba7b3ee37b';

/** Parts of the configuration that differ between networks. */
export interface NetworkFacts {
  /** Unix seconds. */
  readonly now: number;
  /** Ed25519 key of the validator. */
  readonly validator: Uint8Array;
  /** The masterchain account that receives {@link TO_MINT}. */
  readonly minter: Uint8Array;
  readonly basechain: { readonly root_hash: Uint8Array; readonly file_hash: Uint8Array };
}

/** Extra currencies that the first block mints, by id: those of mainnet. */
const TO_MINT: readonly (readonly [number, bigint])[] = [
  [239, 666_666_666_666n],
  [0xffff_ffef, 1_000_000_000_000n],
];

const PARAMETERS: DictionaryType<number, Cell> = { key: intKey(32), value: cellRef };

/** Encodes parameter values as a configuration. */
function configOf(params: { readonly [I in ConfigParamIndex]?: ConfigParamValue<I> }): ConfigDictionary {
  const cells = Object.entries(params).map(([key, value]) => {
    const index = Number(key) as ConfigParamIndex;
    return [index, encodeConfigParam(index, value as ConfigParamValue<ConfigParamIndex>)] as const;
  });
  return Dictionary.of(PARAMETERS, cells);
}

/**
 * The configuration of a local network: prices, limits and voting as on mainnet, so that fees and gas are equal; one
 * validator; shards that split and merge within seconds. Parameters that refer to mainnet accounts (bridges, DNS,
 * suspended accounts) are omitted.
 */
export function localNetworkConfig(facts: NetworkFacts): ConfigDictionary {
  return configOf({
    0: CONFIG_ACCOUNT,
    1: ELECTOR_ACCOUNT,
    2: facts.minter,
    5: { blackhole_addr: new Uint8Array(32).fill(0xff), fee_burn_num: 1, fee_burn_denom: 2 },
    7: ExtraCurrencyCollection.of(TO_MINT),
    8: { version: GLOBAL_VERSION, capabilities: CAPABILITIES },
    9: numbers([0, 1, 9, 10, 12, 14, 15, 16, 17, 18, 20, 21, 22, 23, 24, 25, 28, 34]),
    10: numbers([0, 1, 9, 10, 12, 14, 15, 16, 17, 32, 34, 36, -1000, -1001]),
    11: votingSetup(),
    12: Dictionary.of({ key: intKey(32), value: WorkchainDescr }, [[0, basechain(facts)]]),
    13: { deposit: 1_000_000_000n, bit_price: 1n, cell_price: 500n },
    14: { masterchain_block_fee: 1_700_000_000n, basechain_block_fee: 1_000_000_000n },
    15: {
      validators_elected_for: 65536,
      elections_start_before: 32768,
      elections_end_before: 8192,
      stake_held_for: 32768,
    },
    16: { max_validators: 400, max_main_validators: 100, min_validators: 1 },
    17: {
      min_stake: 300_000_000_000_000n,
      max_stake: 10_000_000_000_000_000n,
      min_total_stake: 300_000_000_000_000n,
      max_stake_factor: 3 * 65536,
    },
    18: Dictionary.of({ key: uintKey(32), value: StoragePrices }, [
      [
        0,
        { utime_since: 0, bit_price_ps: 0n, cell_price_ps: 135n, mc_bit_price_ps: 1000n, mc_cell_price_ps: 500_000n },
      ],
    ]),
    20: gasPrices({ flat: 1_000_000n, price: 655_360_000n, specialLimit: 70_000_000n, blockLimit: 2_500_000n }),
    21: gasPrices({ flat: 6667n, price: 4_369_067n, specialLimit: 1_000_000n, blockLimit: 10_000_000n }),
    22: {
      kind: 'block_limits',
      bytes: { underload: 131_072, soft_limit: 524_288, hard_limit: 1_048_576 },
      gas: { underload: 200_000, soft_limit: 1_000_000, hard_limit: 2_500_000 },
      lt_delta: { underload: 1000, soft_limit: 5000, hard_limit: 10_000 },
    },
    23: {
      kind: 'block_limits',
      bytes: { underload: 262_144, soft_limit: 1_048_576, hard_limit: 2_097_152 },
      gas: { underload: 2_000_000, soft_limit: 10_000_000, hard_limit: 20_000_000 },
      lt_delta: { underload: 1000, soft_limit: 5000, hard_limit: 10_000 },
    },
    24: { ...FORWARDING, lump_price: 10_000_000n, bit_price: 655_360_000n, cell_price: 65_536_000_000n },
    25: { ...FORWARDING, lump_price: 66_667n, bit_price: 4_369_067n, cell_price: 436_906_667n },
    28: {
      kind: 'catchain_config_new',
      flags: 0,
      shuffle_mc_validators: true,
      mc_catchain_lifetime: 250,
      shard_catchain_lifetime: 250,
      shard_validators_lifetime: 1000,
      shard_validators_num: 1,
    },
    29: {
      kind: 'consensus_config_v4',
      flags: 0,
      use_quic: false,
      new_catchain_ids: true,
      round_candidates: 3,
      next_candidate_delay_ms: 2000,
      consensus_timeout_ms: 16_000,
      fast_attempts: 3,
      attempt_duration: 8,
      catchain_max_deps: 4,
      max_block_bytes: 2_097_152,
      max_collated_bytes: 2_097_152,
      proto_version: 5,
      catchain_max_blocks_coeff: 10_000,
    },
    30: consensus(),
    31: Dictionary.of({ key: bytesKey(32), value: unit }, [
      [CONFIG_ACCOUNT, true],
      [ELECTOR_ACCOUNT, true],
      [facts.minter, true],
    ]),
    34: singleValidator(facts.validator, facts.now),
    45: {
      list: Dictionary.of({ key: bytesKey(32), value: PrecompiledSmc }, [
        [fromHex(PRECOMPILED) as Uint8Array, { gas_usage: 1000n }],
      ]),
    },
  });
}

function numbers(params: readonly number[]): Dictionary<number, true> {
  return Dictionary.of(
    { key: intKey(32), value: unit },
    params.map((param) => [param, true] as const),
  );
}

function votingSetup(): ConfigParamValue<11> {
  return {
    normal_params: Lazy.ofValue(ConfigProposalSetup, {
      min_tot_rounds: 2,
      max_tot_rounds: 6,
      min_wins: 2,
      max_losses: 5,
      min_store_sec: 1_000_000,
      max_store_sec: 10_000_000,
      bit_price: 1,
      cell_price: 500,
    }),
    critical_params: Lazy.ofValue(ConfigProposalSetup, {
      min_tot_rounds: 4,
      max_tot_rounds: 7,
      min_wins: 3,
      max_losses: 5,
      min_store_sec: 5_000_000,
      max_store_sec: 20_000_000,
      bit_price: 2,
      cell_price: 1000,
    }),
  };
}

/**
 * Seconds: a split or merge is scheduled one second ahead and stays possible for a minute, so that blocks produced on
 * demand do not miss it.
 */
const QUICK_TIMINGS = {
  split_merge_delay: 1,
  split_merge_interval: 60,
  min_split_merge_interval: 1,
  max_split_merge_delay: 1000,
};

function basechain({ now, basechain: { root_hash, file_hash } }: NetworkFacts): WorkchainDescr {
  return {
    kind: 'workchain_v2',
    enabled_since: now,
    monitor_min_split: 0,
    min_split: 0,
    max_split: 4,
    basic: true,
    active: true,
    accept_msgs: true,
    flags: 0,
    zerostate_root_hash: root_hash,
    zerostate_file_hash: file_hash,
    version: 0,
    format: { kind: 'wfmt_basic', vm_version: -1, vm_mode: 0n },
    split_merge_timings: QUICK_TIMINGS,
    persistent_state_split_depth: 0,
  };
}

function gasPrices(of: {
  readonly flat: bigint;
  readonly price: bigint;
  readonly specialLimit: bigint;
  readonly blockLimit: bigint;
}): GasLimitsPrices {
  return {
    kind: 'gas_flat_pfx',
    flat_gas_limit: 100n,
    flat_gas_price: of.flat,
    other: {
      kind: 'gas_prices_ext',
      gas_price: of.price,
      gas_limit: 1_000_000n,
      special_gas_limit: of.specialLimit,
      gas_credit: 10_000n,
      block_gas_limit: of.blockLimit,
      freeze_due_limit: 100_000_000n,
      delete_due_limit: 1_000_000_000n,
    },
  };
}

const FORWARDING = { ihr_price_factor: 98_304, first_frac: 21_845, next_frac: 21_845 };

/** Milliseconds by parameter: 0 between blocks, 1 until the first block of a window, 13 for late candidates. */
const SIMPLEX_TIMINGS: readonly (readonly [number, number])[] = [
  [0, 400],
  [1, 700],
  [13, 300],
];

function consensus(): NewConsensusConfigAll {
  const simplex = Lazy.ofValue(NewConsensusConfig, {
    kind: 'simplex_config_v2',
    flags: 0,
    protocol_version: 0,
    use_quic: false,
    slots_per_leader_window: 4,
    noncritical_params: Dictionary.of({ key: uintKey(8), value: uint32 }, SIMPLEX_TIMINGS),
  });
  return { mc: simplex, shard: simplex };
}

/** A validator set with one validator. */
function singleValidator(publicKey: Uint8Array, since: number): ValidatorSet {
  const only: ValidatorDescr = { kind: 'validator', public_key: { pubkey: publicKey }, weight: VALIDATOR_WEIGHT };
  return {
    kind: 'validators_ext',
    utime_since: since,
    utime_until: FOR_EVER,
    total: 1,
    main: 1,
    total_weight: VALIDATOR_WEIGHT,
    list: Dictionary.of({ key: uintKey(16), value: ValidatorDescr }, [[0, only]]),
  };
}

/**
 * Parameters that a fork never takes over: config contract (0), elector (1), minter (2) and what it mints (7), the
 * workchain with its zerostate and split timings (12), consensus of the only validator (28 to 30), and its validator
 * set (34).
 */
const OURS: readonly number[] = [0, 1, 2, 7, 12, 28, 29, 30, 34];

/** Fee collector (3), since fees go to the local elector; previous, next and temporary validators, and their keys. */
const DROPPED: readonly number[] = [3, 32, 33, 35, 36, 37, 39];

/** Required for producing blocks. */
const NEEDED: readonly number[] = [14, 18, 20, 21, 22, 23, 24, 25];

/** Whether bounced messages have a body: the only capability that contracts observe. */
const BOUNCE_BODY = 4n;

/**
 * The configuration of a fork: that of the forked network (prices, limits, DNS, bridges, everything that contracts
 * observe), except for parameters that the local network sets itself.
 *
 * Global version and capabilities are local: they must match the emulator and the producer.
 *
 * @param theirs root of the forked network's complete configuration (`Hashmap 32 ^Cell`)
 * @param ours root of the configuration that the local network would have if it were not a fork
 * @throws fork/bad-config
 */
export function forkConfig(theirs: Cell, ours: Cell): Cell {
  try {
    return merged(configDictionary(theirs), configDictionary(ours)).root!;
  } catch (error) {
    if (!isTernError(error) || error.code === forkErrors['bad-config'].code) throw error;
    throw forkErrors['bad-config']({ problem: error.message }, error);
  }
}

function merged(theirs: ConfigDictionary, ours: ConfigDictionary): ConfigDictionary {
  for (const index of NEEDED) {
    if (configParam(theirs, index as 14) === undefined) {
      throw forkErrors['bad-config']({ problem: `it has no parameter ${index}, which every block needs` });
    }
  }
  let config = theirs;
  for (const index of DROPPED) config = config.delete(index);
  for (const index of OURS) {
    const cell = ours.get(index);
    config = cell === undefined ? config.delete(index) : config.set(index, cell);
  }
  return config
    .set(8, encodeConfigParam(8, rules(configParam(theirs, 8), configParam(ours, 8)!)))
    .set(31, encodeConfigParam(31, specialAccounts(theirs, ours)));
}

function rules(theirs: GlobalVersion | undefined, { version, capabilities }: GlobalVersion): GlobalVersion {
  const bounced = (theirs?.capabilities ?? 0n) & BOUNCE_BODY;
  return { version, capabilities: (capabilities & ~BOUNCE_BODY) | bounced };
}

/** The special accounts of both networks: those of the forked network may be imported. */
function specialAccounts(theirs: ConfigDictionary, ours: ConfigDictionary) {
  let accounts = configParam(theirs, 31) ?? configParam(ours, 31)!;
  for (const [account, mark] of configParam(ours, 31) ?? []) accounts = accounts.set(account, mark);
  return accounts;
}

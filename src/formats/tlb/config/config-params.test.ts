import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell, encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import {
  CONFIG_PARAMS,
  type ConfigParamIndex,
  ConfigParams,
  type ConfigParamValue,
  configDictionary,
  configParam,
  decodeConfigParam,
  encodeConfigParam,
} from '#formats/tlb/config/config-params.js';
import {
  ConfigProposal,
  ConfigProposalSetup,
  ConfigProposalStatus,
  NewConsensusConfig,
} from '#formats/tlb/config/validators.js';
import { toHex } from '#kernel/bytes.js';
import { errorOf } from '#test/support/error-code.js';

const hash = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

/** A cell of these bits: numbers as `value:bits`, and references. */
function cell(bits: string, ...refs: readonly Cell[]): Cell {
  const builder = new Builder();
  for (const part of bits.split(' ')) {
    const [value, size] = part.split(':') as [string, string];
    builder.storeUint(BigInt(value), Number(size));
  }
  for (const each of refs) builder.storeRef(each);
  return builder.endCell();
}

const leaf = cell('0:1');
const dict32 = (key: number, value: string): string => `2:2 32:6 ${key}:32 ${value}`;

/** Cells of parameters that break a rule: what is wrong, number, cell, code, path below the parameter. */
const invalid: readonly (readonly [string, ConfigParamIndex, Cell, string, string])[] = [
  ['an address of 255 bits', 0, cell('1:255'), 'cells/slice-underflow', ''],
  ['an address of 257 bits', 1, cell('1:257'), 'cells/slice-not-empty', ''],
  ['burns more than all', 5, cell('1:8 0:1 3:32 2:32'), 'tlb/constraint', 'fee_burn_denom'],
  ['burns 0/0', 5, cell('1:8 0:1 0:32 0:32'), 'tlb/constraint', 'fee_burn_denom'],
  ['version with another tag', 8, cell('0xc5:8 1:32 1:64'), 'tlb/constructor-tag', ''],
  ['version too short', 8, cell('0xc4:8 1:32 1:63'), 'cells/slice-underflow', 'capabilities'],
  ['mandatory parameters of none', 9, cell('0:1'), 'cells/slice-underflow', ''],
  ['more than nothing at a mandatory parameter', 9, cell(dict32(9, '1:1')), 'cells/slice-not-empty', ''],
  ['voting setup with one part', 11, cell('0x91:8', leaf), 'cells/slice-no-reference', 'critical_params'],
  ['complaint prices too long', 13, cell('0x1a:8 0:4 0:4 0:4 0:1'), 'cells/slice-not-empty', ''],
  ['more in the masterchain than validators', 16, cell('9:16 10:16 1:16'), 'tlb/constraint', 'max_main_validators'],
  ['fewer in the masterchain than the fewest', 16, cell('9:16 8:16 9:16'), 'tlb/constraint', 'min_validators'],
  ['no validator at least', 16, cell('9:16 8:16 0:16'), 'tlb/constraint', 'min_validators'],
  ['an amount with a leading zero byte', 17, cell('1:4 0:8 0:4 0:4 1:32'), 'tlb/constraint', 'min_stake'],
  [
    'storage prices with another tag',
    18,
    cell(dict32(0, '0xcd:8 0:32 0:64 0:64 0:64 0:64')),
    'tlb/constructor-tag',
    '',
  ],
  ['gas prices of an unknown form', 20, cell('0xdf:8 0:64'), 'tlb/constructor-tag', ''],
  ['flat gas price around nothing', 21, cell('0xd1:8 1:64 1:64'), 'tlb/constructor-tag', 'other'],
  ['soft limit below', 22, cell('0x5d:8 0xc3:8 2:32 1:32 3:32'), 'tlb/constraint', 'bytes.soft_limit'],
  ['hard limit below', 23, cell('0x5d:8 0xc3:8 1:32 3:32 2:32'), 'tlb/constraint', 'bytes.hard_limit'],
  ['session settings with flags', 28, cell('0xc2:8 1:7 0:1 1:32 1:32 1:32 1:32'), 'tlb/constraint', 'flags'],
  ['sessions of no validators', 28, cell('0xc1:8 1:32 1:32 1:32 0:32'), 'tlb/constraint', 'shard_validators_num'],
  ['sessions of no time', 28, cell('0xc1:8 0:32 1:32 1:32 1:32'), 'tlb/constraint', 'mc_catchain_lifetime'],
  ['no candidates', 29, cell('0xd7:8 0:7 0:1 0:8'), 'tlb/constraint', 'round_candidates'],
  ['consensus with flags', 29, cell('0xd9:8 1:6 0:2 1:8'), 'tlb/constraint', 'flags'],
  ['new consensus with another tag', 30, cell('0x11:8 0:2'), 'tlb/constructor-tag', ''],
  ['validator set of an unknown form', 34, cell('0x13:8 1:32 2:32 1:16 1:16'), 'tlb/constructor-tag', ''],
  ['more main validators than all', 34, cell('0x12:8 1:32 2:32 1:16 2:16 1:64 0:1'), 'tlb/constraint', 'main'],
  ['no main validators', 36, cell('0x12:8 1:32 2:32 1:16 0:16 1:64 0:1'), 'tlb/constraint', 'main'],
  ['no main validators, older form', 32, cell('0x11:8 1:32 2:32 1:16 0:16 0:8'), 'tlb/constraint', 'main'],
  ['size limits of an unknown form', 43, cell('4:8 0:32'), 'tlb/constructor-tag', ''],
  [
    'size limits that end early',
    43,
    cell('2:8 0:32 0:32 0:32 0:16 0:32 0:16'),
    'cells/slice-underflow',
    'max_acc_state_cells',
  ],
  ['token bridge of an unknown form', 79, cell('2:8'), 'tlb/constructor-tag', ''],
];

describe('parameters that break a rule', () => {
  it.each(invalid)('%s (%i) is refused', (_, index, damaged, code, path) => {
    const error = errorOf(() => walked(decodeConfigParam(index, damaged).value));
    expect([error.code, error.path]).toEqual([
      code,
      [CONFIG_PARAMS[index].name, path].filter((p) => p !== '').join('.'),
    ]);
  });

  it('does not write them either', () => {
    const counts = { max_validators: 9, max_main_validators: 10, min_validators: 1 };
    expect(errorOf(() => encodeConfigParam(16, counts)).path).toBe('max_main_validators');
    const burning = { blackhole_addr: null, fee_burn_num: 0, fee_burn_denom: 0 };
    expect(errorOf(() => encodeConfigParam(5, burning)).code).toBe('tlb/constraint');
  });

  it.each([
    ['split deeper than 60', [0, 0, 61], 'max_split'],
    ['more monitored than there are', [2, 1, 3], 'min_split'],
    ['at most less than at least', [0, 3, 2], 'max_split'],
  ] as const)('a workchain that is %s is refused', (_, [monitor, min, max], field) => {
    const bits = `2:2 32:6 0:32 0xa6:8 0:32 ${monitor}:8 ${min}:8 ${max}:8 1:1 1:1 1:1 0:13 0:256 0:256 0:32 1:4 0:32 0:64`;
    const error = errorOf(() => walked(decodeConfigParam(12, cell('1:1', cell(bits))).value));
    expect([error.code, error.path]).toEqual(['tlb/constraint', `[00000000].${field}`]);
  });

  it.each([
    ['short addresses', '63:12 100:12 1:12 1:32', 'min_addr_len'],
    ['longest address below the shortest', '100:12 99:12 1:12 1:32', 'max_addr_len'],
    ['addresses that fill more than a cell', '100:12 1024:12 1:12 1:32', 'max_addr_len'],
    ['too big a step', '100:12 1023:12 1024:12 1:32', 'addr_len_step'],
    ['no type', '100:12 1023:12 1:12 0:32', 'workchain_type_id'],
  ])('a workchain format with %s is refused', (_, format, field) => {
    const bits = `2:2 32:6 0:32 0xa6:8 0:32 0:8 0:8 0:8 0:1 1:1 1:1 0:13 0:256 0:256 0:32 0:4 ${format}`;
    const error = errorOf(() => walked(decodeConfigParam(12, cell('1:1', cell(bits))).value));
    expect([error.code, error.path]).toEqual(['tlb/constraint', `[00000000].format.${field}`]);
  });

  it('a basic workchain with the extended format is refused', () => {
    const bits = '2:2 32:6 0:32 0xa6:8 0:32 0:8 0:8 0:8 1:1 1:1 1:1 0:13 0:256 0:256 0:32 0:4 100:12 100:12 1:12 1:32';
    const error = errorOf(() => walked(decodeConfigParam(12, cell('1:1', cell(bits))).value));
    expect([error.code, error.path]).toEqual(['tlb/constructor-tag', '[00000000].format']);
  });

  it.each([
    ['rounds', '0x36:8 3:8 2:8 0:8 0:8 1:32 1:32 0:32 0:32', 'max_tot_rounds'],
    ['storage times', '0x36:8 2:8 3:8 0:8 0:8 2:32 1:32 0:32 0:32', 'max_store_sec'],
  ])('a voting setup with %s the wrong way round is refused', (_, bits, field) => {
    const setup = decodeConfigParam(11, cell('0x91:8', cell(bits), leaf)).value as ConfigParamValue<11>;
    const error = errorOf(() => setup.normal_params.value);
    expect([error.code, error.path]).toEqual(['tlb/constraint', field]);
  });

  it('a simplex leader without slots is refused', () => {
    const all = decodeConfigParam(30, cell('0x10:8 1:1 0:1', cell('0x22:8 0:7 1:1 0:32 0:1')))
      .value as ConfigParamValue<30>;
    const error = errorOf(() => all.mc!.value);
    expect([error.code, error.path]).toEqual(['tlb/constraint', 'slots_per_leader_window']);
  });
});

/** Reads the entries of a value that is a dictionary. */
function walked(value: unknown): unknown {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
    ? [...(value as Iterable<unknown>)]
    : value;
}

const sizes = {
  max_msg_bits: 1,
  max_msg_cells: 2,
  max_library_cells: 3,
  max_vm_data_depth: 4,
  max_ext_msg_size: 5,
  max_ext_msg_depth: 6,
};
const moreSizes = {
  max_acc_state_cells: 7,
  max_mc_acc_state_cells: 8,
  max_acc_public_libraries: 9,
  defer_out_queue_size_limit: 10,
  max_msg_extra_currencies: 11,
  max_acc_fixed_prefix_length: 12,
  acc_state_cells_for_storage_dict: 13,
};
const sizeBits = '1:32 2:32 3:32 4:16 5:32 6:16';
const moreSizeBits = '7:32 8:32 9:32 10:32 11:32 12:8 13:32';
const limits = { underload: 1, soft_limit: 2, hard_limit: 3 };
const limitBits = '0xc3:8 1:32 2:32 3:32';

function row<I extends ConfigParamIndex>(what: string, index: I, value: ConfigParamValue<I>, written: Cell) {
  return [what, index, value, written] as const;
}

describe('parameters in forms that the collection of real data does not have', () => {
  it.each([
    row('fee collector', 3, hash(0), cell('0:256')),
    row('no black hole', 5, { blackhole_addr: null, fee_burn_num: 0, fee_burn_denom: 1 }, cell('1:8 0:1 0:32 1:32')),
    row('mint prices', 6, { mint_new_price: 10n ** 9n, mint_add_price: 0n }, cell('4:4 1000000000:32 0:4')),
    row('global id', 19, -239, cell('0xffffff11:32')),
    row(
      'block limits',
      23,
      {
        kind: 'block_limits_v2',
        bytes: limits,
        gas: limits,
        lt_delta: limits,
        collated_data: limits,
        imported_msg_queue: { max_bytes: 4, max_msgs: 5 },
      },
      cell(`0x5e:8 ${limitBits} ${limitBits} ${limitBits} ${limitBits} 0xd3:8 4:32 5:32`),
    ),
    row(
      'gas prices without an account of special contracts',
      21,
      {
        kind: 'gas_prices',
        gas_price: 1n,
        gas_limit: 2n,
        gas_credit: 3n,
        block_gas_limit: 4n,
        freeze_due_limit: 5n,
        delete_due_limit: 6n,
      },
      cell('0xdd:8 1:64 2:64 3:64 4:64 5:64 6:64'),
    ),
    row(
      'session settings of the first form',
      28,
      {
        kind: 'catchain_config',
        mc_catchain_lifetime: 1,
        shard_catchain_lifetime: 2,
        shard_validators_lifetime: 3,
        shard_validators_num: 4,
      },
      cell('0xc1:8 1:32 2:32 3:32 4:32'),
    ),
    row(
      'consensus over QUIC',
      29,
      {
        kind: 'consensus_config_v4',
        flags: 0,
        use_quic: true,
        new_catchain_ids: false,
        round_candidates: 3,
        next_candidate_delay_ms: 1,
        consensus_timeout_ms: 2,
        fast_attempts: 3,
        attempt_duration: 4,
        catchain_max_deps: 5,
        max_block_bytes: 6,
        max_collated_bytes: 7,
        proto_version: 8,
        catchain_max_blocks_coeff: 9,
      },
      cell('0xd9:8 2:8 3:8 1:32 2:32 3:32 4:32 5:32 6:32 7:32 8:16 9:32'),
    ),
    row(
      'fines',
      40,
      {
        default_flat_fine: 101n,
        default_proportional_fine: 1,
        severity_flat_mult: 2,
        severity_proportional_mult: 3,
        unpunishable_interval: 4,
        long_interval: 5,
        long_flat_mult: 6,
        long_proportional_mult: 7,
        medium_interval: 8,
        medium_flat_mult: 9,
        medium_proportional_mult: 10,
      },
      cell('1:8 1:4 101:8 1:32 2:16 3:16 4:16 5:16 6:16 7:16 8:16 9:16 10:16'),
    ),
    row('size limits', 43, { kind: 'size_limits_config', ...sizes }, cell(`1:8 ${sizeBits}`)),
    row(
      'size limits, second form',
      43,
      { kind: 'size_limits_config_v2', ...sizes, ...moreSizes, max_transaction_library_loads: null },
      cell(`2:8 ${sizeBits} ${moreSizeBits} 0:1`),
    ),
    row(
      'size limits, third form',
      43,
      {
        kind: 'size_limits_config_v3',
        ...sizes,
        ...moreSizes,
        max_transaction_library_loads: 14,
        max_total_msg_bits: 15,
        max_total_msg_cells: 16,
      },
      cell(`3:8 ${sizeBits} ${moreSizeBits} 1:1 14:32 15:32 16:32`),
    ),
  ])('%s (%i) is read and written', (_, index, value, written) => {
    expect(toHex(encodeConfigParam(index, value as never).hash())).toBe(toHex(written.hash()));
    expect(decodeConfigParam(index, written).value).toEqual(value);
  });

  it('simplex settings of the first form', () => {
    const simplex = {
      kind: 'simplex_config',
      flags: 0,
      use_quic: true,
      target_rate_ms: 1,
      slots_per_leader_window: 2,
      first_block_timeout_ms: 3,
      max_leader_window_desync: 4,
    } as const;
    const written = cell('0x10:8 0:1 1:1', cell('0x21:8 1:8 1:32 2:32 3:32 4:32'));
    const value = { mc: null, shard: Lazy.ofValue(NewConsensusConfig, simplex) };
    expect(toHex(encodeConfigParam(30, value).hash())).toBe(toHex(written.hash()));
    expect((decodeConfigParam(30, written).value as ConfigParamValue<30>).shard!.value).toEqual(simplex);
  });

  it('a workchain with another machine', () => {
    const bits = '2:2 32:6 7:32 0xa7:8 1:32 0:8 1:8 2:8 0:1 1:1 0:1 0:13 0:256 0:256 3:32 0:4 64:12 1023:12 1:12 5:32';
    const written = cell('1:1', cell(`${bits} 0:4 1:32 2:32 3:32 4:32 63:8`));
    const workchains = decodeConfigParam(12, written).value as ConfigParamValue<12>;
    expect(workchains.get(7)).toEqual({
      kind: 'workchain_v2',
      enabled_since: 1,
      monitor_min_split: 0,
      min_split: 1,
      max_split: 2,
      basic: false,
      active: true,
      accept_msgs: false,
      flags: 0,
      zerostate_root_hash: hash(0),
      zerostate_file_hash: hash(0),
      version: 3,
      format: { kind: 'wfmt_ext', min_addr_len: 64, max_addr_len: 1023, addr_len_step: 1, workchain_type_id: 5 },
      split_merge_timings: {
        split_merge_delay: 1,
        split_merge_interval: 2,
        min_split_merge_interval: 3,
        max_split_merge_delay: 4,
      },
      persistent_state_split_depth: 63,
    });
    expect(toHex(encodeConfigParam(12, workchains.set(7, workchains.get(7)!)).hash())).toBe(toHex(written.hash()));
  });

  it('temporary keys, signed with permanent ones', () => {
    const temporary = cell('3:4 1:256 0x8e81278a:32 2:256 3:32 4:32');
    const written = cell('1:1', cell('2:2 256:9 1:256 4:4 5:4 6:256 7:256', temporary));
    const keys = decodeConfigParam(39, written).value as ConfigParamValue<39>;
    const key = hash(0).fill(1, 31);
    const signed = keys.get(key)!;
    expect(signed.key.value).toMatchObject({ seqno: 3, valid_until: 4 });
    expect(signed.signature).toMatchObject({ kind: 'ed25519_signature' });
    expect(toHex(encodeConfigParam(39, keys.set(key, signed)).hash())).toBe(toHex(written.hash()));
  });

  it('suspended addresses, by address', () => {
    const list = decodeConfigParam(44, cell('0:8 1:1 99:32', cell('2:2 288:9 0xffffffff:32 1:256'))).value;
    const { addresses, suspended_until } = list as ConfigParamValue<44>;
    expect(suspended_until).toBe(99);
    expect([...addresses].map(([address]) => address.toRaw())).toEqual([`-1:${'0'.repeat(63)}1`]);
    expect(addresses.has(Address.ofParts(-1, hash(1)))).toBe(false);
  });

  it('proposals in the configuration contract', () => {
    const proposal = cell('0xf3:8 0xffffffff:32 1:1 1:1 5:256', leaf);
    const written = cell('0xce:8 1:32 1:1 0:1 0xffffffffffffffff:64 7:256 1:8 2:8 3:8', proposal);
    const status = decodeCell(ConfigProposalStatus, written);
    expect(status).toMatchObject({
      expires: 1,
      is_critical: true,
      remaining_weight: -1n,
      rounds_remaining: 1,
      losses: 3,
    });
    expect(status.proposal.value.param_id).toBe(-1);
    expect(toHex(encodeCell(ConfigProposalStatus, status).hash())).toBe(toHex(written.hash()));
    expect(toHex(encodeCell(ConfigProposal, status.proposal.value).hash())).toBe(toHex(proposal.hash()));
    expect(errorOf(() => decodeCell(ConfigProposalSetup, leaf)).code).toBe('cells/slice-underflow');
  });
});

describe('a configuration', () => {
  const config = configDictionary(cell('2:2 32:6 19:32', cell('5:32')))
    .set(-1, leaf)
    .set(100, leaf);

  it('is asked by number; what it does not have is undefined', () => {
    expect(configParam(config, 19)).toBe(5);
    expect(configParam(config, 8)).toBeUndefined();
  });

  it('gives cells for numbers without a form', () => {
    for (const [index, each] of config) {
      const decoded = decodeConfigParam(index, each);
      if (index !== 19) expect(decoded).toEqual({ index, name: null, value: leaf });
      else expect(decoded).toEqual({ index, name: 'global_id', value: 5 });
    }
    expect([...config].length).toBe(3);
  });

  it('stands behind the address of its contract', () => {
    const params = { config_addr: hash(5), config };
    const again = decodeCell(ConfigParams, encodeCell(ConfigParams, params));
    expect(again.config_addr).toEqual(hash(5));
    expect(configParam(again.config, 19)).toBe(5);
  });

  it('says in its table under which number the schema has each form', () => {
    for (const [index, { schema, name }] of Object.entries(CONFIG_PARAMS)) {
      expect(schema).toMatch(new RegExp(`= ConfigParam ${index};$`));
      const field = /^\S+ (?:(\w+):)?\S+ = /.exec(schema)?.[1];
      if (field !== undefined && !schema.includes(':Grams')) expect(name).toBe(field);
    }
  });
});

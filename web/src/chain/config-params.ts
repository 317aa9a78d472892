import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { toHex } from '#kernel/bytes.js';
import { hashmapEntries } from '../chain/hashmap.js';

/** A field of a parameter as it is shown. */
export interface ConfigField {
  readonly name: string;
  readonly kind: 'number' | 'coins' | 'time' | 'seconds' | 'bits' | 'account' | 'flag';
  readonly value: bigint | string | boolean;
}

/** What a parameter of the configuration is about, and how it is laid out: constructors of block.tlb with plain fields. */
interface ParamType {
  readonly title: string;
  readonly lines: readonly string[];
}

const GAS = [
  'gas_flat_pfx#d1 flat_gas_limit:uint64 flat_gas_price:uint64 other:GasLimitsPrices',
  'gas_prices_ext#de gas_price:uint64 gas_limit:uint64 special_gas_limit:uint64 gas_credit:uint64 block_gas_limit:uint64 freeze_due_limit:uint64 delete_due_limit:uint64',
  'gas_prices#dd gas_price:uint64 gas_limit:uint64 gas_credit:uint64 block_gas_limit:uint64 freeze_due_limit:uint64 delete_due_limit:uint64',
];
const FORWARD = [
  'msg_forward_prices#ea lump_price:uint64 bit_price:uint64 cell_price:uint64 ihr_price_factor:uint32 first_frac:uint16 next_frac:uint16',
];

const PARAMS: Readonly<Record<number, ParamType>> = {
  0: { title: 'Address of the configuration contract', lines: ['_ config:account'] },
  1: { title: 'Address of the elector', lines: ['_ elector:account'] },
  2: { title: 'Address of the minter', lines: ['_ minter:account'] },
  3: { title: 'Address of the fee collector', lines: ['_ fee_collector:account'] },
  4: { title: 'Address of the root of TON DNS', lines: ['_ dns_root:account'] },
  6: { title: 'Prices for minting extra currencies', lines: ['_ mint_new_price:Grams mint_add_price:Grams'] },
  8: { title: 'Version of the network', lines: ['capabilities#c4 version:uint32 capabilities:uint64'] },
  13: { title: 'Prices of complaints', lines: ['complaint_prices#1a deposit:Grams bit_price:Grams cell_price:Grams'] },
  14: {
    title: 'Rewards for blocks',
    lines: ['block_grams_created#6b masterchain_block_fee:Grams basechain_block_fee:Grams'],
  },
  15: {
    title: 'Timing of elections',
    lines: [
      '_ validators_elected_for:seconds elections_start_before:seconds elections_end_before:seconds stake_held_for:seconds',
    ],
  },
  16: {
    title: 'Number of validators',
    lines: ['_ max_validators:uint16 max_main_validators:uint16 min_validators:uint16'],
  },
  17: { title: 'Stakes', lines: ['_ min_stake:Grams max_stake:Grams min_total_stake:Grams max_stake_factor:uint32'] },
  20: { title: 'Gas in the masterchain', lines: GAS },
  21: { title: 'Gas in the basechain', lines: GAS },
  24: { title: 'Forward fees in the masterchain', lines: FORWARD },
  25: { title: 'Forward fees in the basechain', lines: FORWARD },
  28: {
    title: 'Catchain',
    lines: [
      'catchain_config_new#c2 flags:uint7 shuffle_mc_validators:Bool mc_catchain_lifetime:seconds shard_catchain_lifetime:seconds shard_validators_lifetime:seconds shard_validators_num:uint32',
      'catchain_config#c1 mc_catchain_lifetime:seconds shard_catchain_lifetime:seconds shard_validators_lifetime:seconds shard_validators_num:uint32',
    ],
  },
};

const TITLES: Readonly<Record<number, string>> = {
  5: 'Burning of fees',
  7: 'Extra currencies to mint',
  9: 'Mandatory parameters',
  10: 'Critical parameters',
  11: 'Voting on proposals',
  12: 'Workchains',
  18: 'Storage prices',
  22: 'Limits of masterchain blocks',
  23: 'Limits of basechain blocks',
  29: 'Consensus',
  30: 'New consensus',
  31: 'Special accounts',
  32: 'Previous validators',
  34: 'Current validators',
  36: 'Next validators',
  40: 'Fines for misbehaviour',
  43: 'Limits of sizes',
  44: 'Suspended addresses',
  45: 'Precompiled contracts',
  71: 'Bridge to Ethereum',
  72: 'Bridge to BNB Smart Chain',
  73: 'Bridge to Polygon',
  79: 'Bridge of tokens from Ethereum',
  81: 'Bridge of tokens from BNB Smart Chain',
  82: 'Bridge of tokens from Polygon',
};

/** A parameter of the configuration. */
export interface ConfigParam {
  readonly number: number;
  readonly title: string;
  /** Null: its layout is not known here, only its cell. */
  readonly fields: readonly ConfigField[] | null;
  readonly cell: Cell;
}

/** All parameters of a configuration. @param root the `Hashmap 32 ^Cell` that `getConfigAll` of API v2 answers with */
export function configParams(root: Cell): ConfigParam[] {
  return hashmapEntries(root, 32)
    .map(({ key, value }) => {
      const number = Number(BigInt.asIntN(32, key));
      const cell = value.loadRef();
      const type = PARAMS[number];
      const title = type?.title ?? TITLES[number] ?? '';
      return { number, title, cell, fields: type === undefined ? null : fieldsOf(type.lines, cell) };
    })
    .sort((a, b) => a.number - b.number);
}

function fieldsOf(lines: readonly string[], cell: Cell): ConfigField[] | null {
  try {
    return readConstructor(lines, openCell(cell));
  } catch {
    return null;
  }
}

/** Reads the first constructor whose tag fits. */
function readConstructor(lines: readonly string[], slice: Slice): ConfigField[] {
  for (const line of lines) {
    const [head = '', ...fields] = line.split(' ');
    const tag = /#([0-9a-f]+)$/.exec(head)?.[1];
    if (tag !== undefined && slice.preloadUint(tag.length * 4) !== Number.parseInt(tag, 16)) continue;
    if (tag !== undefined) slice.skip(tag.length * 4);
    return fields.flatMap((field) => {
      const [name = '', type = ''] = field.split(':');
      // A constructor that continues with another one of the same type.
      return type === 'GasLimitsPrices' ? readConstructor(lines, slice) : [readField(name, type, slice)];
    });
  }
  throw new TypeError('no constructor has this tag');
}

function readField(name: string, type: string, slice: Slice): ConfigField {
  switch (type) {
    case 'Grams':
      return { name, kind: 'coins', value: loadCoins(slice) };
    case 'Bool':
      return { name, kind: 'flag', value: slice.loadBit() };
    case 'seconds':
      return { name, kind: 'seconds', value: slice.loadUintBig(32) };
    case 'account':
      return { name, kind: 'account', value: `-1:${toHex(slice.loadBytes(32)).toUpperCase()}` };
    default:
      return { name, kind: 'number', value: slice.loadUintBig(Number(type.replace('uint', ''))) };
  }
}

function loadCoins(slice: Slice): bigint {
  const bytes = slice.loadUint(4);
  return bytes === 0 ? 0n : slice.loadUintBig(bytes * 8);
}

interface Validator {
  readonly index: number;
  /** Hex. */
  readonly publicKey: string;
  readonly weight: bigint;
  /** Hex; null in the older constructor. */
  readonly adnl: string | null;
}

export interface ValidatorSet {
  /** Unix seconds. */
  readonly since: number;
  readonly until: number;
  /** How many of them validate the masterchain. */
  readonly main: number;
  readonly validators: readonly Validator[];
  readonly totalWeight: bigint;
}

/**
 * A set of validators: parameters 32, 34 and 36.
 * `validators_ext#12 utime_since utime_until total:(## 16) main:(## 16) total_weight:uint64 list:(HashmapE 16 ValidatorDescr)`,
 * or `validators#11` without the weight and with a `Hashmap`.
 */
export function validatorSet(cell: Cell): ValidatorSet {
  const slice = openCell(cell);
  const isExtended = slice.loadUint(8) === 0x12;
  const since = slice.loadUint(32);
  const until = slice.loadUint(32);
  slice.skip(16);
  const main = slice.loadUint(16);
  if (isExtended) slice.skip(64);
  const root = isExtended && slice.loadBit() ? slice.loadRef() : cell;
  const validators = hashmapEntries(root, 16).map(({ key, value }) => {
    // validator#53, validator_addr#73; public_key: ed25519_pubkey#8e81278a
    const hasAdnl = value.loadUint(8) === 0x73;
    value.skip(32);
    const publicKey = toHex(value.loadBytes(32));
    const weight = value.loadUintBig(64);
    return { index: Number(key), publicKey, weight, adnl: hasAdnl ? toHex(value.loadBytes(32)) : null };
  });
  const totalWeight = validators.reduce((sum, { weight }) => sum + weight, 0n);
  return { since, until, main, validators, totalWeight };
}

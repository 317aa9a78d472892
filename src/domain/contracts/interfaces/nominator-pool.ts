import { contractInterface } from '#domain/contracts/contract-interface.js';
import { requireKnownCode } from '#domain/contracts/contract-view.js';
import { getMethod, MethodResult } from '#domain/contracts/get-method.js';
import { BASECHAIN, type NativeAccount, type NativeCode, nativeGetMethod } from '#domain/contracts/native-code.js';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { forEachEntry, lookup } from '#formats/cells/dict-read.js';
import { openCell } from '#formats/cells/slice.js';
import { grams } from '#formats/tlb/codec/primitives.js';

/** A nominator of a pool. Amounts in nanotons. */
interface Nominator {
  /** A wallet of the basechain. */
  readonly address: Address;
  readonly amount: bigint;
  /** Part of the stake from the next validation round on. */
  readonly pending_deposit_amount: bigint;
  readonly withdraw_requested: boolean;
}

/** Data of a nominator pool. Amounts in nanotons, times in unix seconds. */
interface NominatorPoolData {
  /** 0: no stake at the elector, 1: sent, 2: accepted. */
  readonly state: bigint;
  readonly nominators_count: bigint;
  readonly stake_amount_sent: bigint;
  readonly validator_amount: bigint;
  /** A wallet of the masterchain. */
  readonly validator_address: Address;
  /** Share of the reward for the validator, in parts of 10,000. */
  readonly validator_reward_share: bigint;
  readonly max_nominators_count: bigint;
  readonly min_validator_stake: bigint;
  readonly min_nominator_stake: bigint;
  readonly nominators: readonly Nominator[];
}

const MASTERCHAIN = -1;

/**
 * `(int state, int nominators_count, int stake_amount_sent, int validator_amount, int validator_address,
 * int validator_reward_share, int max_nominators_count, int min_validator_stake, int min_nominator_stake, cell nominators,
 * cell withdraw_requests, int stake_at, int saved_validator_set_hash, int validator_set_changes_count,
 * int validator_set_change_time, int stake_held_for, cell config_proposal_votings) get_pool_data()`
 */
export const getPoolData = getMethod('get_pool_data', (stack): NominatorPoolData => {
  const result = new MethodResult('get_pool_data', stack, 17);
  return {
    state: result.int64(),
    nominators_count: result.int64(),
    stake_amount_sent: result.int(),
    validator_amount: result.int(),
    validator_address: Address.ofParts(MASTERCHAIN, accountId(result.int())),
    validator_reward_share: result.int64(),
    max_nominators_count: result.int64(),
    min_validator_stake: result.int(),
    min_nominator_stake: result.int(),
    nominators: nominatorsOf(result.cellOrNull(), result.cellOrNull()),
  };
});

/** @throws cells/value-range */
function accountId(value: bigint): Uint8Array {
  return openCell(new Builder().storeUint(value, 256).endCell()).loadBytes(32);
}

/** A pool has at most 65,535 nominators. */
const NOMINATORS_LIMIT = 2 * 65_536;

/** `(Hashmap 256 [amount:Coins pending_deposit_amount:Coins])` and `(Hashmap 256 [])`, by account id. @throws cells/*, tlb/* */
function nominatorsOf(root: Cell | null, requests: Cell | null): Nominator[] {
  const nominators: Nominator[] = [];
  forEachEntry(
    root,
    256,
    (key, value) => {
      const amount = grams.load(value);
      const pending_deposit_amount = grams.load(value);
      const withdraw_requested = lookup(requests, 256, key) !== null;
      nominators.push({ address: Address.ofParts(BASECHAIN, key), amount, pending_deposit_amount, withdraw_requested });
    },
    { limit: NOMINATORS_LIMIT, plain: true },
  );
  return nominators;
}

/**
 * `state:uint8 nominators_count:uint16 stake_amount_sent:Coins validator_amount:Coins config:^[validator_address:bits256
 * validator_reward_share:uint16 max_nominators_count:uint16 min_validator_stake:Coins min_nominator_stake:Coins]
 * nominators:(HashmapE 256 …) withdraw_requests:(HashmapE 256 …) stake_at:uint32 saved_validator_set_hash:bits256
 * validator_set_changes_count:uint8 validator_set_change_time:uint32 stake_held_for:uint32
 * config_proposal_votings:(HashmapE 256 …)`
 */
function readPool({ data }: NativeAccount): NominatorPoolData {
  const slice = openCell(data);
  const state = BigInt(slice.loadUint(8));
  const nominators_count = BigInt(slice.loadUint(16));
  const stake_amount_sent = grams.load(slice);
  const validator_amount = grams.load(slice);
  const config = openCell(slice.loadRef());
  const nominators = slice.loadBit() ? slice.loadRef() : null;
  const requests = slice.loadBit() ? slice.loadRef() : null;
  slice.skip(32 + 256 + 8 + 32 + 32);
  if (slice.loadBit()) slice.loadRef();
  slice.end();
  const read: NominatorPoolData = {
    state,
    nominators_count,
    stake_amount_sent,
    validator_amount,
    validator_address: Address.ofParts(MASTERCHAIN, config.loadBytes(32)),
    validator_reward_share: BigInt(config.loadUint(16)),
    max_nominators_count: BigInt(config.loadUint(16)),
    min_validator_stake: grams.load(config),
    min_nominator_stake: grams.load(config),
    nominators: nominatorsOf(nominators, requests),
  };
  config.end();
  return read;
}

const codes: readonly NativeCode[] = [
  {
    hashes: [
      '9a3ec14bc098f6b44064c305222caea2800f17dda85ee6a8198a7095ede10dcf',
      'a78c23dbc9f5093339d17e28afbe97e28a963411a20286856c9f76ae1ef6f130',
    ],
    getMethods: [nativeGetMethod(getPoolData, readPool)],
  },
];

/** A nominator pool. */
export const nominatorPool = contractInterface({
  name: 'nominator_pool',
  methods: [],
  codes,
  read: async (view, contract) => {
    requireKnownCode('nominator_pool', codes, contract);
    return view.runGetMethod(contract, getPoolData);
  },
  table: {
    name: 'nominator_pools',
    columns: {
      state: 'int8',
      nominators_count: 'int8',
      stake_amount_sent: 'numeric',
      validator_amount: 'numeric',
      validator: 'address?',
      validator_reward_share: 'int8',
      max_nominators_count: 'int8',
      min_validator_stake: 'numeric',
      min_nominator_stake: 'numeric',
      nominators: 'jsonb',
    },
  },
  row: ({ validator_address, nominators, ...same }) => ({
    ...same,
    validator: validator_address,
    nominators: nominatorsText(nominators),
  }),
});

function nominatorsText(nominators: readonly Nominator[]): string {
  const entries = nominators.map(({ address, amount, pending_deposit_amount, withdraw_requested }) => [
    address.toRaw(),
    { amount: `${amount}`, pending_deposit_amount: `${pending_deposit_amount}`, withdraw_requested },
  ]);
  return JSON.stringify(Object.fromEntries(entries));
}

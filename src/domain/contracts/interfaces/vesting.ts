import { contractInterface } from '#domain/contracts/contract-interface.js';
import { requireKnownCode } from '#domain/contracts/contract-view.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import { getMethod, MethodResult } from '#domain/contracts/get-method.js';
import {
  loadPlainAddress,
  type NativeAccount,
  type NativeCode,
  nativeGetMethod,
} from '#domain/contracts/native-code.js';
import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { forEachEntry } from '#formats/cells/dict-read.js';
import { openCell } from '#formats/cells/slice.js';
import { grams } from '#formats/tlb/codec/primitives.js';

/** Terms of a vesting wallet. Times in unix seconds, durations in seconds, amounts in nanotons. */
interface VestingData {
  readonly vesting_start_time: bigint;
  readonly vesting_total_duration: bigint;
  readonly unlock_period: bigint;
  readonly cliff_duration: bigint;
  readonly vesting_total_amount: bigint;
  /** Sender of the coins. */
  readonly vesting_sender_address: Address | null;
  readonly owner_address: Address | null;
  /** Accounts that locked coins may be sent to, sorted by workchain (as an unsigned number) and account id. */
  readonly whitelist: readonly Address[];
}

/**
 * `(int vesting_start_time, int vesting_total_duration, int unlock_period, int cliff_duration, int vesting_total_amount,
 * slice vesting_sender_address, slice owner_address, cell whitelist) get_vesting_data()`
 */
export const getVestingData = getMethod('get_vesting_data', (stack): VestingData => {
  const result = new MethodResult('get_vesting_data', stack, 8);
  return {
    vesting_start_time: result.int64(),
    vesting_total_duration: result.int64(),
    unlock_period: result.int64(),
    cliff_duration: result.int64(),
    vesting_total_amount: result.int(),
    vesting_sender_address: result.accountOrNull(),
    owner_address: result.accountOrNull(),
    whitelist: whitelistOf(result.cellOrNull()),
  };
});

const INT64_END = 2n ** 63n;

/** Maximal number of visited cells of a whitelist. */
const WHITELIST_LIMIT = 65_536;

/** `(Hashmap 264 int1)`: workchain and account id. @throws cells/* */
function whitelistOf(root: Cell | null): Address[] {
  const addresses: Address[] = [];
  const add = (key: Uint8Array) => {
    addresses.push(Address.ofParts((key[0]! << 24) >> 24, key.subarray(1)));
  };
  forEachEntry(root, 264, add, { limit: WHITELIST_LIMIT, plain: true });
  return addresses;
}

/**
 * `seqno:uint32 wallet_id:uint32 public_key:bits256 whitelist:(HashmapE 264 int1) ^[vesting_start_time:uint64
 * vesting_total_duration:uint32 unlock_period:uint32 cliff_duration:uint32 vesting_total_amount:Coins
 * vesting_sender_address:MsgAddress owner_address:MsgAddress]`
 */
function readVesting({ data }: NativeAccount): VestingData {
  const slice = openCell(data).skip(32 + 32 + 256);
  const whitelist = slice.loadBit() ? slice.loadRef() : null;
  const terms = openCell(slice.loadRef());
  slice.end();
  const read: VestingData = {
    vesting_start_time: terms.loadUintBig(64),
    vesting_total_duration: BigInt(terms.loadUint(32)),
    unlock_period: BigInt(terms.loadUint(32)),
    cliff_duration: BigInt(terms.loadUint(32)),
    vesting_total_amount: grams.load(terms),
    vesting_sender_address: loadPlainAddress(terms),
    owner_address: loadPlainAddress(terms),
    whitelist: whitelistOf(whitelist),
  };
  terms.end();
  if (read.vesting_start_time >= INT64_END)
    throw contractDataErrors['other-form']({ problem: 'the start time is out of range' });
  return read;
}

const codes: readonly NativeCode[] = [
  {
    hashes: ['b48b531abec3b714638291f7d77ed6dc9f6a2729efca20477137374d4ae8b590'],
    getMethods: [nativeGetMethod(getVestingData, readVesting)],
  },
];

/** A vesting wallet. */
export const vesting = contractInterface({
  name: 'vesting',
  methods: [],
  codes,
  read: async (view, contract) => {
    requireKnownCode('vesting', codes, contract);
    return view.runGetMethod(contract, getVestingData);
  },
  table: {
    name: 'vesting_contracts',
    columns: {
      start_time: 'int8',
      total_duration: 'int8',
      unlock_period: 'int8',
      cliff_duration: 'int8',
      total_amount: 'numeric',
      sender: 'address?',
      owner: 'address?',
      whitelist: 'addresses',
    },
  },
  row: (data) => ({
    start_time: data.vesting_start_time,
    total_duration: data.vesting_total_duration,
    unlock_period: data.unlock_period,
    cliff_duration: data.cliff_duration,
    total_amount: data.vesting_total_amount,
    sender: data.vesting_sender_address,
    owner: data.owner_address,
    whitelist: data.whitelist,
  }),
});

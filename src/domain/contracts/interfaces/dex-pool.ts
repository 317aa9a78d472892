import { contractInterface } from '#domain/contracts/contract-interface.js';
import { type ContractView, type ViewedContract, verifyClaim } from '#domain/contracts/contract-view.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import { type GetMethod, getMethod, MethodResult } from '#domain/contracts/get-method.js';
import {
  loadAccount,
  loadPlainAddress,
  type NativeAccount,
  type NativeCode,
  nativeGetMethod,
} from '#domain/contracts/native-code.js';
import { Address, parseAddress } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { grams } from '#formats/tlb/codec/primitives.js';
import { vmInt, vmSlice } from '#formats/tlb/vm-stack.js';

/** A DEX pool of two assets. */
interface DexPoolData {
  readonly dex: 'dedust';
  readonly pool_type: 'stable' | 'volatile';
  /** Jetton masters; null: TON. */
  readonly asset_1: Address | null;
  readonly asset_2: Address | null;
  readonly reserve_1: bigint;
  readonly reserve_2: bigint;
  /** Trade fee: `fee_numerator / fee_denominator` of the input amount. */
  readonly fee_numerator: bigint;
  readonly fee_denominator: bigint;
}

interface Pair<T> {
  readonly first: T;
  readonly second: T;
}

/** `(slice asset_1, slice asset_2) get_assets()` */
export const getAssets = getMethod('get_assets', (stack): Pair<Address | null> => {
  const result = new MethodResult('get_assets', stack, 2);
  return { first: loadAsset(result.slice()), second: loadAsset(result.slice()) };
});

/** `int is_stable()` */
export const isStable = getMethod('is_stable', (stack) => new MethodResult('is_stable', stack, 1).flag());

/** `(int reserve_1, int reserve_2) get_reserves()` */
export const getReserves = getMethod('get_reserves', (stack): Pair<bigint> => {
  const result = new MethodResult('get_reserves', stack, 2);
  return { first: result.int(), second: result.int() };
});

/** `(int numerator, int denominator) get_trade_fee()` */
export const getTradeFee = getMethod('get_trade_fee', (stack): Pair<bigint> => {
  const result = new MethodResult('get_trade_fee', stack, 2);
  return { first: result.int(), second: result.int() };
});

type PoolOf = [stable: boolean, asset_1: Address | null, asset_2: Address | null];

/** `slice get_pool_address(int is_stable, slice asset_1, slice asset_2)` */
const getPoolAddress: GetMethod<PoolOf, Address> = {
  name: 'get_pool_address',
  stack: (stable, asset_1, asset_2) => [
    vmInt(stable ? 1 : 0),
    vmSlice(assetCell(asset_1)),
    vmSlice(assetCell(asset_2)),
  ],
  parse: (stack) => new MethodResult('get_pool_address', stack, 1).account(),
};

const NATIVE = 0;
const JETTON = 1;

/** `native$0000 = Asset; jetton$0001 workchain_id:int8 address:uint256 = Asset;` */
function loadAsset(slice: Slice): Address | null {
  const tag = slice.loadUint(4);
  if (tag === NATIVE) return null;
  if (tag === JETTON) return Address.ofParts(slice.loadInt(8), slice.loadBytes(32));
  throw contractDataErrors['method-result']({ method: getAssets.name, problem: `has an asset with tag ${tag}` });
}

function assetCell(asset: Address | null): Cell {
  if (asset === null) return new Builder().storeUint(NATIVE, 4).endCell();
  return new Builder().storeUint(JETTON, 4).storeInt(asset.workchain, 8).storeBytes(asset.hash).endCell();
}

/**
 * `version:uint16 trade_fee:uint16 total_supply:Coins reserve_1:Coins reserve_2:Coins fee_1:Coins fee_2:Coins
 * price_1:uint128 price_2:uint128 config:^[factory:MsgAddress base:uint8 is_stable:Bool asset_1:Asset asset_2:Asset] ^Cell
 * ^Cell ^[decimals_1:uint8 decimals_2:uint8 MsgAddress MsgAddress MsgAddress Maybe …]`
 */
function loadPool({ data }: NativeAccount) {
  const slice = openCell(data).skip(16);
  const trade_fee = BigInt(slice.loadUint(16));
  grams.load(slice);
  const reserves = { first: grams.load(slice), second: grams.load(slice) };
  grams.load(slice);
  grams.load(slice);
  slice.skip(128 + 128);
  const config = openCell(slice.loadRef());
  slice.loadRef();
  slice.loadRef();
  const more = openCell(slice.loadRef()).skip(8 + 8);
  slice.end();
  for (let i = 0; i < 3; i++) loadPlainAddress(more);
  // The layout of the optional part is unknown.
  if (more.loadBit()) throw contractDataErrors['other-form']({ problem: 'the pool has an optional part' });
  more.end();
  loadAccount(config);
  config.skip(8);
  const stable = config.loadBit();
  const assets = { first: loadAsset(config), second: loadAsset(config) };
  config.end();
  return { stable, assets, reserves, trade_fee };
}

const FEE_DENOMINATOR = 10_000n;

const codes: readonly NativeCode[] = [
  {
    hashes: ['1275095b6da3911292406f4f4386f9e780099b854c6dee9ee2895ddce70927c1'],
    getMethods: [
      nativeGetMethod(getAssets, (account) => loadPool(account).assets),
      nativeGetMethod(isStable, (account) => loadPool(account).stable),
      nativeGetMethod(getReserves, (account) => loadPool(account).reserves),
      nativeGetMethod(getTradeFee, (account) => ({ first: loadPool(account).trade_fee, second: FEE_DENOMINATOR })),
    ],
  },
];

/** The DeDust factory on mainnet. */
export const DEDUST_FACTORY: Address = parseAddress('EQBfBWT7X2BHg9tXAxzhz2aKiNTU1tpt5NsiK0uSDW_YAJ67').address;

/** A DeDust pool of version 1. The factory confirms that it is the pool of these assets. */
export function dexPoolInterface(factory: Address) {
  return contractInterface({
    name: 'dex_pool',
    methods: [[getAssets.name, isStable.name, getReserves.name, getTradeFee.name]],
    codes,
    read: (view, contract) => readPool(view, contract, factory),
    table: {
      name: 'dex_pools',
      columns: {
        dex: 'text',
        pool_type: 'text',
        asset_1: 'address?',
        asset_2: 'address?',
        reserve_1: 'numeric',
        reserve_2: 'numeric',
        fee_numerator: 'numeric',
        fee_denominator: 'numeric',
      },
    },
    row: (data) => data,
  });
}

async function readPool(view: ContractView, contract: ViewedContract, factory: Address): Promise<DexPoolData> {
  const { first: asset_1, second: asset_2 } = await view.runGetMethod(contract, getAssets);
  const stable = await view.runGetMethod(contract, isStable);
  const { first: reserve_1, second: reserve_2 } = await view.runGetMethod(contract, getReserves);
  const { first: fee_numerator, second: fee_denominator } = await view.runGetMethod(contract, getTradeFee);
  const { address } = contract;
  await verifyClaim({ kind: 'dex_pool', address: address.toRaw(), by: factory.toRaw() }, async () =>
    address.equals(await view.runGetMethod(await view.contract(factory), getPoolAddress, stable, asset_1, asset_2)),
  );
  const pool_type = stable ? 'stable' : 'volatile';
  return { dex: 'dedust', pool_type, asset_1, asset_2, reserve_1, reserve_2, fee_numerator, fee_denominator };
}

/** A DeDust pool on mainnet. */
export const dexPool = dexPoolInterface(DEDUST_FACTORY);

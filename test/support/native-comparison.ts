import { ALL_CATEGORIES, DNS_SELF, dnsresolve, getDomain, getFullDomain } from '#domain/contracts/dns-domain.js';
import type { GetMethod } from '#domain/contracts/get-method.js';
import { nativeCodeOf } from '#domain/contracts/interface-registry.js';
import { getAssets, getReserves, getTradeFee, isStable } from '#domain/contracts/interfaces/dex-pool.js';
import { getJettonData, getWalletAddress } from '#domain/contracts/interfaces/jetton-master.js';
import { getWalletData, isClaimed } from '#domain/contracts/interfaces/jetton-wallet.js';
import { getMultisigData, getOrderAddress } from '#domain/contracts/interfaces/multisig.js';
import { getOrderData } from '#domain/contracts/interfaces/multisig-order.js';
import { getCollectionData, getNftAddressByIndex, getNftContent } from '#domain/contracts/interfaces/nft-collection.js';
import { getNftData } from '#domain/contracts/interfaces/nft-item.js';
import { getPoolData } from '#domain/contracts/interfaces/nominator-pool.js';
import { getAuctionDataV4, getFixPriceDataV4, getSaleData } from '#domain/contracts/interfaces/sale-data.js';
import {
  getTelemintAuctionConfig,
  getTelemintAuctionState,
  getTelemintTokenName,
  royaltyParams,
} from '#domain/contracts/interfaces/telemint-item.js';
import { getVestingData } from '#domain/contracts/interfaces/vesting.js';
import { type NativeAccount, runNatively } from '#domain/contracts/native-code.js';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import { Cell } from '#formats/cells/cell.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/** A get method with arguments. */
interface Question {
  readonly name: string;
  readonly stack: VmStack;
  readonly native: (account: NativeAccount) => { readonly result: unknown } | null;
  readonly parse: (stack: VmStack) => unknown;
}

function question<Arguments extends readonly unknown[], Result>(
  method: GetMethod<Arguments, Result>,
  ...given: Arguments
): Question {
  return {
    name: method.name,
    stack: method.stack(...given),
    native: (account) => runNatively(nativeCodeOf(account.code), account, method, given),
    parse: (stack) => method.parse(stack),
  };
}

const OWNERS = [7, 0x5a, 0xf3].map((byte) => Address.ofParts(0, new Uint8Array(32).fill(byte)));
const ITEM_CONTENT = new Builder().storeUint(5, 8).endCell();

/** What kinds ask. */
const QUESTIONS: readonly Question[] = [
  question(getJettonData),
  ...OWNERS.map((owner) => question(getWalletAddress, owner)),
  question(getWalletData),
  question(isClaimed),
  question(getCollectionData),
  ...[0n, 77n].map((index) => question(getNftAddressByIndex, index)),
  question(getNftContent, 7n, ITEM_CONTENT),
  question(getNftData),
  question(dnsresolve, DNS_SELF, ALL_CATEGORIES),
  question(getDomain),
  question(getFullDomain),
  question(getSaleData),
  question(getFixPriceDataV4),
  question(getAuctionDataV4),
  question(getTelemintTokenName),
  question(getTelemintAuctionState),
  question(getTelemintAuctionConfig),
  question(royaltyParams),
  question(getMultisigData),
  ...[0n, 4_000_000_000n].map((seqno) => question(getOrderAddress, seqno)),
  question(getOrderData),
  question(getVestingData),
  question(getPoolData),
  question(getAssets),
  question(isStable),
  question(getReserves),
  question(getTradeFee),
];

/** A get method of an account, read natively and as the virtual machine gives it. */
export interface NativeMethod {
  readonly method: string;
  readonly stack: VmStack;
  /** Null: it has to be run. */
  readonly native: () => { readonly result: unknown } | null;
  readonly parse: (stack: VmStack) => unknown;
}

/** All get methods of an account that are read natively, or that its code is known to lack. */
export function nativeMethods(account: NativeAccount): NativeMethod[] {
  const code = nativeCodeOf(account.code);
  if (code === null) return [];
  const known = new Set([...code.getMethods.map(({ method }) => method), ...(code.missingMethods ?? [])]);
  const asked = QUESTIONS.filter(
    ({ name }) => known.delete(name) || code.getMethods.some((one) => one.method === name),
  );
  if (known.size > 0) throw new TypeError(`no question asks ${[...known].join(', ')}`);
  return asked.map(({ name, stack, native, parse }) => ({ method: name, stack, native: () => native(account), parse }));
}

/** Of a get method that the code lacks. */
const LACKS = 'no such get method';
const NO_METHOD = 11;

/** What a native reader gives, for comparing; null when it leaves the answer to the virtual machine. */
export function nativeShape({ native }: NativeMethod): unknown {
  try {
    const read = native();
    return read === null ? null : { result: shape(read.result) };
  } catch (error) {
    if (isTernError(error) && error.code === 'contract-data/method-failed') return LACKS;
    throw error;
  }
}

/** What a run gives, for comparing. */
export function runShape(
  { parse }: NativeMethod,
  { exit_code, stack }: { exit_code: number; stack: VmStack },
): unknown {
  if (exit_code === NO_METHOD) return LACKS;
  if (exit_code !== 0) return `exit code ${exit_code}`;
  try {
    return { result: shape(parse(stack)) };
  } catch (error) {
    if (isTernError(error)) return error.code;
    throw error;
  }
}

/** Cells by hash, addresses and bytes as text. */
function shape(value: unknown): unknown {
  if (value instanceof Cell) return `cell ${toHex(value.hash())}`;
  if (value instanceof Address) return value.toRaw();
  if (value instanceof Uint8Array) return toHex(value);
  if (Array.isArray(value)) return value.map(shape);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shape(part)]));
}

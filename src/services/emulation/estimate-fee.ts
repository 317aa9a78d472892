import { EMULATOR } from '#drivers/tvm/emulator-binary.js';
import type { TransactionResult } from '#drivers/tvm/transaction.js';
import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { Account, SimpleLibs, type StateInit } from '#formats/tlb/account.js';
import { MASTERCHAIN } from '#formats/tlb/block-id.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { type ConfigDictionary, configParam } from '#formats/tlb/config/config-params.js';
import type { GasLimitsPrices, MsgForwardPrices, StoragePrices } from '#formats/tlb/config/limits-and-prices.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import { type MessageRelaxed, type OutAction, OutList } from '#formats/tlb/message.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import type { BlockAt, ReadContext } from '#services/chain/read-context.js';
import type { FeeEstimate, FeeRequest } from '#services/emulation/contract-reads.js';
import { contractsErrors } from '#services/emulation/errors.js';
import { emulateExternalMessage, encodeExternalInMessage } from '#services/emulation/external-message.js';
import type { ContractSettings } from '#services/emulation/options.js';
import {
  type AccountView,
  accountView,
  type EmulationModules,
  type NetworkConfig,
  networkView,
} from '#services/emulation/run-environment.js';

/** Fees of the execution of a message. */
type RunFees = Pick<FeeEstimate, 'gas_fee' | 'fwd_fee'>;

const NO_RUN_FEES: RunFees = { gas_fee: 0n, fwd_fee: 0n };

/** 1,000 TON in nanotons. */
const FUNDS = 1_000_000_000_000n;

/**
 * Estimates the fees of an external-in message like tonlib's `query.estimateFees`: executes the message on the current
 * account state and prices the result.
 *
 * - storage: due since the last payment
 * - in: import fee of the message
 * - gas: of a run that accepts the message, also if it throws afterwards; 0 when the message is refused; the flat gas price
 *   when there is no code. An account without funds is assumed to have some, because the caller usually wants to know how
 *   much to send; if it refuses the message, the gas is that until then, as tonlib takes it for accepted.
 * - fwd: the messages that a successful run sends. If they are not sent, usually for lack of funds, their cost as computed by
 *   tonlib: from the cells below init and body as written by the contract
 *
 * @throws contracts/*, tvm/*, chain/*, lite/*
 */
export async function estimateFee(
  context: ReadContext,
  request: FeeRequest,
  at: BlockAt | undefined,
  settings: ContractSettings,
  modules: EmulationModules,
): Promise<FeeEstimate> {
  const { address, body } = request;
  const view = await networkView(context, at, modules);
  const account = await accountView(context, address, view, modules.chain);
  const message = encodeExternalInMessage(address, stateInit(request), body);
  const prices = feePrices(view.config.params);
  const masterchain = address.workchain === MASTERCHAIN;
  const run = { view, account, message, ignore_chksig: request.ignore_chksig };
  let result = await emulateExternalMessage(context, run, settings, modules);
  const isFunded = didNotRun(result) && (request.init_code !== null || hasCode(account));
  if (isFunded) {
    const fundedRun = { ...run, log_level: 'full_location_gas' } as const;
    result = await emulateExternalMessage(context, fundedRun, settings, modules, funded(address, account));
  }
  return {
    in_fwd_fee: forwardFee(prices.forward(masterchain), cellsBelow(message)),
    storage_fee: storageFeeOf(account, prices, masterchain),
    ...runFees(result, prices, masterchain, isFunded),
    caveat: caveatOf(view.config),
  };
}

function stateInit({ init_code: code, init_data: data }: FeeRequest): StateInit | null {
  if (code === null && data === null) return null;
  return { fixed_prefix_length: null, special: null, code, data, library: SimpleLibs.of([]) };
}

function didNotRun(result: TransactionResult): boolean {
  return !result.accepted && result.exit_code === null;
}

function hasCode({ account }: AccountView): boolean {
  if (account?.kind !== 'account') return false;
  const { state } = account.storage;
  return state.kind === 'account_active' && state.state_init.code !== null;
}

/** The account with sufficient funds for any run. */
function funded(addr: Address, { account, shard_utime }: AccountView): Cell {
  if (account?.kind === 'account') {
    const { storage } = account;
    const { grams, other } = storage.balance;
    const balance = { grams: grams + FUNDS, other };
    return encodeCell(Account, { ...account, storage: { ...storage, balance } });
  }
  return encodeCell(Account, {
    kind: 'account',
    addr,
    storage_stat: {
      used: { cells: 0n, bits: 0n },
      storage_extra: { kind: 'storage_extra_none' },
      last_paid: shard_utime,
      due_payment: null,
    },
    storage: { last_trans_lt: 0n, balance: onlyGrams(FUNDS), state: { kind: 'account_uninit' } },
  });
}

function cellsBelow(root: Cell) {
  return cellsUsed(Array.from({ length: root.refCount }, (_, i) => root.ref(i)));
}

function storageFeeOf({ account, shard_utime }: AccountView, prices: FeePrices, masterchain: boolean): bigint {
  if (account?.kind !== 'account') return 0n;
  const { used, last_paid } = account.storage_stat;
  return storageFee(prices.storage, shard_utime, { ...used, last_paid }, masterchain);
}

/** @param isFunded the account was given coins for the run, whose log has its gas */
function runFees(result: TransactionResult, prices: FeePrices, masterchain: boolean, isFunded: boolean): RunFees {
  if (!result.accepted) {
    if (!isFunded && result.exit_code !== null) return NO_RUN_FEES;
    const gasPrices = prices.gas(masterchain);
    return { ...NO_RUN_FEES, gas_fee: gasFee(gasPrices, gasOfRefusal(result.vm_log, gasPrices)) };
  }
  const description = decodeCell(Transaction, result.transaction).description.value;
  if (description.kind !== 'trans_ord' || description.compute_ph.kind !== 'tr_phase_compute_vm') return NO_RUN_FEES;
  const { compute_ph, action } = description;
  const { gas_fees: gas_fee, success } = compute_ph;
  const sent = action?.value;
  if (sent?.success && sent.skipped_actions === 0) return { gas_fee, fwd_fee: sent.total_fwd_fees ?? 0n };
  const actions = success && result.actions !== null ? readActions(result.actions) : [];
  let fwd_fee = 0n;
  for (const each of actions) {
    if (each.kind === 'action_send_msg') fwd_fee += messageFee(each.out_msg.value, prices, masterchain);
  }
  return { gas_fee, fwd_fee };
}

/** Actions that cannot be decoded are not executed. */
function readActions(list: Cell): readonly OutAction[] {
  try {
    return decodeCell(OutList, list);
  } catch (error) {
    if (!isTernError(error)) throw error;
    return [];
  }
}

/** As computed by tonlib; see {@link estimateFee}. */
function messageFee({ info, init, body }: MessageRelaxed, prices: FeePrices, fromMasterchain: boolean): bigint {
  const toMasterchain = info.kind === 'int_msg_info' && workchainOf(info.dest) === MASTERCHAIN;
  const roots: Cell[] = [];
  if (init?.kind === 'right') roots.push(init.value.cell);
  if (init?.kind === 'left') {
    const { code, data, library } = init.value;
    for (const cell of [code, data, library.root]) if (cell !== null) roots.push(cell);
  }
  if (body.kind === 'right') roots.push(body.value);
  else for (let i = 0; i < body.value.remainingRefs; i++) roots.push(body.value.preloadRef(i));
  return forwardFee(prices.forward(fromMasterchain || toMasterchain), cellsUsed(roots));
}

function workchainOf(dest: Extract<MessageRelaxed['info'], { kind: 'int_msg_info' }>['dest']): number {
  return dest instanceof Address ? dest.workchain : dest.workchain_id;
}

function caveatOf({ global_version, emulator_knows }: NetworkConfig): string | null {
  if (emulator_knows) return null;
  return `estimated with the rules of global version ${EMULATOR.global_version}; the network has version ${global_version}`;
}

/** Number of distinct cells and their total data bits. */
interface CellsUsed {
  readonly cells: bigint;
  readonly bits: bigint;
}

/** Prices are in 2^-16 nanotons; fees are rounded up. */
const FRACTION = 16n;

function roundedUp(amount: bigint): bigint {
  return (amount + (1n << FRACTION) - 1n) >> FRACTION;
}

/** Total size of cell trees; equal cells count once. */
function cellsUsed(roots: Iterable<Cell>): CellsUsed {
  const seen = new Set<string>();
  const left = [...roots];
  let bits = 0;
  for (let cell = left.pop(); cell !== undefined; cell = left.pop()) {
    const key = toHex(cell.hash());
    if (seen.has(key)) continue;
    seen.add(key);
    bits += cell.bits;
    for (let i = 0; i < cell.refCount; i++) left.push(cell.ref(i));
  }
  return { cells: BigInt(seen.size), bits: BigInt(bits) };
}

/** Forward fee of a message in nanotons. @param used without the root cell of the message */
function forwardFee({ lump_price, bit_price, cell_price }: MsgForwardPrices, { cells, bits }: CellsUsed): bigint {
  return lump_price + roundedUp(bit_price * bits + cell_price * cells);
}

/** The gas that a run used until it refused its message, by its log. */
function gasOfRefusal(vm_log: string, prices: GasLimitsPrices): bigint {
  const remaining = vm_log.match(/gas remaining: \d+/g)?.at(-1);
  return remaining === undefined ? 0n : gasOf(prices, FUNDS).credit - BigInt(remaining.replace(/\D/g, ''));
}

/** Fee of some gas in nanotons. */
function gasFee(prices: GasLimitsPrices, gas: bigint): bigint {
  if (prices.kind !== 'gas_flat_pfx') return roundedUp(gas * prices.gas_price);
  const { flat_gas_limit, flat_gas_price, other } = prices;
  return flat_gas_price + (gas > flat_gas_limit ? gasFee(other, gas - flat_gas_limit) : 0n);
}

/** The gas that coins buy, and the gas credit before an external-in message is accepted. */
export function gasOf(prices: GasLimitsPrices, coins: bigint): { readonly bought: bigint; readonly credit: bigint } {
  if (prices.kind !== 'gas_flat_pfx')
    return { bought: (coins << FRACTION) / prices.gas_price, credit: prices.gas_credit };
  const { flat_gas_limit, flat_gas_price, other } = prices;
  const rest = gasOf(other, coins > flat_gas_price ? coins - flat_gas_price : 0n);
  return { bought: coins < flat_gas_price ? 0n : flat_gas_limit + rest.bought, credit: rest.credit };
}

/** Storage of an account for the storage fee. */
interface StoredCells extends CellsUsed {
  /** Unix seconds of the last payment; 0: the account never pays. */
  readonly last_paid: number;
}

/**
 * The storage fee since the last payment in nanotons, without earlier debts.
 *
 * @param prices oldest first
 */
function storageFee(
  prices: readonly StoragePrices[],
  now: number,
  { cells, bits, last_paid }: StoredCells,
  masterchain: boolean,
): bigint {
  if (last_paid === 0) return 0n;
  let amount = 0n;
  prices.forEach((price, i) => {
    const from = Math.max(last_paid, price.utime_since);
    const to = Math.min(now, prices[i + 1]?.utime_since ?? now);
    if (from >= to) return;
    const perSecond = masterchain
      ? price.mc_cell_price_ps * cells + price.mc_bit_price_ps * bits
      : price.cell_price_ps * cells + price.bit_price_ps * bits;
    amount += perSecond * BigInt(to - from);
  });
  return roundedUp(amount);
}

/** Prices of a network configuration. */
export interface FeePrices {
  /** Oldest first. */
  readonly storage: readonly StoragePrices[];
  /** Message forward prices; masterchain prices if source or destination is in the masterchain. */
  readonly forward: (masterchain: boolean) => MsgForwardPrices;
  readonly gas: (masterchain: boolean) => GasLimitsPrices;
}

/** Reads the prices of a configuration. @throws contracts/no-prices */
export function feePrices(params: ConfigDictionary): FeePrices {
  const param = <I extends 18 | 20 | 21 | 24 | 25>(index: I) => {
    const value = configParam(params, index);
    if (value === undefined) throw contractsErrors['no-prices']({ param: index });
    return value;
  };
  const [storage, gasMc, gasBase, forwardMc, forwardBase] = [param(18), param(20), param(21), param(24), param(25)];
  return {
    storage: [...storage].map(([, price]) => price).sort((a, b) => a.utime_since - b.utime_since),
    forward: (masterchain) => (masterchain ? forwardMc : forwardBase),
    gas: (masterchain) => (masterchain ? gasMc : gasBase),
  };
}

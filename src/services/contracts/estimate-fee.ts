import { EMULATOR } from '#drivers/tvm/emulator-version.js';
import type { TransactionResult } from '#drivers/tvm/transaction.js';
import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import type { MessageRelaxed } from '#formats/tlb/message.js';
import { type OutAction, OutList } from '#formats/tlb/out-action.js';
import { MASTERCHAIN } from '#formats/tlb/shard-ident.js';
import { SimpleLibs, type StateInit } from '#formats/tlb/state-init.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { Call } from '#services/chain/call.js';
import type { BlockAt } from '#services/chain/read-options.js';
import type { FeeEstimate, FeeQuestion } from '#services/contracts/contracts.js';
import { emulateExternal } from '#services/contracts/emulate-external.js';
import { externalMessage } from '#services/contracts/external-message.js';
import {
  cellsUsed,
  type FeePrices,
  feePrices,
  forwardFee,
  leastGasFee,
  storageFee,
} from '#services/contracts/fee-prices.js';
import type { NetworkConfig } from '#services/contracts/network-config.js';
import type { ContractSettings } from '#services/contracts/options.js';
import { type AccountView, accountView, type RunModules, runView } from '#services/contracts/run-view.js';

/** What the run of a message costs. */
type RunFees = Pick<FeeEstimate, 'gas_fee' | 'fwd_fee'>;

const NOTHING: RunFees = { gas_fee: 0n, fwd_fee: 0n };

/** 1,000 TON in nanotons. */
const FUNDS = 1_000_000_000_000n;

/**
 * What a message from outside would cost, as tonlib's `query.estimateFees` counts: the message is executed on the account
 * as it is, and what comes of it is priced.
 *
 * - storage: owed since the account last paid
 * - in: the message on its way to the account
 * - gas: of a run that accepts the message, whether or not it throws afterwards; 0 when the message is refused; the least
 *   that a run costs where there is nothing to run. An account without coins is taken to have some: what it costs is what
 *   somebody wants to know who is going to send them. (tonlib takes whatever such an account refuses as accepted.)
 * - fwd: the messages that a successful run sends. Where they are not sent, for want of coins as a rule, what they would
 *   cost as tonlib counts: by the cells below init and body as the contract wrote them
 *
 * @throws contracts/*, tvm/*, chain/*, lite/*
 */
export async function estimateFee(
  call: Call,
  question: FeeQuestion,
  at: BlockAt | undefined,
  settings: ContractSettings,
  modules: RunModules,
): Promise<FeeEstimate> {
  const { address, body } = question;
  const view = await runView(call, at, modules);
  const account = await accountView(call, address, view, modules.chain);
  const message = externalMessage(address, stateInit(question), body);
  const prices = feePrices(view.config.params);
  const run = { view, account, message, ignore_chksig: question.ignore_chksig };
  let result = await emulateExternal(call, run, settings, modules);
  if (wasNotRun(result) && (question.init_code !== null || hasCode(account))) {
    result = await emulateExternal(call, run, settings, modules, funded(address, account));
  }
  const masterchain = address.workchain === MASTERCHAIN;
  return {
    in_fwd_fee: forwardFee(prices.forward(masterchain), cellsBelow(message)),
    storage_fee: storageFeeOf(account, prices, masterchain),
    ...runFees(result, prices, masterchain),
    caveat: caveatOf(view.config),
  };
}

function stateInit({ init_code: code, init_data: data }: FeeQuestion): StateInit | null {
  if (code === null && data === null) return null;
  return { fixed_prefix_length: null, special: null, code, data, library: SimpleLibs.of([]) };
}

function wasNotRun(result: TransactionResult): boolean {
  return !result.accepted && result.exit_code === null;
}

function hasCode({ account }: AccountView): boolean {
  if (account?.kind !== 'account') return false;
  const { state } = account.storage;
  return state.kind === 'account_active' && state.state_init.code !== null;
}

/** The account with coins enough for any run. */
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

function runFees(result: TransactionResult, prices: FeePrices, masterchain: boolean): RunFees {
  if (!result.accepted) {
    return result.exit_code === null ? { ...NOTHING, gas_fee: leastGasFee(prices.gas(masterchain)) } : NOTHING;
  }
  const description = decodeCell(Transaction, result.transaction).description.value;
  if (description.kind !== 'trans_ord' || description.compute_ph.kind !== 'tr_phase_compute_vm') return NOTHING;
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

/** Actions that cannot be read are not carried out. */
function readActions(list: Cell): readonly OutAction[] {
  try {
    return decodeCell(OutList, list);
  } catch (error) {
    if (!isTernError(error)) throw error;
    return [];
  }
}

/** As tonlib counts it; see {@link estimateFee}. */
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
  return `estimated by the rules of global version ${EMULATOR.global_version}; the network has version ${global_version}`;
}

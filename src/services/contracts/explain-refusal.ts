import { readWallet } from '#domain/contracts/wallet.js';
import { readWalletMessage } from '#domain/contracts/wallet-message.js';
import { OUT_OF_GAS } from '#drivers/tvm/emulator-output.js';
import { Address } from '#formats/address/address.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import type { Slice } from '#formats/cells/slice.js';
import type { AccountState } from '#formats/tlb/account.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { Message, messageBody, messageInit } from '#formats/tlb/message.js';
import { MASTERCHAIN } from '#formats/tlb/shard-ident.js';
import { StateInit } from '#formats/tlb/state-init.js';
import { bytesEqual } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { Call } from '#services/chain/call.js';
import type { BlockAt } from '#services/chain/read-options.js';
import type { SendDiagnosis, SendRefusalReason } from '#services/contracts/contracts.js';
import { emulateExternal } from '#services/contracts/emulate-external.js';
import { contractsErrors } from '#services/contracts/errors.js';
import { meaningOfExitCode } from '#services/contracts/exit-codes.js';
import { feePrices, gasOf } from '#services/contracts/fee-prices.js';
import type { ContractSettings } from '#services/contracts/options.js';
import { type AccountView, accountView, type RunModules, type RunView, runView } from '#services/contracts/run-view.js';
import { explainWalletRefusal } from '#services/contracts/wallet-refusal.js';

/** A message that a node refused. */
export interface Refusal {
  readonly message: Cell;
  /** What the node said. */
  readonly nodeText: string;
  readonly at: BlockAt | undefined;
}

/** A message from outside, read. */
interface ReadMessage {
  readonly cell: Cell;
  readonly message: Message;
  readonly dest: Address;
  readonly init: StateInit | null;
}

/** What the account is that the message is for. */
interface Meeting extends ReadMessage {
  readonly view: RunView;
  readonly account: AccountView;
}

/** A contract that the message would run: deployed, or by the message itself. */
type Contract = Pick<StateInit, 'code' | 'data'>;

/**
 * Says why nodes refuse a message: from what the node said, and from the account as it is. Where the node does not give an
 * exit code, the message is executed here. That the account cannot be read is no error, only less to say.
 */
export async function explainRefusal(
  call: Call,
  refusal: Refusal,
  settings: ContractSettings,
  modules: RunModules,
): Promise<SendDiagnosis> {
  const told = explainText(refusal.nodeText);
  if (told !== null) return told;
  const read = readMessage(refusal.message);
  if ('reason' in read) return read;
  try {
    const view = await runView(call, refusal.at, modules);
    const account = await accountView(call, read.dest, view, modules.chain);
    const meeting = { ...read, view, account };
    const contract = contractOf(meeting);
    if ('reason' in contract) return contract;
    const exit_code = exitCodeIn(refusal.nodeText) ?? (await exitCodeHere(call, meeting, settings, modules));
    return typeof exit_code === 'number' ? explainExitCode(exit_code, contract, meeting) : exit_code;
  } catch (error) {
    if (!isTernError(error)) throw error;
    if (error.code === contractsErrors['no-workchain'].code)
      return { reason: 'no-workchain', explanation: sentence(error.message) };
    return unknown(`The account could not be looked at: ${error.message}.`);
  }
}

const DUPLICATE =
  'The same message was sent before, and nodes take it once: it is on its way, or was applied already. Look for it in the transactions of the account; for another payment, sign a new message.';
const BUSY =
  'The node has as many messages for this account waiting as it takes. Wait until some of them are applied, and send again.';

/** What some texts of nodes tell by themselves. */
const TEXTS: readonly (readonly [text: RegExp, reason: SendRefusalReason, explanation: string])[] = [
  [/duplicate message/i, 'duplicate', DUPLICATE],
  [/too many (external )?messages/i, 'busy', BUSY],
  [/external message is too large/i, 'malformed', 'The message is larger than 65,535 bytes. Split it.'],
  [/external message is too deep/i, 'malformed', 'The cells of the message nest deeper than 511. Write it flatter.'],
];

function explainText(nodeText: string): SendDiagnosis | null {
  for (const [text, reason, explanation] of TEXTS) if (text.test(nodeText)) return { reason, explanation };
  return null;
}

function readMessage(cell: Cell): ReadMessage | SendDiagnosis {
  let problem: string;
  try {
    const message = decodeCell(Message, cell);
    const { info } = message;
    if (info.kind === 'ext_in_msg_info') {
      if (info.dest instanceof Address) return { cell, message, dest: info.dest, init: messageInit(message) };
      problem = 'its destination is of a form that no account has';
    } else problem = `it is of kind ${info.kind}, and only ext_in_msg_info can be sent`;
  } catch (error) {
    if (!isTernError(error)) throw error;
    problem = error.message;
  }
  return { reason: 'malformed', explanation: `The cells are no message from outside: ${problem}.` };
}

/** Null where it is an exotic cell. */
function bodyOf(message: Message): Slice | null {
  const { body } = message;
  return body.kind === 'right' && body.value.type !== CellType.ordinary ? null : messageBody(message);
}

/** The contract that the message would run, or why there is none. */
function contractOf({ dest, init, account: { account } }: Meeting): Contract | SendDiagnosis {
  const [state, coins]: [AccountState | null, bigint] =
    account?.kind === 'account' ? [account.storage.state, account.storage.balance.grams] : [null, 0n];
  const name = dest.toRaw();
  if (state?.kind === 'account_active') return state.state_init;
  if (state?.kind === 'account_frozen') {
    const explanation = `The account ${name} is frozen because of its debts for storage. It takes no messages from outside until it is unfrozen by an internal message with coins and its former StateInit.`;
    return { reason: 'frozen', explanation };
  }
  if (init === null) {
    const explanation = `No contract is deployed at ${name}. ${coins === 0n ? 'Send coins to it first, then a' : 'A'} message that deploys it must carry its StateInit.`;
    return { reason: 'not-deployed', explanation };
  }
  const initHash = encodeCell(StateInit, init).hash();
  if (!bytesEqual(initHash, dest.hash)) {
    const explanation = `The StateInit in the message is that of ${Address.ofParts(dest.workchain, initHash).toRaw()}, so it cannot deploy ${name}. Check code, key and wallet id that the address is made of.`;
    return { reason: 'not-deployed', explanation };
  }
  if (coins > 0n) return init;
  const explanation = `The account ${name} has no coins to pay for its deployment. Send some to it first, with a non-bounceable address.`;
  return { reason: 'no-funds', explanation };
}

/** `exitcode=33, steps=22, gas_used=0` */
function exitCodeIn(nodeText: string): number | null {
  const found = /exit_?code[=: ]+(-?\d+)/i.exec(nodeText)?.[1];
  return found === undefined ? null : Number(found);
}

async function exitCodeHere(
  call: Call,
  meeting: Meeting,
  settings: ContractSettings,
  modules: RunModules,
): Promise<number | SendDiagnosis> {
  const { view, account, cell: message } = meeting;
  const result = await emulateExternal(call, { view, account, message, ignore_chksig: false }, settings, modules);
  if (result.accepted) {
    return unknown(
      `By the state after masterchain block ${view.block.seqno} the message would be accepted: the node may have been behind. Send it again.`,
    );
  }
  return result.exit_code ?? noFunds(meeting);
}

function explainExitCode(exit_code: number, { code, data }: Contract, meeting: Meeting): SendDiagnosis {
  const { message, dest, account, view } = meeting;
  const outOfGas = exit_code === OUT_OF_GAS || exit_code === ~OUT_OF_GAS;
  if (outOfGas) {
    const { bought, credit } = gasOf(
      feePrices(view.config.params).gas(dest.workchain === MASTERCHAIN),
      coinsOf(account),
    );
    if (bought < credit) return noFunds(meeting);
  }
  const wallet = readWallet(code, data);
  if (wallet !== null) {
    const { wallet_type } = wallet;
    const body = bodyOf(message);
    const signed = body === null ? null : readWalletMessage(wallet_type, body);
    const found = explainWalletRefusal({ wallet, message: signed, exit_code, now: account.shard_utime });
    if (found !== null) return found;
    if (signed === null) {
      const explanation = `The body is not what a ${wallet_type} reads; it ended with exit code ${exit_code}. Make the message for this version of the wallet.`;
      return { reason: 'malformed', explanation };
    }
  }
  const meaning = meaningOfExitCode(exit_code);
  const said = meaning === null ? 'a code of its own, which its source or documentation explains' : meaning;
  return { reason: 'exit-code', explanation: `The contract refused the message with exit code ${exit_code}: ${said}.` };
}

function noFunds({ dest, account }: Meeting): SendDiagnosis {
  const explanation = `The account ${dest.toRaw()} cannot pay for the message: it has ${coinsOf(account)} nanotons. Send coins to it first.`;
  return { reason: 'no-funds', explanation };
}

function coinsOf({ account }: AccountView): bigint {
  return account?.kind === 'account' ? account.storage.balance.grams : 0n;
}

function unknown(explanation: string): SendDiagnosis {
  return { reason: 'unknown', explanation };
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

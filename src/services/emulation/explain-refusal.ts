import { readWallet, readWalletMessage, type WalletMessage, type WalletState } from '#domain/contracts/wallet.js';
import { OUT_OF_GAS } from '#drivers/tvm/emulator-output.js';
import { Address } from '#formats/address/address.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import type { Slice } from '#formats/cells/slice.js';
import { type AccountState, StateInit } from '#formats/tlb/account.js';
import { MASTERCHAIN } from '#formats/tlb/block-id.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { Message, messageBody, messageInit } from '#formats/tlb/message.js';
import { bytesEqual } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import type { BlockAt, ReadContext } from '#services/chain/read-context.js';
import type { SendDiagnosis, SendRefusalReason } from '#services/emulation/contract-reads.js';
import { contractsErrors } from '#services/emulation/errors.js';
import { feePrices, gasOf } from '#services/emulation/estimate-fee.js';
import { emulateExternalMessage } from '#services/emulation/external-message.js';
import type { ContractSettings } from '#services/emulation/options.js';
import {
  type AccountView,
  accountView,
  type EmulationModules,
  type NetworkView,
  networkView,
} from '#services/emulation/run-environment.js';

/** A message that a node refused. */
export interface RefusedMessage {
  readonly message: Cell;
  /** What the node said. */
  readonly nodeText: string;
  readonly at: BlockAt | undefined;
}

/** A message from outside, read. */
interface ParsedMessage {
  readonly cell: Cell;
  readonly message: Message;
  readonly dest: Address;
  readonly init: StateInit | null;
}

/** What the account is that the message is for. */
interface RefusalCase extends ParsedMessage {
  readonly view: NetworkView;
  readonly account: AccountView;
}

/** A contract that the message would run: deployed, or by the message itself. */
type RunnableContract = Pick<StateInit, 'code' | 'data'>;

/**
 * Says why nodes refuse a message: from what the node said, and from the account as it is. Where the node does not give an
 * exit code, the message is executed here. That the account cannot be read is no error, only less to say.
 */
export async function explainRefusal(
  call: ReadContext,
  refusal: RefusedMessage,
  settings: ContractSettings,
  modules: EmulationModules,
): Promise<SendDiagnosis> {
  const told = explainText(refusal.nodeText);
  if (told !== null) return told;
  const read = readMessage(refusal.message);
  if ('reason' in read) return read;
  try {
    const view = await networkView(call, refusal.at, modules);
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

function readMessage(cell: Cell): ParsedMessage | SendDiagnosis {
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
function contractOf({ dest, init, account: { account } }: RefusalCase): RunnableContract | SendDiagnosis {
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
  call: ReadContext,
  meeting: RefusalCase,
  settings: ContractSettings,
  modules: EmulationModules,
): Promise<number | SendDiagnosis> {
  const { view, account, cell: message } = meeting;
  const result = await emulateExternalMessage(
    call,
    { view, account, message, ignore_chksig: false },
    settings,
    modules,
  );
  if (result.accepted) {
    return unknown(
      `By the state after masterchain block ${view.block.seqno} the message would be accepted: the node may have been behind. Send it again.`,
    );
  }
  return result.exit_code ?? noFunds(meeting);
}

function explainExitCode(exit_code: number, { code, data }: RunnableContract, meeting: RefusalCase): SendDiagnosis {
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

function noFunds({ dest, account }: RefusalCase): SendDiagnosis {
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

/** What a wallet checks before it accepts a message. */
type Check = 'seqno' | 'wallet-id' | 'expired' | 'signature' | 'expired-or-signature' | 'signature-disabled' | 'mode';

type Checks = ReadonlyMap<number, Check>;

const V3: Checks = new Map([
  [33, 'seqno'],
  [34, 'wallet-id'],
  [35, 'expired-or-signature'],
]);
const V4: Checks = new Map([
  [33, 'seqno'],
  [34, 'wallet-id'],
  [35, 'signature'],
  [36, 'expired'],
]);

/** Exit codes of wallets, by the start of the wallet's type. */
const CHECKS: readonly (readonly [wallet_type: string, checks: Checks])[] = [
  [
    'wallet v1',
    new Map([
      [33, 'seqno'],
      [34, 'signature'],
    ]),
  ],
  [
    'wallet v2',
    new Map([
      [33, 'seqno'],
      [34, 'signature'],
      [35, 'expired'],
    ]),
  ],
  ['wallet v3', V3],
  ['wallet v4 r1', V3],
  ['wallet v4', V4],
  ['wallet v5 beta', new Map([...V4, [35, 'expired-or-signature']])],
  [
    'wallet v5',
    new Map([
      [132, 'signature-disabled'],
      [133, 'seqno'],
      [134, 'wallet-id'],
      [135, 'signature'],
      [136, 'expired'],
      [137, 'mode'],
    ]),
  ],
];

/** A message that a wallet refused. */
export interface WalletRefusal {
  readonly wallet: WalletState;
  /** Null: its body is not as the wallet reads it. */
  readonly message: WalletMessage | null;
  readonly exit_code: number;
  /** Unix seconds: the time of the newest block of the wallet's shard. */
  readonly now: number;
}

/** Why a wallet of a known kind refused a message; null when the exit code is none of its checks. */
export function explainWalletRefusal(refusal: WalletRefusal): SendDiagnosis | null {
  const { wallet, message, exit_code, now } = refusal;
  const check = CHECKS.find(([type]) => wallet.wallet_type.startsWith(type))?.[1].get(exit_code);
  switch (check) {
    case 'seqno':
      return { reason: 'seqno', explanation: explainSeqno(wallet, message) };
    case 'wallet-id':
      return { reason: 'wallet-id', explanation: explainWalletId(wallet, message) };
    case 'expired':
      return { reason: 'expired', explanation: explainExpired(message, now) };
    case 'signature':
      return { reason: 'signature', explanation: SIGNATURE };
    case 'expired-or-signature':
      return isExpired(message, now)
        ? { reason: 'expired', explanation: explainExpired(message, now) }
        : { reason: 'signature', explanation: SIGNATURE };
    case 'signature-disabled':
      return {
        reason: 'signature',
        explanation:
          'This wallet takes no signatures any more: its owner has turned them off and uses it by extensions only.',
      };
    case 'mode':
      return {
        reason: 'exit-code',
        explanation:
          'A payment has a send mode without +2 (ignore errors), which a wallet v5 demands of messages from outside. Add 2 to the mode of each.',
      };
    default:
      return null;
  }
}

const SIGNATURE =
  'The signature does not fit: the message was signed with another key than the one of this wallet, or its body was changed after it was signed.';

function explainSeqno({ seqno }: WalletState, message: WalletMessage | null): string {
  if (message === null) return `The seqno of the message is not the one of the wallet, which is ${seqno}.`;
  if (message.seqno < seqno) {
    return `The message has seqno ${message.seqno}, but the wallet is at ${seqno} already: it was applied before, or another message of that number was. Read the seqno again, and sign a new message if this one is not in the wallet's transactions.`;
  }
  if (message.seqno > seqno) {
    return `The message has seqno ${message.seqno}, but the wallet is at ${seqno}: messages before it have not been applied yet, or were lost. Wait for them, or read the seqno again and sign anew.`;
  }
  return `The message has the seqno of the wallet, ${seqno}, which must have been another one for the node: it was a block behind or ahead. Send the message again.`;
}

function explainWalletId({ wallet_id }: WalletState, message: WalletMessage | null): string {
  const found = message?.wallet_id;
  const said = found === null || found === undefined ? 'another wallet id' : `wallet id ${found}`;
  return `The message is for ${said}, but this wallet has ${wallet_id}. Sign with the id (subwallet id, network) that the wallet was deployed with.`;
}

function isExpired(message: WalletMessage | null, now: number): boolean {
  return message !== null && message.valid_until !== null && message.valid_until <= now;
}

function explainExpired(message: WalletMessage | null, now: number): string {
  const until = message?.valid_until ?? null;
  const said = until === null ? '' : ` on ${timeText(until)}`;
  return `The message expired${said} (valid_until); the newest block is of ${timeText(now)}. Sign a new message, and check the clock of the machine that signs.`;
}

function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}

/**
 * What exit codes of a run mean that come from the virtual machine, or that contracts have agreed on. Others a contract
 * gives meanings of its own.
 */
const MEANINGS: ReadonlyMap<number, string> = new Map([
  [0, 'it ended without having accepted the message, as a contract does that takes none from outside'],
  [1, 'it ended without having accepted the message, as a contract does that takes none from outside'],
  [2, 'stack underflow: there were fewer values than an instruction takes'],
  [3, 'stack overflow'],
  [4, 'integer overflow, or a division by zero'],
  [5, 'an integer was out of its range'],
  [6, 'an instruction that there is not'],
  [7, 'a value was of another type than expected'],
  [8, 'cell overflow: more was written into a cell than it holds'],
  [9, 'cell underflow: the message, or the data of the contract, is shorter than what the code reads'],
  [10, 'a dictionary was not as expected'],
  [11, 'the contract has no code for messages from outside, or does not know what the message asks for'],
  [12, 'an error that should not be possible'],
  [13, 'out of gas'],
  [14, 'out of gas'],
  [-14, 'out of gas before it accepted the message: until then it may use 10,000 units at most'],
  [0xffff, 'the contract does not know what the message asks for'],
]);

/** What an exit code means wherever it comes from; null where only the contract knows. */
export function meaningOfExitCode(code: number): string | null {
  return MEANINGS.get(code) ?? null;
}

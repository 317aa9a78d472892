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
import { durationText } from '#kernel/duration-text.js';
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

/** A message refused by a node. */
export interface RefusedMessage {
  readonly message: Cell;
  /** The error of the node. */
  readonly nodeText: string;
  readonly at: BlockAt | undefined;
}

/** A decoded external-in message. */
interface ParsedMessage {
  readonly cell: Cell;
  readonly message: Message;
  readonly dest: Address;
  readonly init: StateInit | null;
}

/** A decoded message with the state of its destination. */
interface RefusalCase extends ParsedMessage {
  readonly view: NetworkView;
  readonly account: AccountView;
  /** Unix seconds: time of this machine. */
  readonly machineTime: number;
}

/** The contract that the message would run: deployed, or deployed by the message. */
type RunnableContract = Pick<StateInit, 'code' | 'data'>;

/**
 * Explains why nodes refuse a message, from the error of the node and the current account state. If the node reports no exit
 * code, the message is executed locally. An unreadable account is not an error; it only limits the explanation.
 */
export async function explainRefusal(
  context: ReadContext,
  refusal: RefusedMessage,
  settings: ContractSettings,
  modules: EmulationModules,
): Promise<SendDiagnosis> {
  const explained = explainText(refusal.nodeText);
  if (explained !== null) return explained;
  const read = readMessage(refusal.message);
  if ('reason' in read) return read;
  try {
    const view = await networkView(context, refusal.at, modules);
    const account = await accountView(context, read.dest, view, modules.chain);
    const refusalCase = { ...read, view, account, machineTime: Math.floor(modules.unixTimeMs() / 1000) };
    const contract = contractOf(refusalCase);
    if ('reason' in contract) return contract;
    const exit_code = exitCodeIn(refusal.nodeText);
    const ended =
      exit_code === null
        ? await runHere(context, refusalCase, settings, modules)
        : { exit_code, vm_log: refusal.nodeText };
    return 'reason' in ended ? ended : explainExitCode(ended, contract, refusalCase);
  } catch (error) {
    if (!isTernError(error)) throw error;
    if (error.code === contractsErrors['no-workchain'].code)
      return { reason: 'no-workchain', explanation: sentence(error.message) };
    const what = error.code.startsWith('tvm/') ? 'message could not be executed here' : 'account could not be read';
    return unknown(`The ${what}: ${error.message}.`);
  }
}

const DUPLICATE =
  'The same message was sent before, and nodes accept it once: it is pending or already applied. Look for it in the transactions of the account; for another payment, sign a new message.';
const BUSY =
  'The message queue of the node for this account is full. Wait until some messages are applied, and send again.';

/** Node errors that explain themselves. */
const TEXTS: readonly (readonly [text: RegExp, reason: SendRefusalReason, explanation: string])[] = [
  [/duplicate message/i, 'duplicate', DUPLICATE],
  [/too many (external )?messages/i, 'busy', BUSY],
  [/external message is too large/i, 'malformed', 'The message is larger than 65,535 bytes. Split it.'],
  [
    /external message is too deep/i,
    'malformed',
    'The cells of the message are nested deeper than 511. Reduce the nesting.',
  ],
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
      problem = 'its destination is not a standard address';
    } else problem = `it is ${info.kind}, but only ext_in_msg_info can be sent`;
  } catch (error) {
    if (!isTernError(error)) throw error;
    problem = error.message;
  }
  return { reason: 'malformed', explanation: `The cells are not an external-in message: ${problem}.` };
}

/** Null when it is an exotic cell. */
function bodyOf(message: Message): Slice | null {
  const { body } = message;
  return body.kind === 'right' && body.value.type !== CellType.ordinary ? null : messageBody(message);
}

/** The contract that the message would run, or the diagnosis when there is none. */
function contractOf({ dest, init, account: { account } }: RefusalCase): RunnableContract | SendDiagnosis {
  const [state, coins]: [AccountState | null, bigint] =
    account?.kind === 'account' ? [account.storage.state, account.storage.balance.grams] : [null, 0n];
  const name = dest.toRaw();
  if (state?.kind === 'account_active') return state.state_init;
  if (state?.kind === 'account_frozen') {
    const explanation = `The account ${name} is frozen because of unpaid storage fees. It accepts no external-in messages until an internal message with funds and its former StateInit unfreezes it.`;
    return { reason: 'frozen', explanation };
  }
  if (init === null) {
    const explanation = `No contract is deployed at ${name}. ${coins === 0n ? 'Send coins to it first; then the' : 'The'} message that deploys it must contain its StateInit.`;
    return { reason: 'not-deployed', explanation };
  }
  const initHash = encodeCell(StateInit, init).hash();
  if (!bytesEqual(initHash, dest.hash)) {
    const explanation = `The StateInit in the message belongs to ${Address.ofParts(dest.workchain, initHash).toRaw()}, so it cannot deploy ${name}. Check the code, key and wallet id that determine the address.`;
    return { reason: 'not-deployed', explanation };
  }
  if (coins > 0n) return init;
  const explanation = `The account ${name} has no funds for its deployment. Send coins to it first, to its non-bounceable address.`;
  return { reason: 'no-funds', explanation };
}

/** The exit code in an error of a node: `exitcode=33, steps=22, gas_used=0`; null: it has none. */
export function exitCodeIn(nodeText: string): number | null {
  const found = /exit_?code[=: ]+(-?\d+)/i.exec(nodeText)?.[1];
  return found === undefined ? null : Number(found);
}

/** How a run ended that did not accept the message. */
interface EndedRun {
  readonly exit_code: number;
  /** Log of the TVM, or its end. */
  readonly vm_log: string;
}

async function runHere(
  context: ReadContext,
  refusalCase: RefusalCase,
  settings: ContractSettings,
  modules: EmulationModules,
): Promise<EndedRun | SendDiagnosis> {
  const { view, account, cell: message } = refusalCase;
  const result = await emulateExternalMessage(
    context,
    { view, account, message, ignore_chksig: false },
    settings,
    modules,
  );
  if (result.accepted) {
    return unknown(
      `With the state after masterchain block ${view.block.seqno} the message would be accepted: the node may lag. Send it again.`,
    );
  }
  const { exit_code, vm_log } = result;
  return exit_code === null ? noFunds(refusalCase) : { exit_code, vm_log };
}

const MISSING_LIBRARY: SendDiagnosis = {
  reason: 'missing-library',
  explanation:
    'The contract uses a library that the masterchain does not publish (the TVM failed to load a library cell, exit code 9). Publish the library with a masterchain account, or deploy the contract with its code instead of the library reference.',
};

function explainExitCode(
  { exit_code, vm_log }: EndedRun,
  { code, data }: RunnableContract,
  refusalCase: RefusalCase,
): SendDiagnosis {
  const { message, dest, account, view, machineTime } = refusalCase;
  if (exit_code === CELL_UNDERFLOW && /failed to load library cell/i.test(vm_log)) return MISSING_LIBRARY;
  const outOfGas = exit_code === OUT_OF_GAS || exit_code === ~OUT_OF_GAS;
  if (outOfGas) {
    const { bought, credit } = gasOf(
      feePrices(view.config.params).gas(dest.workchain === MASTERCHAIN),
      coinsOf(account),
    );
    if (bought < credit) return noFunds(refusalCase);
  }
  const wallet = readWallet(code, data);
  if (wallet !== null) {
    const { wallet_type } = wallet;
    const body = bodyOf(message);
    const signed = body === null ? null : readWalletMessage(wallet_type, body);
    const now = account.shard_utime;
    const found = explainWalletRefusal({ wallet, message: signed, exit_code, now, machineTime });
    if (found !== null) return found;
    if (signed === null) {
      const explanation = `The body is invalid for a ${wallet_type}; it ended with exit code ${exit_code}. Create the message for this wallet version.`;
      return { reason: 'malformed', explanation };
    }
  }
  const meaning = meaningOfExitCode(exit_code);
  const said = meaning === null ? 'a contract-specific code, see its source or documentation' : meaning;
  return { reason: 'exit-code', explanation: `The contract refused the message with exit code ${exit_code}: ${said}.` };
}

function noFunds({ dest, account }: RefusalCase): SendDiagnosis {
  const explanation = `The account ${dest.toRaw()} cannot pay for the message: its balance is ${coinsOf(account)} nanotons. Send coins to it first.`;
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

/** Checks of a wallet before it accepts a message. */
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

/** Exit codes of wallets, by prefix of the wallet type. */
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

/** A message refused by a wallet. */
interface WalletRefusal {
  readonly wallet: WalletState;
  /** Null when the body is invalid for the wallet. */
  readonly message: WalletMessage | null;
  readonly exit_code: number;
  /** Unix seconds: time of the newest block of the wallet's shard. */
  readonly now: number;
  /** Unix seconds. */
  readonly machineTime: number;
}

/** Explains the refusal of a known wallet; null when the exit code belongs to none of its checks. */
function explainWalletRefusal(refusal: WalletRefusal): SendDiagnosis | null {
  const { wallet, message, exit_code } = refusal;
  const check = CHECKS.find(([type]) => wallet.wallet_type.startsWith(type))?.[1].get(exit_code);
  switch (check) {
    case 'seqno':
      return { reason: 'seqno', explanation: explainSeqno(wallet, message) };
    case 'wallet-id':
      return { reason: 'wallet-id', explanation: explainWalletId(wallet, message) };
    case 'expired':
      return explainExpired(refusal);
    case 'signature':
      return { reason: 'signature', explanation: SIGNATURE };
    case 'expired-or-signature':
      return isExpired(refusal) ? explainExpired(refusal) : { reason: 'signature', explanation: SIGNATURE };
    case 'signature-disabled':
      return {
        reason: 'signature',
        explanation: 'Signatures are disabled for this wallet: its owner uses it through extensions only.',
      };
    case 'mode':
      return {
        reason: 'exit-code',
        explanation:
          'A message has a send mode without +2 (ignore errors), which wallet v5 requires for external-in messages. Add 2 to each send mode.',
      };
    default:
      return null;
  }
}

const SIGNATURE =
  'The signature is invalid: the message was signed with another key than that of this wallet, or its body was changed after signing.';

function explainSeqno({ seqno }: WalletState, message: WalletMessage | null): string {
  if (message === null) return `The seqno of the message differs from that of the wallet, which is ${seqno}.`;
  if (message.seqno < seqno) {
    return `The message has seqno ${message.seqno}, but the wallet is already at ${seqno}: this message or another one with that seqno was applied. Read the seqno again, and sign a new message if this one is not in the wallet's transactions.`;
  }
  if (message.seqno > seqno) {
    return `The message has seqno ${message.seqno}, but the wallet is at ${seqno}: earlier messages are not applied yet, or were lost. Wait for them, or read the seqno again and sign a new message.`;
  }
  return `The message has the seqno of the wallet, ${seqno}, but the node saw another one: it was a block behind or ahead. Send the message again.`;
}

function explainWalletId({ wallet_id }: WalletState, message: WalletMessage | null): string {
  const found = message?.wallet_id;
  const said = found === null || found === undefined ? 'another wallet id' : `wallet id ${found}`;
  return `The message is for ${said}, but this wallet has ${wallet_id}. Sign with the wallet id (subwallet id, network) used at deployment.`;
}

function isExpired({ message, now }: WalletRefusal): boolean {
  return message !== null && message.valid_until !== null && message.valid_until <= now;
}

/** No network is ahead of a correct clock by more seconds, unless its time was moved. */
const MOST_AHEAD = 60;

function explainExpired({ message, now, machineTime }: WalletRefusal): SendDiagnosis {
  const until = message?.valid_until ?? null;
  const ahead = now - machineTime;
  if (ahead > MOST_AHEAD && (until === null || until > machineTime)) {
    const explanation = `This network is ${durationText(minutesOf(ahead))} ahead of the clock of this computer: its time is ${timeText(now)}. ${until === null ? 'The message' : `The message is valid until ${timeText(until)}, which`} has passed there. Sign with a valid_until after ${timeText(now)} (${now}); a local network has its time in /localnet/status, and lets the clock catch up with tern localnet time real.`;
    return { reason: 'network-ahead', explanation };
  }
  const said = until === null ? '' : ` on ${timeText(until)}`;
  const explanation = `The message expired${said} (valid_until); the time of the newest block is ${timeText(now)}. Sign a new message, and check the clock of the signing computer.`;
  return { reason: 'expired', explanation };
}

/** Rounded to whole minutes: blocks are some seconds older than the time of the network. */
function minutesOf(seconds: number): number {
  return Math.round(seconds / 60) * 60;
}

function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}

/** Exit code of the TVM when a cell has too little data, or when a library cannot be loaded. */
const CELL_UNDERFLOW = 9;

/**
 * Exit codes of the TVM and of common contract conventions. Other codes are specific to a contract.
 */
const MEANINGS: ReadonlyMap<number, string> = new Map([
  [0, 'it ended without accepting the message, like a contract that does not accept external-in messages'],
  [1, 'it ended without accepting the message, like a contract that does not accept external-in messages'],
  [2, 'stack underflow: fewer values than an instruction requires'],
  [3, 'stack overflow'],
  [4, 'integer overflow or division by zero'],
  [5, 'integer out of range'],
  [6, 'invalid opcode'],
  [7, 'type check error'],
  [8, 'cell overflow: more data written to a cell than fits'],
  [9, 'cell underflow: the message or the contract data is shorter than the code expects'],
  [10, 'dictionary error'],
  [11, 'the contract has no handler for external-in messages, or does not know the operation'],
  [12, 'fatal error that should be impossible'],
  [13, 'out of gas'],
  [14, 'out of gas'],
  [-14, 'out of gas before accepting the message: until then at most 10,000 units of gas are available'],
  [0xffff, 'the contract does not know the operation'],
]);

/** The common meaning of an exit code of a compute phase; null when it is specific to the contract. */
export function meaningOfExitCode(code: number): string | null {
  return MEANINGS.get(code) ?? null;
}

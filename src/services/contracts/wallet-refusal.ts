import type { WalletState } from '#domain/contracts/wallet.js';
import type { WalletMessage } from '#domain/contracts/wallet-message.js';
import type { SendDiagnosis } from '#services/contracts/contracts.js';

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

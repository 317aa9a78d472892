import { type BlockId, printBlockId } from '#formats/proofs/block-id.js';
import type { CurrencyCollection } from '#formats/tlb/currency.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import { validationErrors } from '#localnet/validation/errors.js';

/** The rules that validators check, by name: each sentence says what must hold. */
export const RULES = {
  'file-hash': 'the id has the SHA-256 of the file',
  'root-hash': 'the id has the hash of the root cell',
  'file-form': 'the file is the bag of cells that nodes write for these cells',
  'given-block': 'what is said of a block beside its file agrees with it',
  'state-update': 'the state update leads from the state before to the state after',
  augmentation: 'extras of dictionaries follow from the entries',
  'dictionary-form': 'dictionaries have the one form that their entries give',
  'global-id': 'the block names its network',
  'vert-seqno': 'the vertical seqno stays',
  'prev-ref': 'the block refers to the blocks before it',
  'master-ref': 'the block refers to a masterchain block, not before that of the blocks before',
  'master-extra': 'masterchain blocks, and only they, have their extra part',
  'split-merge-flags': 'flags about splits and merges are those of a shard, and do not contradict each other',
  'shard-turn': 'the masterchain expects this shard to have a block after these blocks',
  'before-split': 'a shard is split when the masterchain has planned it',
  'key-block': 'a key block is marked as such everywhere, and changes the configuration',
  'gen-utime': 'time does not go back (before version 13 it advances with each block)',
  'start-lt': 'the start lt is the first multiple of a million that all lts before allow',
  'end-lt': 'the end lt is after the start lt, and the first one after all that happened',
  'min-ref-mc-seqno': 'the oldest masterchain block that is still needed is named',
  'prev-key-block': 'the last key block is named',
  'catchain-seqno': 'the session is the one that the masterchain expects',
  'validator-list-hash': 'the validators are those of the session',
  signatures: 'masterchain blocks are signed by their validators',
  'account-block': 'transactions stand under their account, one of the shard',
  'account-state-update': 'transactions lead from the account before to the account after',
  'account-last-transaction': 'an account knows its last transaction',
  'account-address': 'accounts stand under their address',
  'account-unchanged': 'accounts without transactions stay as they are',
  'account-balance': 'value comes and goes with messages and fees only',
  'accounts-dictionary': 'accounts are those before, with what transactions changed',
  'transaction-place': 'transactions stand under their account and lt',
  'transaction-chain': 'each transaction names the one before it',
  'transaction-lt': 'lts of transactions rise, and are those of the block',
  'transaction-time': 'transactions have the time of the block',
  'transaction-status': 'statuses of accounts follow each other',
  'transaction-state-update': 'each transaction starts from the state that the one before it left',
  'transaction-kind': 'transactions are of kinds that are in use, and have the messages of their kind',
  'tick-tock': 'contracts of the network are called at begin and end of each masterchain block, and nobody else is',
  'out-messages': 'messages that a transaction sends are numbered, and have its lts and its time',
  'in-message': 'the message of a transaction is registered as one that came in',
  'out-message': 'each message that a transaction sends is registered as one that left',
  'message-once': 'a message is received once',
  'message-key': 'messages stand under their hash',
  'message-src': 'messages leave from their sender in this shard',
  'message-dest': 'messages are received by their receiver in this shard',
  'message-lt': 'messages are received after they were sent',
  'message-transaction': 'messages are registered with their transaction',
  'message-pair': 'a message that left and came in at once is registered as both, each naming the other',
  'message-next-hop': 'messages come in when their next step leads into the shard',
  'in-message-kind': 'messages came in as a kind that is in use',
  'out-message-kind': 'messages left as a kind that is in use',
  envelope: 'messages are passed on in the same envelope',
  'envelope-route': 'each step brings a message nearer to its receiver, as routing wants',
  'envelope-fee': 'the rest of the forwarding fee is not more than the fee, and all of it at the start',
  'import-fee': 'the forwarding fee that is taken is the one that is due',
  'import-envelope': 'messages come in as they stood in the queue of a neighbour',
  'import-once': 'no message comes in twice',
  'processing-order': 'messages are received in the order in which they were sent on',
  'emitted-lt': 'messages that were put off are sent on at an lt of the block',
  'queue-change': 'the queue is that before, without messages that left it and with new ones',
  'queue-dictionary': 'the queue has the one form that its messages give',
  'queue-size': 'the size of the queue is counted',
  'queue-delivered': 'messages leave the queue when their receiver has them',
  'enqueued-lt': 'messages came into the queue at their own lt, one of the block',
  'dispatch-queue': 'messages that are put off wait under their sender, and leave in their order',
  'processed-info': 'what is known to be received changes by one entry, of this shard and its masterchain block',
  'processed-grows': 'what was received stays so',
  'processed-justified': 'all messages up to the stated one, and no later ones, are received',
  'value-flow': 'each part of the value flow is what happened, and value is neither made nor lost',
  'total-balance': 'the state has the sum of all balances',
  'validator-fees': 'the state has the fees that validators are still to get',
  'state-header': 'the state has the header fields of the block',
  'load-history': 'the history of load is that before with one bit more',
  libraries: 'libraries are those that accounts of the masterchain publish',
  'special-message': 'fees and new currencies are sent to their receiver, as the value flow says',
  'shard-list': 'the masterchain lists all shards of all workchains',
  'shard-entry': 'an entry in the list of shards is what its block says',
  'shard-chain': 'listed blocks follow those listed before, at most eight at once',
  'shard-fees': 'the masterchain takes over what blocks of shards collected and created',
  'split-merge-plan': 'splits and merges are planned as the configuration allows',
  'shard-catchain': 'sessions of shards are renewed in time',
  'validator-info': 'the session of the masterchain is renewed in time',
  'prev-blocks': 'the masterchain remembers all of its blocks',
  'last-key-block': 'the masterchain knows its last key block',
  'global-balance': 'the masterchain knows how much there is in all',
  'block-create-stats': 'blocks are counted by who made them',
  'config-contract': 'the configuration is that of its contract',
  'config-parameters': 'parameters of the configuration have their form, none that is needed is missing',
} as const;

/** Name of a rule. */
export type Rule = keyof typeof RULES;

/** A value that a rule compares. */
export type Compared = string | number | bigint | boolean | null | Uint8Array | CurrencyCollection | BlockId;

/** Where in a block a rule is checked: `account 33…`, `message ab…`. Formatted only when the rule is broken. */
export type RulePlace = string | { readonly what: string; readonly hash: Uint8Array };

/** Checks rules for one block, and throws validation/broken-rule at the first violation. */
export class RuleCheck {
  /** `(0,8000000000000000,12)` */
  readonly block: string;

  constructor(block: string) {
    this.block = block;
  }

  /** Expected and found value must be equal. @throws validation/broken-rule */
  equal(rule: Rule, expected: Compared, found: Compared, place: RulePlace = ''): void {
    if (!sameValue(expected, found)) throw this.broken(rule, expected, found, place);
  }

  /** @param expected what would be valid, in words or as a value @throws validation/broken-rule */
  require(holds: boolean, rule: Rule, expected: Compared, found: Compared, place: RulePlace = ''): void {
    if (!holds) throw this.broken(rule, expected, found, place);
  }

  broken(rule: Rule, expected: Compared, found: Compared, place: RulePlace = ''): Error {
    return validationErrors['broken-rule']({
      block: this.block,
      rule,
      sentence: RULES[rule],
      place: typeof place === 'string' ? place : `${place.what} ${toHex(place.hash)}`,
      expected: show(expected),
      found: show(found),
    });
  }
}

function sameValue(a: Compared, b: Compared): boolean {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && bytesEqual(a, b);
  if ('grams' in a) return 'grams' in b && a.grams === b.grams && sameExtra(a, b);
  return 'seqno' in b && printBlockId(a) === printBlockId(b);
}

function sameExtra(a: CurrencyCollection, b: CurrencyCollection): boolean {
  const { root: left } = a.other;
  const { root: right } = b.other;
  if (left === null || right === null) return left === right;
  return bytesEqual(left.hash(), right.hash());
}

function show(value: Compared): string {
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof Uint8Array) return toHex(value);
  if ('seqno' in value) return printBlockId(value);
  const extra = [...value.other].map(([id, amount]) => ` + ${amount} of currency ${id}`);
  return `${value.grams}${extra.join('')}`;
}

/**
 * A state override in a block: a change that no rule of the network causes, made by a developer.
 *
 * - `account-set`: a transaction without a message changed an account
 * - `account-import`: an account was imported without a transaction
 * - `message-injected`: a message was received that was in no queue
 * - `library-published`: a library was published without an account
 */
export interface Deviation {
  readonly kind: 'account-set' | 'account-import' | 'message-injected' | 'library-published';
  /** `(0,8000000000000000,12)` */
  readonly block: string;
  /** Hex of the account's id, or of the hash of the message or library. */
  readonly subject: string;
}

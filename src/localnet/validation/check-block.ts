import { addCurrency } from '#formats/tlb/currency.js';
import { type ChangedAccount, checkAccounts } from '#localnet/validation/accounts.js';
import type { BlockContext } from '#localnet/validation/block-context.js';
import { checkEndLt, checkHeader } from '#localnet/validation/header.js';
import { checkInMessages } from '#localnet/validation/in-messages.js';
import { MessageBook } from '#localnet/validation/message-book.js';
import { checkNewState } from '#localnet/validation/new-state.js';
import { checkOutMessages } from '#localnet/validation/out-messages.js';
import { checkProcessedInfo } from '#localnet/validation/processed-info.js';
import { checkQueues } from '#localnet/validation/queue.js';
import { checkShardTurn } from '#localnet/validation/shard-turn.js';
import { checkKinds } from '#localnet/validation/tick-tock.js';
import { checkTransactionMessages } from '#localnet/validation/transaction-messages.js';
import { checkValueFlow } from '#localnet/validation/value-flow.js';
import { checkWholeBlock } from '#localnet/validation/whole-block.js';

/** How much there was to check. */
export interface BlockCounts {
  readonly transactions: number;
  /** That came in or left. */
  readonly messages: number;
}

/** What was learnt of a block, for what is checked in masterchain blocks only. */
export interface CheckedBlock {
  readonly accounts: readonly ChangedAccount[];
  readonly book: MessageBook;
}

/** Checks a block of a shard. @throws validation/broken-rule, validation/malformed */
export function checkBlock(context: BlockContext): BlockCounts {
  return countsOf(checkCommon(context));
}

/** Checks what blocks of all chains have in common. */
export function checkCommon(context: BlockContext): CheckedBlock {
  checkWholeBlock(context);
  checkHeader(context);
  checkShardTurn(context);
  const { changed: accounts, imported } = checkAccounts(context);
  const book = new MessageBook(context, accounts);
  checkKinds(context, accounts);
  checkInMessages(context, book);
  checkOutMessages(context, book);
  const { gained, lost } = checkTransactionMessages(context, book, accounts);
  checkEndLt(context, book);
  checkQueues(context, book);
  checkProcessedInfo(context, book);
  checkValueFlow(context, { gained: addCurrency(gained, imported), lost });
  checkNewState(context);
  return { accounts, book };
}

export function countsOf({ book }: CheckedBlock): BlockCounts {
  return { transactions: book.transactions.length, messages: book.in.size + book.out.size };
}

import type { Address } from '@ton/core';
import { expectSame } from '../../same-answer.js';
import { flatten, type LedgerTransaction } from './ledger.js';

/** How a transaction went: `ok`, `no-state`, `exit 42`, `action 37`; with `, bounces` where it sent the message back. */
export function outcome({ transaction: { description } }: LedgerTransaction): string {
  if (description.type !== 'generic') return description.type;
  const { computePhase, actionPhase, bouncePhase } = description;
  let said = 'ok';
  if (computePhase.type === 'skipped') said = computePhase.reason;
  else if (!computePhase.success) said = `exit ${computePhase.exitCode}`;
  else if (actionPhase && !actionPhase.success) said = `action ${actionPhase.resultCode}`;
  return bouncePhase?.type === 'ok' ? `${said}, bounces` : said;
}

/** Compares the transactions of a trace, in the order in which they follow, with who they are of and how they went. */
export function expectOutcomes(root: LedgerTransaction, expected: readonly (readonly [Address, string])[]): string {
  const found = flatten(root).map((each) => [each.account, outcome(each)]);
  expectSame(
    expected.map(([address, said]) => [address.toRawString().toUpperCase(), said]),
    found,
    'accounts and outcomes',
  );
  return `${found.length} transactions: ${found.map(([, said]) => said).join('; ')}`;
}

/** The value of the internal message that a transaction took, in nanotons. */
export function valueIn({ incoming }: LedgerTransaction): bigint {
  if (incoming?.message.info.type !== 'internal') throw new Error('the message is not internal');
  return incoming.message.info.value.coins;
}

/** The body of the message that a transaction took, as a comment. */
export function commentIn({ incoming }: LedgerTransaction): string {
  const body = incoming!.message.body.beginParse();
  if (body.loadUint(32) !== 0) throw new Error('the body is not a comment');
  return body.loadStringTail();
}

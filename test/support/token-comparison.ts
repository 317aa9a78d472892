import { expect, it } from 'vitest';
import { indexReads } from '#drivers/store/read/index-port.js';
import type { IndexReadOptions } from '#drivers/store/read/index-types.js';
import { DEFAULT_THRESHOLDS } from '#drivers/store/read/session.js';
import type { ListedTokenKind, TokenEventFilter } from '#drivers/store/read/token-events.js';
import { deriveTokenEvents } from '#drivers/store/write/derivations.js';
import { compareCombinations, Dice } from '#test/support/filter-combinations.js';
import { boundParts } from '#test/support/index-comparison.js';
import type { IndexedChain } from '#test/support/indexed-chain.js';
import { insertTokens, type TokenFact, tokenEventIds, tokenFacts, verifiedTokens } from '#test/support/token-facts.js';

const options: IndexReadOptions = { signal: new AbortController().signal, timeoutMs: 30_000 };
const OPCODES = [0x0f8a7ea5, 0x595f07bc, 0x178d4519, 0x5fcc3d14];

/** Derives the events of an indexed chain, with tokens that are made up. */
export async function addMadeUpTokens(chain: IndexedChain, from: number, to: number): Promise<TokenFact[]> {
  const facts = tokenFacts(chain);
  const { wallets, items } = verifiedTokens(facts);
  await insertTokens(chain.client, wallets, items);
  await chain.database.transaction((client) => deriveTokenEvents(client, { from, to }, OPCODES));
  await chain.client.query('ANALYZE token_events');
  return facts;
}

/** Tests of the lists of events against brute force, for combinations of their filters. */
export function itListsTokenEvents(
  open: () => { chain: IndexedChain; facts: readonly TokenFact[] },
  kinds: Readonly<Partial<Record<ListedTokenKind, number>>>,
  larger: number,
): void {
  // With low thresholds most keys count as frequent, as those of a large index do.
  const thresholds = [DEFAULT_THRESHOLDS, { ...DEFAULT_THRESHOLDS, tokenEvents: 2 }];
  const cases = Object.entries(kinds).flatMap(([kind, least]) =>
    thresholds.map((threshold) => [kind as ListedTokenKind, least, threshold] as const),
  );

  it.each(cases)('%s (%i queries find something), %o', { timeout: 120_000 }, async (kind, least, threshold) => {
    const { chain, facts } = open();
    const reader = indexReads(chain.database, threshold);
    const ofKind = facts.filter((fact) => fact.kind === kind);
    const anyOf = (dice: Dice) => dice.pick(ofKind);
    const found = await compareCombinations<TokenFact, TokenEventFilter, { id: bigint }>(
      {
        facts: ofKind.filter(({ token }) => token !== undefined),
        parts: {
          source: ({ source }) => ({ owner: [source] }),
          destination: ({ destination, source }) => ({ owner: [destination ?? source] }),
          owners: ({ source }, dice) => ({ owner: [source, anyOf(dice).source, anyOf(dice).destination ?? source] }),
          in: () => ({ direction: 'in' }),
          out: () => ({ direction: 'out' }),
          account: ({ account }) => ({ account: [account] }),
          accounts: ({ account }, dice) => ({ account: [anyOf(dice).account, account, account] }),
          token: ({ token }) => ({ token: token ?? undefined }),
          ...boundParts<TokenFact>(
            ({ lt }) => lt,
            ({ now }) => now,
          ),
        },
        read: (filter, page) => reader.tokenEvents(kind, filter, page, options),
        nameOf: ({ id }) => String(id),
        expected: (filter, sort) => tokenEventIds(facts, kind, filter, sort),
      },
      new Dice(kind.length),
      larger,
    );
    expect(found).toBeGreaterThan(least);
  });
}

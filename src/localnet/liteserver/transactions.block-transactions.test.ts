import { describe, expect, it } from 'vitest';
import { type TransactionsQuery, verifyBlockTransactions, verifyTransactionIds } from '#formats/proofs/transactions.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import { blockTransactionHandlers } from '#localnet/liteserver/transactions.js';
import { blockAt, contextOf, genesisLedger, refusal, strangeId } from '#test/support/genesis-ledger.js';

const context = contextOf(genesisLedger());
const { 'liteServer.listBlockTransactions': list, 'liteServer.listBlockTransactionsExt': listExt } =
  blockTransactionHandlers;
const block = blockAt(context.ledger, 7);

const FLAGS = { proof: 32, reverse: 64, after: 128, metadata: 256 };

function argumentsOf({ count, reverse, after }: TransactionsQuery, fields: number) {
  const mode = fields | (reverse ? FLAGS.reverse : 0) | (after === null ? 0 : FLAGS.after);
  const flags = { reverse_order: reverse, want_proof: (fields & FLAGS.proof) !== 0 };
  return { id: blockIdToTl(block.id), mode, count, after, ...flags };
}

const all: TransactionsQuery = { count: 256, reverse: false, after: null };
const everything = list(argumentsOf(all, 7), context).ids.map(({ account, lt, hash }) => ({
  account: account!,
  lt: lt!,
  hash: hash!,
}));

describe('transactions of a block', () => {
  it('are listed in both directions, from any place, with a proof that none is left out', () => {
    expect(everything.length).toBeGreaterThan(3);
    for (const reverse of [false, true]) {
      const ordered = reverse ? [...everything].reverse() : everything;
      for (let begin = -1; begin < ordered.length; begin++) {
        const after = begin < 0 ? null : ordered[begin]!;
        const query = { count: 2, reverse, after };
        const wanted = ordered.slice(begin + 1, begin + 3);
        const { ids, incomplete, proof } = list(argumentsOf(query, 7 | FLAGS.proof), context);
        expect(ids.map(({ hash }) => hash)).toEqual(wanted.map(({ hash }) => hash));
        expect(verifyTransactionIds(block.id, query, proof, ids).transactions).toHaveLength(wanted.length);
        expect(incomplete).toBe(wanted.length === 2);
        const ext = listExt(argumentsOf(query, FLAGS.proof), context);
        expect(verifyBlockTransactions(block.id, query, ext.proof, ext.transactions).transactions).toHaveLength(
          wanted.length,
        );
      }
    }
  });

  it('have the fields that the mode names, and no proof unless it is asked for', () => {
    const [only] = list(argumentsOf(all, 2), context).ids;
    expect(only).toEqual({ mode: 2, account: null, lt: everything[0]!.lt, hash: null, metadata: null });
    expect(list(argumentsOf(all, 7), context).proof).toHaveLength(0);
    expect(listExt(argumentsOf(all, 0), context).proof).toHaveLength(0);
    expect(list(argumentsOf({ ...all, count: 0 }, 7), context)).toMatchObject({ ids: [], incomplete: true });
    expect(listExt(argumentsOf({ ...all, count: 0 }, 7), context).transactions).toHaveLength(0);
  });

  it('have no metadata where messages have none; asking for it makes the long list come with a proof', () => {
    const [first] = list(argumentsOf(all, 7 | FLAGS.metadata), context).ids;
    expect(first).toMatchObject({ mode: 7, metadata: null });
    const { proof, transactions } = listExt(argumentsOf(all, FLAGS.metadata), context);
    expect(verifyBlockTransactions(block.id, all, proof, transactions).transactions).toHaveLength(everything.length);
  });

  it('are refused for unknown blocks', () => {
    const about = (id: Parameters<typeof blockIdToTl>[0]) =>
      refusal(() => list({ ...argumentsOf(all, 7), id: blockIdToTl(id) }, context));
    expect(about(strangeId(block.id))).toMatch(/^651 cannot load block .* : block handle not in db$/);
    expect(about({ ...block.id, root_hash: new Uint8Array(32) })).toBe('-400 invalid block id requested');
  });
});

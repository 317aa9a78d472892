import { describe, expect, it } from 'vitest';
import { blockIdToTl } from '#formats/tl/block-id.js';
import { encodeBoxed } from '#formats/tl/constructor.js';
import {
  type LiteServerAccountId,
  LiteServerGetAccountState,
  LiteServerGetTransactions,
  LiteServerTransactionList,
  type liteServerFunctions,
} from '#formats/tl/lite-api.js';
import { decodeLiteAnswer, encodeLiteQuery } from '#formats/tl/lite-query.js';
import { answerLiteQuery } from '#localnet/liteserver/answer.js';
import type { LiteContext } from '#localnet/liteserver/lite-handler.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { vectorPath } from '#test/support/vector-files.js';

const ledger = keptReplay(vectorPath('recorded-chain'), { to: null, head: null });
const head = ledger.head!.id;
const LATEST = { ...head, seqno: 0xffffffff, root_hash: new Uint8Array(32), file_hash: new Uint8Array(32) };
const older = ledger.lookup({ workchain: -1, shard: 1n << 63n, by: 'seqno', seqno: 5 })!.id;
const here = { workchain: -1, id: new Uint8Array(32).fill(0x33) };
const missing = { workchain: 0, id: new Uint8Array(32).fill(0x77) };

function ask(fn: (typeof liteServerFunctions)[number], query: unknown, context: Partial<LiteContext>) {
  const all = { ledger, clock: new FakeClock(), unixTime: () => 1_800_000_000, ...context };
  return answerLiteQuery(encodeLiteQuery(fn, query as never, null), all);
}

/** Asks for the state of an account, and says what was brought meanwhile. */
async function asked(id: typeof head, account: LiteServerAccountId) {
  const brought: LiteServerAccountId[] = [];
  let finished = false;
  const importAccount = async (each: LiteServerAccountId) => {
    brought.push(each);
    await new Promise((resolve) => setTimeout(resolve, 20));
    finished = true;
  };
  const bytes = await ask(LiteServerGetAccountState, { id: blockIdToTl(id), account }, { importAccount });
  const awaited = finished;
  return { answer: decodeLiteAnswer(LiteServerGetAccountState, bytes!), brought, awaited };
}

type Asked = Awaited<ReturnType<typeof asked>>['answer'];

function stateIn(answer: Asked): Uint8Array {
  if (answer.error !== null) throw new Error(answer.error.message);
  return answer.value.state;
}

describe('a liteserver of a chain that began from another', () => {
  it('brings an account that the newest state does not have, and answers then', async () => {
    const { answer, brought, awaited } = await asked(LATEST, missing);
    expect(answer.error).toBeNull();
    expect(brought).toEqual([missing]);
    expect(awaited).toBe(true);
  });

  it('answers about the head as it is, and brings the account for later', async () => {
    const { answer, brought, awaited } = await asked(head, missing);
    expect(stateIn(answer)).toHaveLength(0);
    expect(brought).toEqual([missing]);
    expect(awaited).toBe(false);
  });

  it('brings nothing for older blocks, or for an account that is there', async () => {
    expect((await asked(older, missing)).brought).toEqual([]);
    const { answer, brought } = await asked(LATEST, here);
    expect(stateIn(answer).length).toBeGreaterThan(100);
    expect(brought).toEqual([]);
  });

  it('says why an account cannot be brought', async () => {
    const importAccount = () => Promise.reject(new Error('defect'));
    const bytes = await ask(
      LiteServerGetAccountState,
      { id: blockIdToTl(LATEST), account: missing },
      { importAccount },
    );
    expect(decodeLiteAnswer(LiteServerGetAccountState, bytes!).error).toMatchObject({ code: 602 });
    const named = await ask(LiteServerGetAccountState, { id: blockIdToTl(head), account: missing }, { importAccount });
    expect(decodeLiteAnswer(LiteServerGetAccountState, named!).error).toBeNull();
  });

  it('passes on what the other network says about transactions before', async () => {
    const query = { count: 3, account: missing, lt: 7n, hash: new Uint8Array(32).fill(1) };
    const list = encodeBoxed(LiteServerTransactionList, { ids: [], transactions: Uint8Array.of(1, 2, 3) });
    const forkedTransactions = async ({ lt }: { readonly lt: bigint }) => (lt < 10n ? list : null);
    expect(await ask(LiteServerGetTransactions, query, { forkedTransactions })).toEqual(list);
    const own = await ask(LiteServerGetTransactions, { ...query, lt: 10n }, { forkedTransactions });
    expect(decodeLiteAnswer(LiteServerGetTransactions, own!).error).not.toBeNull();
  });
});

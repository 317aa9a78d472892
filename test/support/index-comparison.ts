import { expect, it } from 'vitest';
import { indexReads } from '#drivers/store/read/index-port.js';
import type {
  BlockFilter,
  ByMessageFilter,
  IndexReadOptions,
  MessageFilter,
  TimeBounds,
  TraceFilter,
  TransactionFilter,
} from '#drivers/store/read/index-types.js';
import { DEFAULT_THRESHOLDS } from '#drivers/store/read/session.js';
import { toHex } from '#kernel/bytes.js';
import { compareCombinations, Dice, type FilterParts } from '#test/support/filter-combinations.js';
import type { IndexOracle, MessageFact } from '#test/support/index-oracle.js';
import type { IndexedChain } from '#test/support/indexed-chain.js';

const options: IndexReadOptions = { signal: new AbortController().signal, timeoutMs: 30_000 };
const NOWHERE = new Uint8Array(32).fill(7);

/** Bounds around a moment; the moment itself is an end of them now and then. */
export function boundParts<Fact>(lt: (fact: Fact) => bigint | null, utime: (fact: Fact) => number | null) {
  return {
    start_lt: (fact: Fact, dice: Dice): TimeBounds => ({
      start_lt: (lt(fact) ?? 1n) - dice.pick([0n, 2_000_000n, 30_000_000n]),
    }),
    end_lt: (fact: Fact, dice: Dice): TimeBounds => ({
      end_lt: (lt(fact) ?? 2n ** 64n - 1n) + dice.pick([0n, 2_000_000n, 30_000_000n]),
    }),
    start_utime: (fact: Fact, dice: Dice): TimeBounds => ({ start_utime: (utime(fact) ?? 1) - dice.pick([0, 3, 30]) }),
    end_utime: (fact: Fact, dice: Dice): TimeBounds => ({
      end_utime: (utime(fact) ?? 4_000_000_000) + dice.pick([0, 3, 30]),
    }),
  };
}

/** Tests of all lists against brute force, for combinations of their filters. */
export function itReadsAsBruteForce(open: () => { chain: IndexedChain; oracle: IndexOracle }, larger: number): void {
  it('blocks', async () => {
    const { chain, oracle } = open();
    const found = await compareCombinations(
      {
        facts: oracle.blocks,
        parts: {
          workchain: (fact) => ({ workchain: fact.workchain }),
          shard: (fact) => ({ shard: fact.shard }),
          seqno: (fact) => ({ seqno: fact.seqno }),
          mc_seqno: (fact) => ({ mc_seqno: fact.mc_seqno }),
          shards_only: (_, dice) => ({ shards_only: dice.below(2) === 0 }),
          root_hash: (fact) => ({ root_hash: fact.root_hash }),
          file_hash: (fact) => ({ file_hash: fact.file_hash }),
          ...boundParts<(typeof oracle.blocks)[number]>(
            (fact) => fact.info.start_lt,
            (fact) => fact.info.gen_utime,
          ),
        },
        read: (filter: BlockFilter, page) => chain.reader.blocks(filter, page, options),
        nameOf: ({ workchain, shard, seqno }) => `${workchain}:${shard}:${seqno}`,
        expected: (filter, sort) => oracle.blockNames(filter, sort),
      },
      new Dice(1),
      larger,
    );
    expect(found).toBeGreaterThan(60);
  });

  it('transactions', async () => {
    const { chain, oracle } = open();
    const found = await compareCombinations(
      {
        facts: oracle.transactions,
        parts: {
          workchain: ({ expected }) => ({ workchain: expected.workchain }),
          shard: ({ expected }) => ({ shard: BigInt.asUintN(64, expected.shard) }),
          seqno: ({ expected }) => ({ seqno: expected.block_seqno }),
          mc_seqno: ({ mc_seqno }) => ({ mc_seqno }),
          account: ({ address }) => ({ account: [address] }),
          accounts: ({ address }, dice) => ({
            account: [address, dice.pick(oracle.transactions).address, dice.pick(oracle.transactions).address],
          }),
          exclude: (_, dice) => ({
            exclude_account: [dice.pick(oracle.transactions).address, dice.pick(oracle.transactions).address],
          }),
          hash: ({ hash }, dice) => ({ hash: [hash, NOWHERE, dice.pick(oracle.transactions).hash] }),
          lt: ({ expected }) => ({ lt: expected.lt }),
          ...boundParts<(typeof oracle.transactions)[number]>(
            ({ expected }) => expected.lt,
            ({ expected }) => expected.now,
          ),
        },
        read: (filter: TransactionFilter, page) => chain.reader.transactions(filter, page, options),
        nameOf: ({ id }) => String(id),
        expected: (filter, sort) => oracle.transactionIds(filter, sort),
      },
      new Dice(2),
      larger,
    );
    expect(found).toBeGreaterThan(120);
  });

  const messageParts = (oracle: IndexOracle): FilterParts<MessageFact, MessageFilter> => ({
    msg_hash: ({ hash, norm_hash }, dice) => ({
      msg_hash: [dice.pick([hash, norm_hash]), NOWHERE, dice.pick(oracle.messages).hash],
    }),
    body_hash: ({ body_hash }) => ({ body_hash }),
    source: ({ source }) => ({ source }),
    destination: ({ destination }) => ({ destination }),
    opcode: ({ opcode }) => ({ opcode: opcode ?? 0 }),
    in: () => ({ direction: 'in' }),
    out: () => ({ direction: 'out' }),
  });

  // With low thresholds most keys count as frequent, as those of a large index do.
  const thresholds = [DEFAULT_THRESHOLDS, { messages: 3, messagesOfTransactions: 3, tokenEvents: 3 }];

  it.each(thresholds)('transactions by message, %o', async (threshold) => {
    const { chain, oracle } = open();
    const reader = indexReads(chain.database, threshold);
    const { source: _, destination: __, ...parts } = messageParts(oracle);
    const address = (fact: MessageFact) => fact.source ?? fact.destination ?? oracle.transactions[0]!.address;
    const found = await compareCombinations(
      {
        facts: oracle.messages,
        parts: {
          ...(parts as FilterParts<MessageFact, ByMessageFilter>),
          source: (fact) => ({ source: address(fact) }),
          destination: (fact) => ({ destination: fact.destination ?? address(fact) }),
        },
        read: (filter: ByMessageFilter, page) =>
          Object.keys(filter).some((name) => name !== 'direction')
            ? reader.transactionsByMessage(filter, page, options)
            : Promise.resolve({ rows: [], next: null }),
        nameOf: ({ id }) => String(id),
        expected: (filter, sort) =>
          Object.keys(filter).some((name) => name !== 'direction') ? oracle.transactionIdsByMessage(filter, sort) : [],
      },
      new Dice(3),
      larger,
    );
    expect(found).toBeGreaterThan(30);
  });

  it.each(thresholds)('messages, %o', async (threshold) => {
    const { chain, oracle } = open();
    const reader = indexReads(chain.database, threshold);
    const found = await compareCombinations(
      {
        facts: oracle.messages,
        parts: {
          ...messageParts(oracle),
          exclude_externals: (): MessageFilter => ({ exclude_externals: true }),
          only_externals: (): MessageFilter => ({ only_externals: true }),
          ...boundParts<MessageFact>(
            ({ created_lt }) => created_lt,
            ({ created_at }) => created_at,
          ),
        },
        read: (filter: MessageFilter, page) => reader.messages(filter, page, options),
        nameOf: ({ hash }) => toHex(hash),
        expected: (filter, sort) => oracle.messageHashes(filter, sort),
      },
      new Dice(4),
      larger,
    );
    expect(found).toBeGreaterThan(100);
  });

  it('traces', async () => {
    const { chain, oracle } = open();
    const traceOf = new Map(chain.traces.map((trace) => [trace.root, trace]));
    const found = await compareCombinations(
      {
        facts: oracle.transactions,
        parts: {
          account: ({ address }) => ({ account: address }),
          trace_id: ({ trace_root }, dice) => ({
            trace_id: [traceOf.get(trace_root)!.trace_id, dice.pick(oracle.transactions).hash],
          }),
          tx_hash: ({ hash }, dice) => ({ tx_hash: [hash, NOWHERE, dice.pick(oracle.transactions).hash] }),
          msg_hash: ({ in_msg, out_msgs }, dice) => ({
            msg_hash: [in_msg?.norm_hash ?? NOWHERE, out_msgs.at(-1)?.hash ?? NOWHERE, dice.pick(oracle.messages).hash],
          }),
          mc_seqno: ({ trace_root }) => ({ mc_seqno: traceOf.get(trace_root)!.mc_seqno_end }),
          ...boundParts<(typeof oracle.transactions)[number]>(
            ({ trace_root }) => traceOf.get(trace_root)!.end_lt,
            ({ trace_root }) => traceOf.get(trace_root)!.end_utime,
          ),
        },
        read: (filter: TraceFilter, page) => chain.reader.traces(filter, page, options),
        nameOf: ({ root }) => String(root),
        expected: (filter, sort) => oracle.traceRoots(filter, sort),
      },
      new Dice(5),
      larger,
    );
    expect(found).toBeGreaterThan(60);
  });
}

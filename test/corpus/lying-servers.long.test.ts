import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { Cell } from '#formats/cells/cell.js';
import { AugmentedDictionary } from '#formats/tlb/codec/augmented-dictionary.js';
import { Lazy } from '#formats/tlb/codec/codec.js';
import { Dictionary } from '#formats/tlb/codec/dictionary.js';
import { fromHex, toHex } from '#kernel/bytes.js';
import type { Chain } from '#services/chain/chain.js';
import { Random } from '#test/fuzz/random.js';
import type { DirectServer } from '#test/support/direct-source.js';
import { FULL, partOf } from '#test/support/full-depth.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { type Lie, liesAbout, lyingServer, recordingServer, rememberingServer } from '#test/support/lying-source.js';
import { chainOver, replayServer } from '#test/support/replayed-chain.js';
import { vectorPath } from '#test/support/vector-files.js';

/** A read, and another one of the same kind whose answers a liar may give instead. */
interface Scenario {
  readonly name: string;
  readonly read: (chain: Chain) => Promise<unknown>;
  readonly instead?: (chain: Chain) => Promise<unknown>;
}

/**
 * Fields that are not looked at, each with the reason: changed, they make no difference. Byte strings are not listed: some
 * bits of a bag of cells (sizes of its header, its index) lead to the very same cells.
 */
const NOT_LOOKED_AT: Readonly<Record<string, string>> = {
  'blockHeader.mode': 'repeats the question',
  'lookupBlockResult.mode': 'repeats the question',
  'configInfo.mode': 'repeats the question',
  'libraryResultWithProof.mode': 'repeats the question',
  'blockOutMsgQueueSize.mode': 'repeats the question',
  'blockTransactions.req_count': 'repeats the question',
  'blockTransactionsExt.req_count': 'repeats the question',
  'blockTransactions.ids[].mode': 'says which fields follow; what the proof shows is taken',
  'blockTransactions.incomplete': 'the proof says whether there are more',
  'blockTransactionsExt.incomplete': 'the proof says whether there are more',
  'partialBlockProof.complete': 'if more is to come, it is asked for; if not, what came is proven',
  'transactionList.ids': 'in which blocks transactions are is not taken from there',
  'transactionList.ids[].workchain': 'in which blocks transactions are is not taken from there',
  'transactionList.ids[].shard': 'in which blocks transactions are is not taken from there',
  'transactionList.ids[].seqno': 'in which blocks transactions are is not taken from there',
  'transactionList.ids[].root_hash': 'in which blocks transactions are is not taken from there',
  'transactionList.ids[].file_hash': 'in which blocks transactions are is not taken from there',
  'libraryResultWithProof.result': 'a library given twice, or in another place, is the same library',
  'blockState.root_hash': 'the id has it, and the data is checked against that',
  'blockState.file_hash': 'the id has it, and the data is checked against that',
  'accountState.shardblk.workchain': 'where shard 0 says that there is no workchain, shard_proof proves it',
  'accountState.shardblk.seqno': 'where shard 0 says that there is no workchain, shard_proof proves it',
  'outMsgQueueSizes.shards': 'sizes are read with their proofs',
  'outMsgQueueSizes.shards[].size': 'sizes are read with their proofs',
  'outMsgQueueSizes.shards[].id.workchain': 'sizes are read with their proofs',
  'outMsgQueueSizes.shards[].id.shard': 'sizes are read with their proofs',
  'outMsgQueueSizes.shards[].id.seqno': 'sizes are read with their proofs',
  'outMsgQueueSizes.shards[].id.root_hash': 'sizes are read with their proofs',
  'outMsgQueueSizes.shards[].id.file_hash': 'sizes are read with their proofs',
};

/** Fields that no client can verify, each with the reason: changed, they make another value. */
const UNVERIFIABLE: Readonly<Record<string, string>> = {
  'outMsgQueueSizes.ext_msg_queue_size_limit': 'a server says it of itself',
  'partialBlockProof.steps[].signatures.signatures': 'any signers of more than two thirds of the weight are enough',
};

const ELECTOR = account(-1, 0x33);

function account(workchain: number, byte: number): Address {
  return Address.ofParts(workchain, new Uint8Array(32).fill(byte));
}

/** All reads, at the block with seqno `at`; a liar may give what belongs to another one. */
function scenarios(at: number, other: number, more: readonly Scenario[]): readonly Scenario[] {
  const both = (name: string, read: (chain: Chain, at: number) => Promise<unknown>): Scenario => ({
    name,
    read: (chain) => read(chain, at),
    instead: (chain) => read(chain, other),
  });
  const masterchain = { workchain: -1, shard: 1n << 63n };
  return [
    { name: 'head', read: (chain) => chain.head() },
    { name: 'wait for head', read: (chain) => chain.waitForHead(at) },
    both('block by seqno', (chain, seqno) => chain.findBlock({ ...masterchain, by: 'seqno', seqno })),
    both('block by lt', async (chain, seqno) => {
      const { end_lt } = (await chain.header({ at: seqno })).header.info;
      return chain.findBlock({ ...masterchain, by: 'lt', lt: end_lt });
    }),
    both('block by time', async (chain, seqno) => {
      const { gen_utime } = await chain.header({ at: seqno });
      return chain.findBlock({ ...masterchain, by: 'utime', utime: gen_utime });
    }),
    both('shard block by seqno', (chain, seqno) =>
      chain.findBlock({ workchain: 0, shard: 1n << 62n, by: 'seqno', seqno: seqno >> 1 }),
    ),
    both('header', (chain, seqno) => chain.header({ at: seqno })),
    both('block data', (chain, seqno) => chain.blockData({ at: seqno })),
    { name: 'zerostate', read: (chain) => chain.zerostate() },
    both('shards', (chain, seqno) => chain.shards({ at: seqno })),
    both('shard', (chain, seqno) => chain.shard({ workchain: 0, shard: 0x3456n << 48n }, { at: seqno })),
    both('transaction ids', (chain, seqno) => chain.transactionIds({ at: seqno, count: 2 })),
    both('transactions of a block', (chain, seqno) => chain.allBlockTransactions({ at: seqno })),
    both('account', (chain, seqno) => chain.account(ELECTOR, { at: seqno })),
    both('pruned account', (chain, seqno) => chain.account(ELECTOR, { at: seqno, pruned: true })),
    both('absent account', (chain, seqno) => chain.account(account(0, 0x77), { at: seqno })),
    both('account of no workchain', (chain, seqno) => chain.account(account(5, 0x77), { at: seqno })),
    both('history', (chain, seqno) => chain.accountTransactions(ELECTOR, { at: seqno, limit: 3 })),
    both('transaction', async (chain, seqno) => {
      const { last_transaction } = await chain.account(ELECTOR, { at: seqno });
      return chain.transaction(ELECTOR, last_transaction!.lt);
    }),
    both('parameters', (chain, seqno) => chain.configParams([0, 8, 34, 99], { at: seqno })),
    both('configuration', (chain, seqno) => chain.config({ at: seqno })),
    both('absent library', (chain, seqno) => chain.libraries([new Uint8Array(32)], { at: seqno })),
    both('proof forward', (chain, seqno) => chain.blockProof(0, seqno)),
    both('proof back', (chain, seqno) => chain.blockProof('head', seqno)),
    both('signatures', (chain, seqno) => chain.blockSignatures({ at: seqno })),
    both('proof of a shard block', async (chain, seqno) => {
      const { shards } = await chain.shards({ at: seqno });
      return chain.shardBlockProof({ at: shards[0]!.block });
    }),
    { name: 'queue limit', read: (chain) => chain.externalQueueLimit() },
    ...more,
  ];
}

const LIBRARIES = [
  '06df10468e8debffe4fda175fb8e74284b018a2c20debe5de77a81c6568cd875',
  '8f452d7a4dfd74066b682365177259ed05734435be76b5fd4bd5d8af2b7c3d68',
].map((hash) => fromHex(hash)!);

/** What modern networks have besides: sizes of queues, libraries, split shards. */
const MODERN: readonly Scenario[] = [
  {
    name: 'queue sizes',
    read: (chain) => chain.queueSizes({ at: 560 }),
    instead: (chain) => chain.queueSizes({ at: 552 }),
  },
  { name: 'libraries', read: (chain) => chain.libraries(LIBRARIES, { at: 1100 }) },
  {
    name: 'shards after a split',
    read: (chain) => chain.shards({ at: 560 }),
    instead: (chain) => chain.shards({ at: 552 }),
  },
  {
    name: 'account after a split',
    read: (chain) => chain.account(account(0, 0x77), { at: 560 }),
    instead: (chain) => chain.account(account(0, 0x99), { at: 560 }),
  },
  {
    name: 'shard block by lt',
    read: async (chain) => {
      const [left] = (await chain.shards({ at: 560 })).shards;
      return chain.findBlock({ workchain: 0, shard: 1n << 60n, by: 'lt', lt: left!.entry.descr.start_lt });
    },
  },
];

/** A value without what servers may write in several ways: bytes of proofs, parts that were not read. */
function print(value: unknown): unknown {
  if (value instanceof Cell) return toHex(value.hash(0));
  if (value instanceof Uint8Array) return toHex(value);
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Map) return [...value].map(([key, item]) => [key, print(item)]);
  if (Array.isArray(value)) return value.map(print);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Address) return value.toRaw();
  if (value instanceof Lazy) return 'not read';
  if (value instanceof Dictionary || value instanceof AugmentedDictionary) return print(value.root);
  const fields = Object.entries(value).filter(([key]) => !PROOFS.has(key));
  return Object.fromEntries(fields.map(([key, field]) => [key, print(field)]));
}

const PROOFS = new Set(['proof', 'dest_proof', 'config_proof', 'state_proof']);

async function printedValue(read: Scenario['read'], chain: Chain): Promise<string> {
  return JSON.stringify(print(await read(chain)));
}

interface Tally {
  lies: number;
  refused: number;
  harmless: number;
  unverifiable: number;
  readonly answers: Set<string>;
}

/**
 * Tells every lie once, the honest server standing by: whoever believes a lie gives another value than the true one, who
 * finds it out asks the honest one.
 */
async function tellLies(
  folder: string,
  to: number | null,
  all: readonly Scenario[],
  random: Random,
  flips: number,
): Promise<Tally> {
  const ledger = keptReplay(folder, { to, head: null });
  const honest = rememberingServer(replayServer(ledger));
  const over = (...servers: DirectServer[]) => chainOver(ledger.zerostate, servers);
  const tally: Tally = { lies: 0, refused: 0, harmless: 0, unverifiable: 0, answers: new Set() };
  const reported = new Set<string>();
  for (const { name, read, instead } of all) {
    const answered: Uint8Array[] = [];
    const truth = await printedValue(read, over(recordingServer(honest, answered)).chain);
    const others: Uint8Array[] = [];
    if (instead !== undefined) await instead(over(recordingServer(honest, others)).chain);
    for (const [question, answer] of answered.entries()) {
      const key = Buffer.from(answer).toString('latin1');
      if (reported.has(key)) continue;
      reported.add(key);
      for (const lie of liesInstead(answer, others[question], random, flips)) {
        tally.lies++;
        tally.answers.add(lie.answer);
        const message = `${name}, question ${question}, ${lie.answer} ${lie.text}`;
        const { chain, source } = over(lyingServer(honest, question, lie.bytes), honest);
        const value = await printedValue(read, chain).catch((error: unknown) => expect.fail(`${message}: ${error}`));
        const field = `${lie.answer.replace('liteServer.', '')}.${lie.field}`;
        if (value !== truth) {
          expect(UNVERIFIABLE, message).toHaveProperty([field]);
          tally.unverifiable++;
        } else if (source.faults.length > 0 || source.asked.length > answered.length) {
          tally.refused++;
          for (const { code } of source.faults) expect(code, message).toMatch(/^(proofs|chain|lite)\//);
        } else {
          if (!lie.inBytes) expect({ ...NOT_LOOKED_AT, ...UNVERIFIABLE }, message).toHaveProperty([field]);
          tally.harmless++;
        }
      }
    }
  }
  return tally;
}

/** Lies about an answer; one more is the answer to the other question. */
function* liesInstead(
  answer: Uint8Array,
  other: Uint8Array | undefined,
  random: Random,
  flips: number,
): Generator<Lie> {
  const lies = [...liesAbout(answer, random, flips)];
  yield* partOf(lies, 2);
  if (other === undefined || Buffer.compare(other, answer) === 0) return;
  yield { answer: lies[0]!.answer, field: '', text: 'is that to another question', bytes: other, inBytes: false };
}

describe('of servers that lie, no value is taken that is not true', () => {
  it('on the first blocks of mainnet', async () => {
    const tally = await tellLies(
      vectorPath('mainnet-genesis'),
      9,
      scenarios(8, 6, []),
      new Random('mainnet'),
      FULL ? 12 : 2,
    );
    report(tally);
    expect(tally.lies).toBeGreaterThan(FULL ? 3000 : 500);
    expect(tally.answers.size).toBe(16);
  });

  const folder = vectorPath('collection/recorded-net/chain');
  it('on the recorded network', async () => {
    const tally = await tellLies(folder, null, scenarios(600, 500, MODERN), new Random('recorded'), FULL ? 5 : 1);
    report(tally);
    expect(tally.lies).toBeGreaterThan(FULL ? 3000 : 500);
    expect(tally.answers.size).toBe(17);
  });
});

function report({ lies, refused, harmless, unverifiable, answers }: Tally): void {
  const kinds = `${answers.size} kinds of answers`;
  console.log(`${lies} lies in ${kinds}: ${refused} refused, ${harmless} without effect, ${unverifiable} unverifiable`);
  expect(refused + harmless + unverifiable).toBe(lies);
  expect(harmless).toBeLessThan(lies * 0.15);
}

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ReplayGetMethods, startReplayGetMethods } from '#app/cli/replay.js';
import { getMethodId } from '#drivers/tvm/get-method.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import { decodeOne, encodeBoxed } from '#formats/tl/constructor.js';
import {
  LiteServerBlockHeader,
  LiteServerLookupBlockResult,
  LiteServerQuery,
  LiteServerRunMethodResult,
  LiteServerRunSmcMethod,
} from '#formats/tl/lite-api.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { VmStack, VmStackValue, vmInt, vmTuple } from '#formats/tlb/vm-stack.js';
import { fromBase64, toHex } from '#kernel/bytes.js';
import { answerLiteQuery } from '#localnet/liteserver/answer.js';
import type { ReplayLedger } from '#localnet/replay/replay-ledger.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { latestBlock } from '#test/support/lite-answers.js';
import {
  type Agreement,
  type AnsweredQuestion,
  compareAnswers,
  errorCodeOf,
  printAnswer,
  provenBy,
} from '#test/support/lite-comparison.js';
import { type LiteExchange, readLiteExchanges } from '#test/support/lite-exchanges.js';
import { TlReader } from '#test/support/tl-reader.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

const folder = vectorPath('collection/recorded-net/chain');
const recording = vectorPath('collection/recorded-net/lite-queries.jsonl.br');

/** A recorded exchange, the envelope of the query included. */
interface Recorded extends AnsweredQuestion {
  readonly query: Uint8Array;
  /** `null`: there was no answer. */
  readonly response: Uint8Array | null;
}

function* readRecording(path: string): Generator<Recorded> {
  for (const line of Buffer.from(readBytes(path)).toString('utf8').split('\n')) {
    if (line === '') continue;
    const { n, function: name, desc, request, response } = JSON.parse(line) as Record<string, string | null>;
    const query = fromBase64(request!)!;
    yield {
      n: Number(n),
      function: name!,
      desc: desc!,
      query,
      request: name === 'malformed' ? query : new TlReader(query).expect(0x798c06df).bytes(),
      response: response === null ? null : fromBase64(response!),
    };
  }
}

/** Why an answer may be another one, and what it must be then. */
interface Exemption {
  readonly reason: string;
  readonly functions: readonly string[];
  accepts(exchange: Recorded, answer: Uint8Array): boolean;
}

const RAND_SEED = 6;

/** An answer with the random seed of the recorded one in its `init_c7`: the only thing that no other server can repeat. */
function withRecordedSeed(answer: Uint8Array, response: Uint8Array): Uint8Array {
  if ([answer, response].some((bytes) => new TlReader(bytes).word() !== LiteServerRunMethodResult.id)) return answer;
  const ours = decodeOne(LiteServerRunMethodResult, answer);
  const [own, recorded] = [ours, decodeOne(LiteServerRunMethodResult, response)].map(({ init_c7 }) => infoOf(init_c7));
  if (own == null || recorded == null) return answer;
  seeds.add(toHex(encodeCell(VmStackValue, own[RAND_SEED]!).hash()));
  const c7 = vmTuple([vmTuple(own.with(RAND_SEED, recorded[RAND_SEED]!))]);
  return encodeBoxed(LiteServerRunMethodResult, { ...ours, init_c7: serializeBoc(encodeCell(VmStackValue, c7)) });
}

/** `SmartContractInfo`: the only item of `c7`. */
function infoOf(c7: Uint8Array | null): readonly VmStackValue[] | null {
  if (c7 === null || c7.length === 0) return null;
  const value = decodeCell(VmStackValue, parseBocRoot(c7));
  const [info] = value.kind === 'vm_stk_tuple' && value.data.length === 1 ? value.data : [];
  return info?.kind === 'vm_stk_tuple' ? info.data : null;
}

/** Seeds that were answered, to see that each is another. */
const seeds = new Set<string>();

const exemptions: readonly Exemption[] = [
  {
    reason: 'a recorded chain takes no messages: the refusal is 0 whatever the message is',
    functions: ['liteServer.sendMessage'],
    accepts: ({ response }, answer) => errorCodeOf(response!) !== null && errorCodeOf(answer) === 0,
  },
  {
    reason: 'of several blocks in one second the reference finds any, this server the first',
    functions: ['liteServer.lookupBlock'],
    accepts: ({ desc, response }, answer) => {
      if (!desc.startsWith('utime')) return false;
      const [theirs, ours] = [response!, answer].map((bytes) =>
        ledgerBlock(blockIdFromTl(decodeOne(LiteServerBlockHeader, bytes).id)),
      );
      return ours!.gen_utime === theirs!.gen_utime && ours!.end_lt < theirs!.end_lt;
    },
  },
  {
    reason: 'the same with proof; where the block that the reference found was too new, it refused',
    functions: ['liteServer.lookupBlockWithProof'],
    accepts: (exchange, answer) => {
      if (!exchange.desc.startsWith('utime') || provenBy(exchange, answer).startsWith('refused')) return false;
      if (errorCodeOf(exchange.response!) === 0) return true;
      const [theirs, ours] = [exchange.response!, answer].map((bytes) =>
        ledgerBlock(blockIdFromTl(decodeOne(LiteServerLookupBlockResult, bytes).id)),
      );
      return ours!.gen_utime === theirs!.gen_utime && ours!.end_lt < theirs!.end_lt;
    },
  },
];

let ledgers: (head: number) => ReplayLedger;
/** Forgets a ledger whose head has moved. */
let moved: (head: number) => void;
let last: ReplayLedger;
let methods: ReplayGetMethods;

function ledgerBlock(id: ReturnType<typeof blockIdFromTl>) {
  return last.block(id);
}

/** What is answered when the head stands at a seqno; one that waits sees the head move on, or its time pass. */
async function ask(query: Uint8Array, head: number, timesOut: boolean): Promise<Uint8Array | null> {
  const ledger = ledgers(head);
  const clock = new FakeClock();
  const answer = answerLiteQuery(query, {
    ledger,
    clock,
    unixTime: () => 1_800_000_000,
    runGetMethod: methods.run,
    randomBytes,
  });
  if (clock.pending === 0) return await answer;
  if (timesOut) {
    clock.advance(10_000);
  } else {
    ledger.advanceTo(head + 100);
    moved(head);
  }
  return answer;
}

beforeAll(async () => {
  methods = await startReplayGetMethods();
});

afterAll(() => methods.close());

describe('tern replay of recorded-net, asked what was recorded', () => {
  beforeAll(() => {
    const made = new Map<number, ReplayLedger>();
    ledgers = (head) => {
      const ledger = made.get(head) ?? keptReplay(folder, { to: null, head });
      made.set(head, ledger);
      return ledger;
    };
    moved = (head) => void made.delete(head);
    last = ledgers(keptReplay(folder, { to: null, head: null }).lastSeqno);
  });

  it('answers with the same values and error codes', async () => {
    const table = new Map<string, Record<string, number>>();
    const count = (name: string, column: string): void => {
      const row = table.get(name) ?? {};
      row[column] = (row[column] ?? 0) + 1;
      table.set(name, row);
    };
    const used = new Map<string, number>();
    const problems: string[] = [];
    // The head of the recorded node moved on while it was asked.
    let head = 1048;
    for (const exchange of readRecording(recording)) {
      const { n, function: name, desc, query, response } = exchange;
      if (response === null) {
        expect(await ask(query, head, false), `${n} ${desc}`).toBeNull();
        count(name, 'no answer');
        continue;
      }
      const timesOut = errorCodeOf(response) === 652;
      let agreement: Agreement = null;
      let answer: Uint8Array = new Uint8Array();
      for (let at = head; at <= head + 6 && agreement === null; at++) {
        answer = withRecordedSeed((await ask(query, at, timesOut))!, response);
        agreement = compareAnswers(exchange, response, answer);
        if (agreement !== null) head = at;
      }
      const exemption = exemptions.find((each) => each.functions.includes(name) && each.accepts(exchange, answer));
      if (agreement !== null) {
        count(name, agreement);
      } else if (exemption !== undefined) {
        used.set(exemption.reason, (used.get(exemption.reason) ?? 0) + 1);
        count(name, 'exempt');
      } else {
        problems.push(`${n} ${name} ${desc}: ${printAnswer(answer)} instead of ${printAnswer(response)}`);
      }
    }
    console.table(Object.fromEntries(table));
    console.table([...used].map(([reason, exchanges]) => ({ exchanges, reason })));
    expect(problems).toEqual([]);
    expect(seeds.size).toBe(36);
    expect(head).toBeLessThan(1060);
  });
});

/** Whether the answer depends on the head at its time. */
function asksForHead(exchange: LiteExchange): boolean {
  if (latestBlock(exchange) !== null) return true;
  switch (exchange.function) {
    case 'liteServer.getBlockProof':
      return (exchange.request[5]! & 0x10) === 0;
    case 'liteServer.getMasterchainInfo':
    case 'liteServer.getLibraries':
    case 'liteServer.getOutMsgQueueSizes':
      return true;
    default:
      return false;
  }
}

describe('the first blocks of recorded-net, asked what was recorded of them', () => {
  it('are reported in the same bytes', async () => {
    const ledger = keptReplay(vectorPath('recorded-chain'), { to: null, head: null });
    const modules = { ledger, clock: new FakeClock(), unixTime: () => 0, runGetMethod: methods.run };
    const agreements: Record<string, number> = {};
    for (const exchange of readLiteExchanges(vectorPath('proofs/lite-answers.jsonl.gz'))) {
      const answer = (await answerLiteQuery(encodeBoxed(LiteServerQuery, { data: exchange.request }), modules))!;
      // About later blocks, or about the latest, whichever that was.
      if (errorCodeOf(answer) !== null || asksForHead(exchange)) continue;
      const agreement = compareAnswers(exchange, exchange.response, answer);
      expect(agreement, `${exchange.n} ${exchange.function} ${exchange.desc}`).not.toBeNull();
      agreements[agreement!] = (agreements[agreement!] ?? 0) + 1;
    }
    expect(agreements).toEqual({ bytes: 23 });
  });

  it('have an elector and a configuration that answer get methods', async () => {
    const ledger = keptReplay(vectorPath('recorded-chain'), { to: null, head: null });
    const modules = { ledger, clock: new FakeClock(), unixTime: () => 0, runGetMethod: methods.run };
    const id = blockIdToTl(ledger.head!.id);
    const run = async (account: number, method: string) => {
      const method_id = BigInt(getMethodId(method));
      const asked = { mode: 7, id, account: { workchain: -1, id: new Uint8Array(32).fill(account) }, method_id };
      const data = encodeBoxed(LiteServerRunSmcMethod, { ...asked, params: new Uint8Array() });
      const answer = (await answerLiteQuery(encodeBoxed(LiteServerQuery, { data }), modules))!;
      const question = { n: 0, function: LiteServerRunSmcMethod.name, desc: method, request: data };
      expect(provenBy(question, answer)).toMatch(/^\d+ [0-9a-f]{64} \d+$/);
      const { exit_code, result } = decodeOne(LiteServerRunMethodResult, answer);
      return [exit_code, decodeCell(VmStack, parseBocRoot(result!))];
    };
    expect(await run(0x33, 'active_election_id')).toEqual([0, [vmInt(0)]]);
    expect(await run(0x55, 'seqno')).toEqual([0, [vmInt(0)]]);
    expect(await run(0x33, 'no_such_method')).toMatchObject([11, {}]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { v2AccountEndpoints } from '#api/v2/accounts.js';
import { dnsEndpoints } from '#api/v2/dns.js';
import { nodeEndpoints } from '#api/v2/network.js';
import { runMethodEndpoints } from '#api/v2/run-method.js';
import { sendEndpoints } from '#api/v2/send.js';
import { tokenEndpoints } from '#api/v2/tokens.js';
import { utilityEndpoints } from '#api/v2/utilities.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { ContractService } from '#services/emulation/contract-service.js';
import { PinnedNetwork } from '#test/contract/pinned-network.js';
import {
  type Answer,
  compareCalls,
  type RecordedCall,
  readRecordings,
  readRules,
} from '#test/contract/recorded-calls.js';
import { RecordedCalls, recordedCall } from '#test/contract/v2-recorded.js';
import { FULL, partOf } from '#test/support/full-depth.js';
import { type ReplayedChain, replayedChain } from '#test/support/replayed-chain.js';
import { startTvm } from '#test/support/tvm-pool.js';
import { vectorPath } from '#test/support/vector-files.js';

const ROOT = `${import.meta.dirname}/../..`;
const RULES = readRules(`${import.meta.dirname}/v2-account-rules.json`);
const ENDPOINTS = [
  ...v2AccountEndpoints,
  ...tokenEndpoints,
  ...dnsEndpoints,
  ...runMethodEndpoints,
  ...sendEndpoints,
  ...utilityEndpoints,
  ...nodeEndpoints,
];

let tvm: TvmPool;
beforeAll(async () => {
  tvm = await startTvm();
});
afterAll(() => tvm.close());

/** Answers recorded calls at the blocks at which they were recorded, as far as the chain goes. */
class CallsAtTheirBlocks {
  readonly #network: PinnedNetwork;
  readonly #calls: RecordedCalls;
  readonly recorded: readonly RecordedCall[];
  /** Newest block of the recording at some moments. */
  readonly #heads: readonly (readonly [time: string, seqno: number])[];

  constructor(replayed: ReplayedChain, recordings: string) {
    const { chain, source: lite, ledger } = replayed;
    const contracts = new ContractService(
      {},
      {
        chain,
        tvm,
        lite,
        clock: systemClock,
        unixTimeMs: Date.now,
        randomBytes: (size) => new Uint8Array(size),
        logger: silentLogger,
      },
    );
    this.#network = new PinnedNetwork(chain, contracts, ledger.lastSeqno);
    this.#calls = new RecordedCalls(ENDPOINTS, this.#network);
    const all = readRecordings(recordings);
    this.recorded = all
      .map(recordedCall)
      .filter((call) => call !== null)
      .filter(({ name }) => this.#calls.has(name));
    this.#heads = this.recorded
      .filter(({ params }) => params.seqno === undefined)
      .map((call) => [timeOf(call), blockOf(call.recording.response)] as const)
      .filter((head): head is [string, number] => head[1] !== null)
      .sort(([a], [b]) => (a < b ? -1 : 1));
  }

  async answer(call: RecordedCall): Promise<Answer> {
    const recordedAt = blockOf(call.recording.response);
    this.#network.seqno = recordedAt ?? this.#headAt(timeOf(call));
    const answer = await this.#calls.answer(call);
    // A block that the chain does not have cannot be answered; all else of it can.
    if (recordedAt !== null && recordedAt > this.#network.last && answer.status === 200) {
      const { block_id, sync_utime } = resultOf(call.recording.response);
      const result = resultOf(answer.response);
      result.block_id = block_id;
      if (sync_utime !== undefined) result.sync_utime = sync_utime;
    }
    return answer;
  }

  #headAt(time: string): number {
    return this.#heads.findLast(([at]) => at <= time)?.[1] ?? this.#heads[0]?.[1] ?? this.#network.last;
  }
}

interface Result {
  block_id?: { readonly seqno: number } | undefined;
  sync_utime?: number;
}

function resultOf(response: unknown): Result {
  return (response as { readonly result?: Result }).result ?? {};
}

function blockOf(response: unknown): number | null {
  return resultOf(response).block_id?.seqno ?? null;
}

function timeOf({ recording }: RecordedCall): string {
  return (recording as unknown as { readonly time: string }).time;
}

describe('accounts, get methods, fees and tokens of a chain of 380 blocks', () => {
  it('are what a reference service answered', async () => {
    const calls = new CallsAtTheirBlocks(
      replayedChain(`${ROOT}/vectors/dev-chain`),
      vectorPath('v2/account-recordings.jsonl.gz'),
    );
    const { equal, differences } = await compareCalls(calls.recorded, RULES, (call) => calls.answer(call));
    expect(differences).toEqual([]);
    expect(equal).toBe(calls.recorded.length);
    expect(equal).toBeGreaterThan(200);
  });
});

const folder = vectorPath('collection/recorded-net');

describe('accounts, get methods, fees and tokens of a whole recorded chain', () => {
  it('are what a reference service answered, but for what the rules say', async () => {
    const calls = new CallsAtTheirBlocks(replayedChain(`${folder}/chain`), `${folder}/v2-recordings.jsonl.br`);
    const recorded = partOf(calls.recorded, 6);
    const comparison = await compareCalls(recorded, RULES, (call) => calls.answer(call));
    expect(comparison.differences).toEqual([]);
    if (FULL) expect(comparison.stale).toEqual([]);
    expect(comparison.equal).toBe(recorded.length - comparison.skipped);
    expect(comparison.equal).toBeGreaterThan(FULL ? 4000 : 650);
  });
});

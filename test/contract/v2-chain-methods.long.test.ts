import { beforeAll, describe, expect, it } from 'vitest';
import { v2BlockEndpoints } from '#api/v2/blocks.js';
import { locateEndpoints } from '#api/v2/locate.js';
import { configurationEndpoints } from '#api/v2/network.js';
import { accountTransactionEndpoints, blockTransactionEndpoints } from '#api/v2/transactions.js';
import type { ContractReads } from '#services/emulation/contract-reads.js';
import { compareCalls, type RecordedCall, readRecordings, readRules } from '#test/contract/recorded-calls.js';
import { RecordedCalls, recordedCall } from '#test/contract/v2-recorded.js';
import { type ReplayedChain, replayedChain } from '#test/support/replayed-chain.js';
import { vectorPath } from '#test/support/vector-files.js';

const ROOT = `${import.meta.dirname}/../..`;
const RULES = readRules(`${import.meta.dirname}/v2-rules.json`);
const ENDPOINTS = [
  ...v2BlockEndpoints,
  ...blockTransactionEndpoints,
  ...accountTransactionEndpoints,
  ...locateEndpoints,
  ...configurationEndpoints,
];

/** Nothing here runs a contract. */
const NO_CONTRACTS = {} as ContractReads;

function callsOver({ chain }: ReplayedChain): RecordedCalls {
  return new RecordedCalls(ENDPOINTS, {
    chain,
    contracts: NO_CONTRACTS,
    servers: () => [],
    now: () => 1_800_000_000_000,
  });
}

function recordedCalls(file: string, calls: RecordedCalls): RecordedCall[] {
  return readRecordings(file)
    .map(recordedCall)
    .filter((call) => call !== null)
    .filter(({ name }) => calls.has(name));
}

describe('blocks, transactions and configuration of a chain of 380 blocks', () => {
  it('are what a reference service answered', async () => {
    const calls = callsOver(replayedChain(`${ROOT}/vectors/dev-chain`));
    const recorded = recordedCalls(vectorPath('v2/chain-recordings.jsonl.gz'), calls);
    const { cases, equal, differences } = await compareCalls(recorded, RULES, (call) => calls.answer(call));
    expect(differences).toEqual([]);
    expect({ cases, equal }).toEqual({ cases: 227, equal: 227 });
  });
});

const folder = vectorPath('collection/recorded-net');

describe('blocks, transactions and configuration of a whole recorded chain', () => {
  let calls: RecordedCalls;
  let recorded: RecordedCall[];

  beforeAll(() => {
    calls = callsOver(replayedChain(`${folder}/chain`));
    recorded = recordedCalls(`${folder}/v2-recordings.jsonl.br`, calls);
  });

  it('are what a reference service answered, but for what the rules say', async () => {
    const { equal, skipped, differences, stale } = await compareCalls(recorded, RULES, (call) => calls.answer(call));
    expect(differences).toEqual([]);
    expect(stale).toEqual([]);
    expect(recorded.length - skipped).toBe(equal);
    expect(equal).toBeGreaterThan(1100);
  });

  it('have messages with the same text', async () => {
    let compared = 0;
    for (const call of recorded) {
      if (!/^(getTransactions|tryLocate.*)$/.test(call.name) || call.recording.status !== 200) continue;
      const answer = await calls.answer(call);
      if (answer.status !== 200) continue;
      const texts = messageTexts(answer.response);
      for (const [hash, text] of messageTexts(call.recording.response)) {
        if (!texts.has(hash)) continue;
        expect(texts.get(hash)?.replaceAll('\n', '')).toBe(text?.replaceAll('\n', ''));
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(1300);
  });

  it('are located also where the reference service gave up', async () => {
    const lost = recorded.filter(
      ({ name, recording }) =>
        name.startsWith('tryLocate') && recording.status !== 200 && recording.desc?.startsWith('src mc') === true,
    );
    expect(lost.length).toBeGreaterThan(30);
    for (const call of lost) {
      const { response } = await calls.answer(call);
      const { source, destination, created_lt } = call.params;
      const { in_msg, out_msgs } = (response as { result: Located }).result;
      const named = [in_msg, ...out_msgs].filter((message) => message?.created_lt === String(created_lt));
      expect(named).toMatchObject([{ source, destination }]);
    }
  });
});

interface Located {
  readonly in_msg?: { readonly source: string; readonly destination: string; readonly created_lt: string };
  readonly out_msgs: readonly { readonly source: string; readonly destination: string; readonly created_lt: string }[];
}

/** `message` of each message by its hash, wherever it stands. */
function messageTexts(value: unknown, found = new Map<string, string | undefined>()): Map<string, string | undefined> {
  if (typeof value !== 'object' || value === null) return found;
  const { hash, msg_data, message } = value as { hash?: string; msg_data?: unknown; message?: string };
  if (hash !== undefined && msg_data !== undefined) found.set(hash, message);
  for (const part of Object.values(value)) messageTexts(part, found);
  return found;
}

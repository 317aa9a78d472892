import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Answer,
  compareCalls,
  type RecordedCall,
  readLines,
  readRecordings,
  readRules,
} from '#test/contract/recorded-calls.js';
import { asksForActions, askV3, callOf } from '#test/contract/v3-recorded.js';
import type { Recorded } from '#test/support/recorded-v3.js';
import { type ServedV3, serveV3 } from '#test/support/served-v3.js';
import { RECORDED_NET } from '#test/support/shared-index.js';
import { vectorPath } from '#test/support/vector-files.js';

const OWN_RULES = readRules(`${import.meta.dirname}/v3-actions-rules.json`);
/** Those about what all answers have. */
const COMMON_RULES = [
  ...readRules(`${import.meta.dirname}/v3-rules.json`),
  ...readRules(`${import.meta.dirname}/v3-insertion-order.json`),
].filter(({ path }) => path === '^/' || /traces|actions/.test(path));
const network = vectorPath('collection/recorded-net');

describe('actions in answers of a reference index', () => {
  let served: ServedV3;
  /** Traces that are classified otherwise: test/actions compares them, and says why. */
  const otherwise = new Set<string>();
  let traces: Recorded[];
  let compared = 0;
  beforeAll(async () => {
    served = await serveV3(RECORDED_NET);
    traces = readLines(`${network}/v3-traces.jsonl.br`) as Recorded[];
    for (let at = 0; at < traces.length; at += 200) {
      const page = traces.slice(at, at + 200);
      const query = page.map(({ trace_id }) => `trace_id=${encodeURIComponent(trace_id)}`).join('&');
      const response = await fetch(`${served.url}/toncenter/api/v3/traces?limit=200&include_actions=true&${query}`);
      const found = new Map(((await response.json()) as Recorded).traces.map((one: Recorded) => [one.trace_id, one]));
      for (const { trace_id, actions } of page) {
        compared++;
        const answered = (found.get(trace_id) as Recorded).actions;
        if (!isDeepStrictEqual(plain(actions), plain(answered))) otherwise.add(trace_id);
      }
    }
  }, 600_000);
  afterAll(() => served?.close());

  it('are those of the reference, except in traces whose differences test/actions lists', () => {
    expect(compared).toBeGreaterThan(4400);
    expect(otherwise.size).toBeLessThan(110);
  });

  it('are equal over HTTP, except for what the rules list', async () => {
    const answers = new Map<RecordedCall, Answer>();
    const calls = readRecordings(`${network}/v3-recordings.jsonl.br`).filter(asksForActions).map(callOf);
    const asked: RecordedCall[] = [];
    for (const call of calls) {
      const answer = await askV3(served.url, call.recording);
      const named = [call.recording.response, answer.response].flatMap(tracesIn);
      if (named.some((trace) => otherwise.has(trace))) continue;
      answers.set(call, answer);
      asked.push(call);
    }
    const { differences, stale, equal, skipped } = await compareCalls(
      asked,
      [...OWN_RULES, ...COMMON_RULES],
      async (call) => answers.get(call)!,
      'body',
    );
    expect(differences).toEqual([]);
    const reasons = new Set(OWN_RULES.map(({ reason }) => reason));
    expect(stale.filter((reason) => reasons.has(reason))).toEqual([]);
    expect(equal).toBeGreaterThan(150);
    expect(skipped).toBeLessThan(5);
  });

  it('is answered under the old name of traces, too', async () => {
    const { trace_id } = traces.find(({ actions }) => actions.length > 1)!;
    const query = `limit=20&trace_id=${encodeURIComponent(trace_id)}`;
    const [events, list] = await Promise.all(
      [`events?${query}`, `traces?include_actions=true&${query}`].map(async (path) =>
        (await fetch(`${served.url}/toncenter/api/v3/${path}`)).json(),
      ),
    );
    const { traces: rows, ...rest } = list as Recorded;
    expect(events).toEqual({ events: rows, ...rest });
    expect(rows[0].actions.length).toBeGreaterThan(0);
  });

  it('leaves out those of traces that begin with the machinery of the masterchain, when asked to', async () => {
    const list = async (query: string) => {
      const response = await fetch(`${served.url}/toncenter/api/v3/actions?limit=1000&sort=desc${query}`);
      return ((await response.json()) as Recorded).actions as Recorded[];
    };
    const known = new Map(traces.map((trace) => [trace.trace_id, trace]));
    const isSystem = ({ trace_id }: Recorded) => {
      const { trace, transactions } = known.get(trace_id)!;
      const { account, in_msg } = transactions[trace.tx_hash];
      return account.startsWith('-1:') && (in_msg == null || in_msg.source === `-1:${'0'.repeat(64)}`);
    };
    for (const also of ['', '&action_type=ton_transfer', '&start_utime=1']) {
      const all = (await list(also)).filter(({ trace_id }) => known.has(trace_id));
      const rest = (await list(`&exclude_system=true${also}`)).filter(({ trace_id }) => known.has(trace_id));
      const found = new Set(rest.map(({ action_id }) => action_id));
      const wanted = all.filter((action) => !isSystem(action));
      expect(wanted.filter(({ action_id }) => !found.has(action_id))).toEqual([]);
      expect(rest.filter(isSystem)).toEqual([]);
      expect(all.length).toBeGreaterThan(wanted.length);
      expect(rest.length).toBeGreaterThan(wanted.length);
    }
  });
});

/** Actions without what the reference leaves open, and what is compared with the rules. */
function plain(actions: readonly Recorded[]): Recorded {
  const sorted = [...actions].sort((a, b) => (a.action_id < b.action_id ? -1 : 1));
  return sorted.map(({ raw_action: _, ...action }) => {
    const { nft_item_index: index, ...details } = action.details;
    const rounded = index == null ? index : Number(index);
    return { ...action, details: { ...details, index: rounded }, transactions: [...action.transactions].sort() };
  });
}

/** Ids of the traces that an answer is about. */
function tracesIn(response: unknown): string[] {
  const { actions = [], traces = [], events = [] } = (response ?? {}) as Recorded;
  return [...actions, ...traces, ...events].map((one: Recorded) => one.trace_id);
}

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { partOf } from '#test/support/full-depth.js';
import { type ServedEmulation, serveEmulation } from '#test/support/served-emulation.js';
import { startTvm } from '#test/support/tvm-pool.js';
import { vectorPath } from '#test/support/vector-files.js';
import {
  comparable,
  conditionsOf,
  differences,
  type EmulateRule,
  type RecordedCall,
  readCalls,
} from './emulate-recorded.js';

const folder = vectorPath('collection/recorded-live');
const rules: readonly EmulateRule[] = JSON.parse(
  readFileSync(new URL('./emulate-rules.json', import.meta.url), 'utf8'),
);
/** Messages that rules are about. */
const OF_RULES: ReadonlySet<number> = new Set([113, 122, 298, 570, 618, 668, 798, 972, 1038]);
const JSON_TYPE = { 'content-type': 'application/json' };
/** Blocks that the recorded service may have been behind the newest one. */
const MOST_BEHIND = 12;
const used = new Set<EmulateRule>();

function ruleOf(at: string, name: string): EmulateRule | undefined {
  return rules.find(({ at: place, cases = '' }) => new RegExp(place).test(at) && new RegExp(cases).test(name));
}

/** Whether an account is deployed that goes on with messages, as tokens do that are minted at once. */
function deploysSenders({ response }: RecordedCall): boolean {
  return Object.values<any>(response.body?.transactions ?? {}).some(
    ({ orig_status, end_status, out_msgs }) =>
      orig_status !== 'active' && end_status === 'active' && out_msgs.length > 0,
  );
}

/** What rules know a message of the activity by, and what Tern takes it for. */
function activityName(call: RecordedCall, written: any): string {
  const { transactions = {}, actions = [], is_incomplete } = written;
  const messages = Object.values<any>(transactions).flatMap(({ in_msg, out_msgs }) => [in_msg, ...out_msgs]);
  const hasCurrencies = messages.some((message) => Object.keys(message?.value_extra_currencies ?? {}).length > 0);
  const facts: readonly (readonly [string, boolean])[] = [
    ['cut', is_incomplete === true],
    ['with extra currencies', hasCurrencies],
    ['deploys a contract', deploysSenders(call)],
  ];
  const types = new Set(actions.map(({ type, success }: any) => `${type}:${success}`));
  return ['activity', call.i, ...facts.flatMap(([fact, holds]) => (holds ? fact : [])), ...types].join(' ');
}

/** By end_lt and then by start_lt; the live service leaves open what comes first of those with the same. */
function areNewestFirst(actions: readonly { readonly end_lt: string; readonly start_lt: string }[]): boolean {
  return actions.every(({ end_lt, start_lt }, i) => {
    const before = actions[i - 1];
    if (before === undefined || BigInt(before.end_lt) > BigInt(end_lt)) return true;
    return before.end_lt === end_lt && BigInt(before.start_lt) >= BigInt(start_lt);
  });
}

/** What is compared of an answer: its members; of a text only that it is there. */
function answerParts(status: number, body: unknown): object {
  const isText = typeof body === 'string';
  return isText ? { status, hasText: body !== '' } : { status, ...(comparable(body ?? '') as object) };
}

describe('the emulation API answers as the live service did', () => {
  let tvm: TvmPool;
  let served: ServedEmulation;
  /** The time in messages that are composed: of the machine that recorded, not of the state. */
  let composed: number | null = null;

  beforeAll(async () => {
    tvm = await startTvm();
    served = await serveEmulation(`${folder}/chain`, tvm, {
      account: (chain) => async (address, options) => {
        const read = await chain.account(address, options);
        return { ...read, shard_utime: composed ?? read.shard_utime };
      },
    });
  });
  afterAll(async () => {
    await served?.close();
    await tvm?.close();
  });

  async function answerOf({ request, response, mc_seen, at: time }: RecordedCall) {
    const { method, path, headers, text, body } = request;
    composed = response.status === 200 && path.includes('TonConnect') ? Math.floor(time) : null;
    const isTrace = response.status === 200 && response.body?.transactions !== undefined;
    const hasBlock = (body as { mc_block_seqno?: unknown } | undefined)?.mc_block_seqno !== undefined;
    // The recorded service was a block behind the newest one.
    const at = isTrace ? response.body.mc_block_seqno : mc_seen - 1;
    const isPinned = body !== undefined && (isTrace || !hasBlock);
    served.as = isTrace ? conditionsOf(response.body) : text === undefined && !hasBlock ? { mc_seqno: at } : {};
    const sent = text ?? JSON.stringify(isPinned ? { ...body, mc_block_seqno: at } : body);
    const withBody = method === 'GET' || method === 'HEAD' ? {} : { body: sent };
    const init = { method, headers: { ...JSON_TYPE, ...headers }, ...withBody };
    const answer = await fetch(`${served.url}/toncenter${path}`, { ...init, redirect: 'manual' });
    const received = await answer.text();
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true && received !== '';
    return { status: answer.status, body: isJson ? JSON.parse(received) : received };
  }

  const compare = async (calls: readonly RecordedCall[]): Promise<void> => {
    const wrong: string[] = [];
    for (const call of calls) {
      const { status, body } = await answerOf(call);
      const name = call.name ?? activityName(call, body);
      if (!areNewestFirst(body.actions ?? [])) wrong.push(`${call.n ?? call.i} ${name}: the order of actions`);
      const recorded = answerParts(call.response.status, call.response.body);
      for (const { at, ...values } of differences(recorded, answerParts(status, body))) {
        const rule = ruleOf(at, name);
        if (rule === undefined)
          wrong.push(`${call.n ?? call.i} ${name}: ${at}: ${JSON.stringify(values).slice(0, 200)}`);
        else used.add(rule);
      }
    }
    expect(wrong).toEqual([]);
  };

  it('to cases of all kinds', async () => {
    const calls = readCalls(`${folder}/emulate-cases.jsonl.br`);
    expect(calls.length).toBeGreaterThan(150);
    await compare(calls);
  });

  it('to messages of tokens', async () => {
    await compare(readCalls(`${folder}/emulate-tokens.jsonl.br`));
  });

  it('to messages of an activity, of those that were emulated', async () => {
    const calls = readCalls(`${folder}/emulate-activity.jsonl.br`).filter(({ response }) => response.status === 200);
    expect(calls.length).toBeGreaterThan(300);
    const sample = new Set(partOf(calls, 32));
    await compare(calls.filter((call) => sample.has(call) || OF_RULES.has(call.i!)));
  });

  it('to messages of an activity, of those that were refused', async () => {
    const calls = readCalls(`${folder}/emulate-activity.jsonl.br`).filter(({ response }) =>
      String(response.body?.error).startsWith('failed to emulate'),
    );
    expect(calls.length).toBeGreaterThan(100);
    const wrong: string[] = [];
    for (const { i, mc_seen, request, response } of partOf(calls, 32)) {
      // How far the recorded service was behind is not recorded.
      let answer: unknown = null;
      for (let at = mc_seen; at >= mc_seen - MOST_BEHIND; at--) {
        served.as = { mc_seqno: at };
        const init = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(request.body) };
        const answered = await fetch(`${served.url}/toncenter${request.path}`, init);
        answer = { status: answered.status, body: await answered.json() };
        if (JSON.stringify(answer) === JSON.stringify({ status: response.status, body: response.body })) break;
        if (at === mc_seen - MOST_BEHIND) wrong.push(`${i}: ${JSON.stringify([response, answer]).slice(0, 300)}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('by rules of which each is used', () => {
    expect(rules.filter((rule) => !used.has(rule))).toEqual([]);
  });
});

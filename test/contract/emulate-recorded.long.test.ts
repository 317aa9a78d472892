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

describe('the emulation API answers as the live service did', () => {
  let tvm: TvmPool;
  let served: ServedEmulation;

  beforeAll(async () => {
    tvm = await startTvm();
    served = await serveEmulation(`${folder}/chain`, tvm);
  });
  afterAll(async () => {
    await served?.close();
    await tvm?.close();
  });

  async function answerOf({ request, response, mc_seen }: RecordedCall) {
    const { method, path, headers, text, body } = request;
    const isTrace = response.status === 200 && response.body?.transactions !== undefined;
    const hasBlock = (body as { mc_block_seqno?: unknown } | undefined)?.mc_block_seqno !== undefined;
    // The recorded service was a block behind the newest one.
    const at = isTrace ? response.body.mc_block_seqno : mc_seen - 1;
    const isPinned = body !== undefined && (isTrace || !hasBlock);
    served.as = isTrace ? conditionsOf(response.body) : text === undefined && !hasBlock ? { mc_seqno: at } : {};
    const sent = text ?? JSON.stringify(isPinned ? { ...body, mc_block_seqno: at } : body);
    const init = { method, headers: { 'content-type': 'application/json', ...headers }, body: sent };
    const answer = await fetch(`${served.url}/toncenter${path}`, init);
    return { status: answer.status, body: await answer.json() };
  }

  const compare = async (calls: readonly RecordedCall[]): Promise<void> => {
    const wrong: string[] = [];
    for (const call of calls) {
      if (call.request.method !== 'POST') continue;
      const name = call.name ?? (deploysSenders(call) ? `activity ${call.i} deploys a contract` : `activity ${call.i}`);
      const { status, body } = await answerOf(call);
      const recorded = { status: call.response.status, ...(comparable(call.response.body) as object) };
      for (const { at, ...values } of differences(recorded, { status, ...(comparable(body) as object) })) {
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
    const sample = new Set(partOf(calls, 16));
    await compare(calls.filter((call) => sample.has(call) || OF_RULES.has(call.i!)));
  });

  it('to messages of an activity, of those that were refused', async () => {
    const calls = readCalls(`${folder}/emulate-activity.jsonl.br`).filter(({ response }) =>
      String(response.body?.error).startsWith('failed to emulate'),
    );
    expect(calls.length).toBeGreaterThan(100);
    const wrong: string[] = [];
    for (const { i, mc_seen, request, response } of partOf(calls, 16)) {
      // How far the recorded service was behind is not recorded.
      let answer: unknown = null;
      for (let at = mc_seen; at >= mc_seen - MOST_BEHIND; at--) {
        served.as = { mc_seqno: at };
        const init = { method: 'POST', body: JSON.stringify(request.body) };
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

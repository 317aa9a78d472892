import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from '#app/cli/command-line.js';
import { traceOfAnswer } from '#app/cli/explain-source.js';
import { explanation } from '#app/cli/explanation.js';
import { classify } from '#domain/actions/classify.js';
import { recordedFacts, recordedTraces } from '#test/support/recorded-actions.js';

async function explain(...args: string[]) {
  let out = '';
  let err = '';
  const streams = {
    out: (text: string) => {
      out += text;
    },
    err: (text: string) => {
      err += text;
    },
  };
  const code = await runCommandLine(['explain', ...args], streams);
  return { code, out, err };
}

function fileWith(json: unknown): string {
  const path = join(mkdtempSync(join(tmpdir(), 'tern-')), 'trace.json');
  writeFileSync(path, JSON.stringify(json));
  return path;
}

function recorded(type: string) {
  for (const trace of recordedTraces()) if (trace.actions.some((action) => action.type === type)) return trace;
  throw new Error(`there is no ${type} among the recorded traces`);
}

describe('tern explain', () => {
  it('shows the messages of a trace, its actions and near misses', async () => {
    const trace = recorded('vesting_add_whitelist');
    const { code, out } = await explain(fileWith({ traces: [trace] }));
    expect(code).toBe(0);
    expect(out).toContain(`trace ${trace.trace_id}, 3 transactions`);
    expect(out).toMatch(/\n {4}\[2\] 0:451627….* ← vesting_add_white_list 0x7258a69b/);
    expect(out).toMatch(/\n {2}vesting_add_whitelist \[1 2 3\]\n {6}query_id: 1\n {6}accounts_added: 0:ba271e/);
    expect(out).toContain('set --url');
  });

  it('says what is missing when contracts are not known', async () => {
    const { out } = await explain(fileWith(recorded('jetton_transfer')));
    expect(out).toMatch(/jetton_transfer at \[\d+\]: 0:.* is not known as jetton_wallet \(internal\)/);
  });

  it.each([
    ['no file and no hash', 'nothing', /cli\/input.*neither a file nor a hash/],
    ['a file without a trace', fileWith({ actions: [] }), /cli\/input.*holds no trace/],
  ])('refuses %s', async (_, input, problem) => {
    const { code, err } = await explain(input);
    expect([code, problem.test(err)]).toEqual([1, true]);
  });

  it('names the service that does not answer', async () => {
    const { code, err } = await explain('A'.repeat(43), '--url', 'http://127.0.0.1:1');
    expect([code, err]).toEqual([1, expect.stringContaining('http://127.0.0.1:1/api/v3/traces')]);
  });

  it('shows what the guide shows of its ten traces', () => {
    const guide = readFileSync(new URL('../../docs/guides/actions.md', import.meta.url), 'utf8');
    const shown = new Map([...guide.matchAll(/```\n(trace (\S+), [^`]+)```/g)].map(([, text, id]) => [id!, text!]));
    const facts = recordedFacts();
    const now = new Map<string, string>();
    for (const recorded of recordedTraces()) {
      if (!shown.has(recorded.trace_id)) continue;
      const trace = traceOfAnswer(recorded);
      now.set(recorded.trace_id, explanation(trace, classify(trace, facts)));
    }
    expect(shown.size).toBe(10);
    expect(new Map([...now].sort())).toEqual(new Map([...shown].sort()));
  });
});

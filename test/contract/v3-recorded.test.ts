import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { v3Endpoints } from '#api/v3/v3-api.js';
import {
  type Answer,
  compareCalls,
  type RecordedCall,
  type Rule,
  readLines,
  readRecordings,
  readRules,
} from '#test/contract/recorded-calls.js';
import { askV3, comesLater, v3Call } from '#test/contract/v3-recorded.js';
import { FULL, partOf } from '#test/support/full-depth.js';
import type { Recorded } from '#test/support/recorded-v3.js';
import { DEV_CHAIN } from '#test/support/replayed-contracts.js';
import { type ServedV3, serveV3 } from '#test/support/served-v3.js';
import { RECORDED_NET } from '#test/support/shared-index.js';
import { vectorPath } from '#test/support/vector-files.js';

const RULES = [
  ...readRules(`${import.meta.dirname}/v3-rules.json`),
  ...readRules(`${import.meta.dirname}/v3-insertion-order.json`),
];
const network = vectorPath('collection/recorded-net');
const comparer = join(network, 'compare-recordings.mjs');

function calls(file: string): RecordedCall[] {
  return readRecordings(file)
    .map(v3Call)
    .filter((call) => call !== null);
}

describe('what a reference index answered', () => {
  let served: ServedV3;
  beforeAll(async () => {
    served = await serveV3(RECORDED_NET);
  }, 600_000);
  afterAll(() => served?.close());

  const answers = new Map<string, Promise<Answer>>();
  /** Asked once, however many tests look at the answer. */
  function answerOf({ recording }: RecordedCall): Promise<Answer> {
    let answer = answers.get(recording.id);
    if (answer === undefined) {
      answer = askV3(served.url, recording);
      answers.set(recording.id, answer);
    }
    return answer;
  }

  it('is answered, in the dialect of the live service, but for what the rules say', async () => {
    const asked = calls(`${network}/v3-recordings.jsonl.br`);
    const compared = await compareCalls(asked, RULES, answerOf, 'body');
    expect(compared.differences).toEqual([]);
    expect(compared.stale).toEqual([]);
    expect(compared.skipped).toBeLessThan(40);
    expect(compared.equal + compared.skipped).toBe(asked.length);
    const methods = v3Endpoints.filter(({ unpublished }) => unpublished !== true).map(({ name }) => name);
    const asked_here = methods.filter((name) => !comesLater(name) && name !== 'actions');
    expect([...new Set(asked.map(({ name }) => name))].sort()).toEqual(asked_here.sort());
  });

  it('is the same to the comparer of the recordings', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tern-recordings-'));
    try {
      const [recordings, rules] = [join(folder, 'recordings.jsonl'), join(folder, 'rules.json')];
      // What it cannot be told about is left out.
      const asked = partOf(calls(`${network}/v3-recordings.jsonl.br`), 4);
      const plain = RULES.filter(isPlain).filter(({ path }) =>
        asked.some(({ name }) => new RegExp(path).test(`/${name}`)),
      );
      const { differences } = await compareCalls(asked, plain, answerOf, 'body');
      const others = new Set(differences.map(({ id }) => id));
      const kept = asked.filter(({ recording }) => !others.has(recording.id));
      writeFileSync(recordings, kept.map(({ recording }) => `${JSON.stringify(recording)}\n`).join(''));
      writeFileSync(rules, JSON.stringify([...plain, ERRORS]));
      const base = `${served.url}/toncenter/api/v3`;
      const args = [comparer, '--recordings', recordings, '--base', base, '--rules', rules, '--json'];
      const report = JSON.parse(await output(args));
      expect(report).toMatchObject({ failed: 0, skipped: 0 });
      if (FULL) expect(report.stale).toEqual([]);
      expect(report.equal).toBeGreaterThan(FULL ? 850 : 210);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('of traces is answered', async () => {
    const recorded = readLines(`${network}/v3-traces.jsonl.br`) as Recorded[];
    expect(recorded.length).toBeGreaterThan(4400);
    const traces = partOf(recorded, 4);
    for (let at = 0; at < traces.length; at += 200) {
      const expected = traces.slice(at, at + 200);
      const query = expected.map(({ trace_id }) => `trace_id=${encodeURIComponent(trace_id)}`).join('&');
      const answer = await fetch(`${served.url}/toncenter/api/v3/traces?limit=200&${query}`);
      expect(answer.status).toBe(200);
      const found = new Map(((await answer.json()) as Recorded).traces.map((one: Recorded) => [one.trace_id, one]));
      const call = (trace: Recorded): RecordedCall => ({
        recording: {
          id: trace.trace_id,
          method: 'GET',
          path: '/traces',
          query,
          body: null,
          status: 200,
          response: { traces: [trace] },
        },
        name: 'traces',
        source: 'query',
        params: { trace_id: trace.trace_id },
      });
      const compared = await compareCalls(
        expected.map(({ actions: _, ...trace }) => call(trace)),
        RULES,
        async ({ params }) => ({ status: 200, response: { traces: [found.get(params.trace_id)] } }),
        'body',
      );
      expect(compared.differences).toEqual([]);
    }
  });
});

/** Of the rules of this project, what the comparer does not know. */
const isPlain = ({ when, ignore, exchanged, tied, unordered }: Rule): boolean =>
  when === undefined &&
  ignore !== undefined &&
  exchanged === undefined &&
  tied === undefined &&
  unordered === undefined;

const ERRORS = { path: '^/', ignore: ['/error'], reason: 'the texts of errors are others' };

function output(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      if (stdout === '') reject(error ?? new Error(stderr));
      else resolve(stdout);
    });
  });
}

describe('what a reference index answered about the beginning of its chain', () => {
  let served: ServedV3;
  beforeAll(async () => {
    served = await serveV3({ name: 'dev_chain', folder: DEV_CHAIN, to: null });
  }, 600_000);
  afterAll(() => served?.close());

  it('is answered', async () => {
    // An unknown parameter is ignored: then the answer is about the head of the whole chain.
    const asked = calls(vectorPath('v3/answers.jsonl.gz')).filter(({ params }) => !('x' in params));
    const compared = await compareCalls(asked, RULES, ({ recording }) => askV3(served.url, recording), 'body');
    expect(compared.differences).toEqual([]);
    expect(compared.equal + compared.skipped).toBe(asked.length);
    expect(compared.equal).toBeGreaterThan(100);
  });
});

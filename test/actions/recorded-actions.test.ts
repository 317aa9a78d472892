import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { traceOfAnswer } from '#app/cli/explain-source.js';
import { ACTION_TYPES, PATTERNS } from '#domain/actions/action-registry.js';
import { expandActionTypes } from '#domain/actions/action-versions.js';
import type { ActionBlock } from '#domain/actions/block.js';
import { classify } from '#domain/actions/classify.js';
import { toBase64 } from '#kernel/bytes.js';
import { actionDifferences, actionJson, rawJson } from '#test/support/action-comparison.js';
import { GOLDEN_ACTIONS, goldenFacts, NEVER_FAILED } from '#test/support/golden-actions.js';
import { factsOfCase, mainnetTraceCases, traceOfCase } from '#test/support/mainnet-traces.js';
import { type JsonAction, recordedFacts, recordedTable, recordedTraces } from '#test/support/recorded-actions.js';

/** An accepted difference from the reference. Each rule must be needed. */
interface Rule {
  /** Expression that matches it. */
  readonly difference: string;
  /** Only in this trace. */
  readonly trace?: string;
  /** Only in traces with an action of a type that matches this expression. */
  readonly with?: string;
  readonly reason: string;
}

const RULES = JSON.parse(
  readFileSync(new URL('recorded-actions-rules.json', import.meta.url), 'utf8'),
) as readonly Rule[];

const SUPPORTED = expandActionTypes(['latest']);

/** The reference stores indexes of items as floating-point numbers, but not those that items report. */
function withRoundedIndex(action: JsonAction): JsonAction {
  const { nft_item_index: index } = action.details;
  if (action.type === 'nft_discovery' || typeof index !== 'string') return action;
  return { ...action, details: { ...action.details, nft_item_index: String(BigInt(Number(index))) } };
}

interface Compared {
  readonly trace: string;
  /** Types of the actions of the reference. */
  readonly types: readonly string[];
  readonly difference: string;
}

function applies(rule: Rule, { trace, types, difference }: Compared): boolean {
  if (rule.trace !== undefined && rule.trace !== trace) return false;
  if (rule.with !== undefined && !types.some((type) => new RegExp(rule.with!).test(type))) return false;
  return new RegExp(rule.difference).test(difference);
}

/** Names of the patterns that made a block or a part of it. */
function patternsOf(blocks: readonly ActionBlock[], into: Set<string>): void {
  const left = [...blocks];
  for (let block = left.pop(); block !== undefined; block = left.pop()) {
    if (block.pattern !== null) into.add(block.pattern);
    left.push(...block.parts);
  }
}

describe('all traces of the recorded network', () => {
  const types = new Set<string>();
  const patterns = new Set<string>();
  const differences: Compared[] = [];
  const participants: Compared[] = [];
  let failures = 0;
  let traces = 0;

  beforeAll(() => {
    const facts = recordedFacts();
    const accounts = new Map<string, string[]>();
    for (const { trace_id, action_id, account } of recordedTable('action_accounts')) {
      const key = `${trace_id} ${action_id}`;
      const known = accounts.get(key);
      if (known === undefined) accounts.set(key, [account!]);
      else known.push(account!);
    }
    for (const recorded of recordedTraces()) {
      traces++;
      const about = { trace: recorded.trace_id, types: recorded.actions.map(({ type }) => type) };
      const trace = traceOfAnswer(recorded);
      const { actions, failure, blocks } = classify(trace, facts);
      for (const { type } of actions) types.add(type);
      patternsOf(blocks, patterns);
      if (failure !== null) failures++;
      const shown = actions.filter(
        ({ type, ancestor_types }) => SUPPORTED.has(type) && !ancestor_types.some((one) => SUPPORTED.has(one)),
      );
      const actual = shown.map((action) => withRoundedIndex(actionJson(action, trace)));
      for (const difference of actionDifferences(recorded.actions, actual)) {
        differences.push({ ...about, difference });
      }
      for (const action of actions) {
        const wanted = accounts.get(`${recorded.trace_id} ${toBase64(action.action_id)}`);
        if (wanted === undefined) continue;
        const given = action.accounts.map(rawJson).sort().join(' ');
        if (given === wanted.sort().join(' ')) continue;
        participants.push({ ...about, difference: `${action.type}.accounts` });
      }
    }
  });

  it('are understood without a defect', () => {
    expect([traces, failures]).toEqual([4453, 0]);
  });

  it('have the actions of the reference, apart from the listed differences', () => {
    const needed = new Set<Rule>();
    const unlisted = [...differences, ...participants].filter((compared) => {
      const rule = RULES.find((one) => applies(one, compared));
      if (rule !== undefined) needed.add(rule);
      return rule === undefined;
    });
    expect(unlisted).toEqual([]);
    expect(RULES.filter((rule) => !needed.has(rule))).toEqual([]);
  });

  describe('with those of mainnet and the made ones', () => {
    const recordedTypes = new Set<string>();
    const golden = new Map<string, Set<boolean>>();
    beforeAll(() => {
      for (const one of mainnetTraceCases()) {
        const { actions, blocks } = classify(traceOfCase(one), factsOfCase(one));
        for (const { type } of actions) types.add(type);
        patternsOf(blocks, patterns);
      }
      for (const type of types) recordedTypes.add(type);
      for (const { type, success, trace } of GOLDEN_ACTIONS) {
        const { blocks } = classify(trace, goldenFacts());
        patternsOf(blocks, patterns);
        types.add(type);
        golden.set(type, (golden.get(type) ?? new Set()).add(success));
      }
    });

    it('have every type of actions', () => {
      expect([...ACTION_TYPES.keys()].filter((type) => !types.has(type))).toEqual([]);
    });

    it('have every pattern', () => {
      expect(PATTERNS.map(({ name }) => name).filter((name) => !patterns.has(name))).toEqual([]);
    });

    it('have a success and a failure of each type that only made traces have', () => {
      const only = [...ACTION_TYPES.keys()].filter((type) => !recordedTypes.has(type));
      const outcomes = (type: string) => [...(golden.get(type) ?? [])].sort();
      expect(only.filter((type) => outcomes(type).length < (NEVER_FAILED.has(type) ? 1 : 2))).toEqual([]);
      expect([...NEVER_FAILED].filter((type) => outcomes(type).includes(false))).toEqual([]);
    });
  });
});

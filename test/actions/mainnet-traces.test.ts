import { describe, expect, it } from 'vitest';
import { classify } from '#domain/actions/classify.js';
import { expectedFailures } from '#test/support/mainnet-expectations.js';
import { factsOfCase, mainnetTraceCases, traceOfCase } from '#test/support/mainnet-traces.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

/** Expectations that do not hold. */
interface Rule {
  readonly trace: string;
  /** Start of the failures. */
  readonly starts: string;
  readonly reason: string;
}

const RULES = JSON.parse(
  Buffer.from(readBytes(vectorPath('actions/mainnet-traces-rules.json'))).toString(),
) as readonly Rule[];

describe('traces of mainnet', () => {
  const cases = mainnetTraceCases();

  it.each(cases.map((one) => [`${one.file}: ${one.case}`, one] as const))('%s', (_, given) => {
    const trace = traceOfCase(given);
    const result = classify(trace, factsOfCase(given));
    expect(result.failure).toBeNull();
    const rules = RULES.filter((rule) => rule.trace === given.trace);
    const failures = expectedFailures(given, result, trace);
    expect(failures.filter((failure) => !rules.some(({ starts }) => failure.startsWith(starts)))).toEqual([]);
    for (const { starts } of rules) expect(failures.some((failure) => failure.startsWith(starts))).toBe(true);
  });

  it('asks for no rule of another trace', () => {
    const known = new Set(cases.map(({ trace }) => trace));
    expect(RULES.filter(({ trace }) => !known.has(trace))).toEqual([]);
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Repetition } from '#test/support/repeated-transactions.js';

/** A transaction that the emulator is known to make another way. */
interface KnownDifference {
  readonly transaction: string;
  readonly block: string;
  readonly fields: readonly string[];
  readonly cause: string;
}

interface KnownDifferences {
  readonly 'recorded-net': readonly KnownDifference[];
  readonly 'mainnet-genesis': Pick<KnownDifference, 'fields' | 'cause'>;
}

const file = join(import.meta.dirname, '..', 'corpus', 'transactions.json');
export const knownDifferences = JSON.parse(readFileSync(file, 'utf8')) as KnownDifferences;

/** How many there were, and what is not as expected. */
export interface Judgement {
  readonly same: number;
  /** Different as known, by the cause. */
  readonly different: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}

/** @param explain the known cause of what is different, or null for one that is not known */
function judge(all: readonly Repetition[], explain: (repetition: Repetition) => string | null): Judgement {
  const different: Record<string, number> = {};
  const problems: string[] = [];
  let same = 0;
  for (const repetition of all) {
    if (repetition.differences.length === 0) {
      same++;
      continue;
    }
    const cause = explain(repetition);
    if (cause === null) problems.push(describe(repetition));
    else different[cause] = (different[cause] ?? 0) + 1;
  }
  return { same, different, problems };
}

/** All blocks with known differences must be among those repeated: one that is gone by now is a problem as well. */
export function judgeRecorded(all: readonly Repetition[]): Judgement {
  const known = new Map(knownDifferences['recorded-net'].map((each) => [each.transaction, each]));
  const explained = new Set<string>();
  const { problems, ...counts } = judge(all, (repetition) => {
    const expected = known.get(repetition.name);
    if (expected === undefined || expected.fields.join() !== fieldsOf(repetition)) return null;
    explained.add(repetition.name);
    return expected.cause;
  });
  const stale = [...known.keys()].filter((name) => !explained.has(name));
  return { ...counts, problems: [...problems, ...stale.map((name) => `${name}: is not different as listed`)] };
}

/** The rules of 2019: what runs no code is the same, what does differs in gas, by as much as the log explains. */
export function judgeGenesis(all: readonly Repetition[]): Judgement {
  const { fields, cause } = knownDifferences['mainnet-genesis'];
  return judge(all, (repetition) => {
    const { computed, differences, vm_log } = repetition;
    if (!computed || fieldsOf(repetition) !== fields.join()) return null;
    const [{ recorded, emulated }] = differences as [Repetition['differences'][0]];
    const implicit = 5 * count(vm_log, /execute implicit RET/g) + 10 * count(vm_log, /execute implicit JMPREF/g);
    const loadedAgain = (Number(recorded) - Number(emulated) + implicit) / (100 - 25);
    return Number.isInteger(loadedAgain) && loadedAgain >= 0 ? cause : null;
  });
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function fieldsOf({ differences }: Repetition): string {
  return differences.map(({ field }) => field).join();
}

function describe({ name, block, kind, differences }: Repetition): string {
  const lines = differences.map(({ field, recorded, emulated }) => `  ${field}: ${recorded}, emulated: ${emulated}`);
  return [`${name} (${kind}, block ${block}):`, ...lines].join('\n');
}

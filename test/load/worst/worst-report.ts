import { percentile } from '../../../bench/latency.js';
import type { AbuseTally } from './abuses/abuse.js';
import { allAbuses } from './abuses/all-abuses.js';
import type { HonestTally } from './honest-clients.js';
import { LONG_STALL_MS, type ProbeSummary } from './probe-readings.js';
import type { StallCause } from './stall-causes.js';
import type { WorstBounds } from './worst-arguments.js';

/** Some abuses at once, and what honest clients and the process saw meanwhile. */
export interface WorstCase {
  readonly names: readonly string[];
  readonly seconds: number;
  readonly honest: readonly HonestTally[];
  readonly tallies: Readonly<Record<string, AbuseTally>>;
  readonly probe: ProbeSummary;
  /** Of the longest stalls; empty without a profile. */
  readonly causes: readonly StallCause[];
  /** Delays in the process that measures: what is less cannot be told from it. */
  readonly ownLoopMs: { readonly p99: number; readonly max: number };
  /** Who used the processors of the machine, in milliseconds. */
  readonly processors: Readonly<Record<string, number>>;
}

export interface WorstResult {
  readonly cases: readonly WorstCase[];
  /** What was wrong in answers to honest clients, and messages that got lost. */
  readonly wrong: readonly string[];
  /** Messages that were sent and accepted. */
  readonly sent: number;
  /** How the measured process ended; null while it runs. */
  readonly crash: string | null;
}

/** What honest clients of one kind saw; times in milliseconds. */
export interface HonestRow {
  readonly name: string;
  readonly isBounded: boolean;
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly wrong: number;
}

export function honestRow({ client, durations, errors, wrongCount }: HonestTally): HonestRow {
  return {
    name: client.name,
    isBounded: client.isBounded,
    count: durations.length,
    p50: percentile(durations, 0.5),
    p95: percentile(durations, 0.95),
    p99: percentile(durations, 0.99),
    max: Math.max(0, ...durations),
    errors: Object.fromEntries(errors),
    wrong: wrongCount,
  };
}

/** What of the bounds did not hold, a line for each. */
export function breaches({ cases, wrong, crash }: WorstResult, bounds: WorstBounds): string[] {
  const found: string[] = [];
  if (crash !== null) found.push(crash);
  if (wrong.length > 0) found.push(`${wrong.length} wrong answers: ${wrong[0]}`);
  for (const { names, honest, probe } of cases) {
    const where = cases.length > 1 ? `${names[0]}: ` : '';
    for (const row of honest.map(honestRow)) {
      const failed = Object.values(row.errors).reduce((sum, count) => sum + count, 0);
      if (failed > 0) found.push(`${where}${row.name}: ${failed} of ${row.count} failed: ${countsText(row.errors)}`);
      if (row.isBounded && row.p99 > bounds.p99)
        found.push(`${where}${row.name}: p99 is ${ms(row.p99)}, more than ${bounds.p99} ms`);
    }
    const { max, slope } = probe.memory;
    if (max > bounds.rss * 2 ** 20) found.push(`${where}RSS is ${mib(max)}, more than ${bounds.rss} MiB`);
    if (cases.length === 1 && slope > bounds.rssSlope * 2 ** 20)
      found.push(`RSS grows by ${mib(slope)} a minute, more than ${bounds.rssSlope} MiB`);
  }
  return found;
}

/** All abuses at once. */
export function worstCaseText({ cases, wrong, sent }: WorstResult): string[] {
  return cases.flatMap(({ seconds, honest, tallies, probe, causes, ownLoopMs, processors }) => {
    const { stalls, memory, dropped, ran, waited } = probe;
    return [
      '',
      `${seconds} s, ${Object.keys(tallies).length} abuses at once`,
      '',
      ...table(
        ['honest client', 'requests', 'p50', 'p95', 'p99', 'max', 'wrong', 'errors'],
        honest
          .map(honestRow)
          .map((row) => [
            row.name,
            String(row.count),
            ms(row.p50),
            ms(row.p95),
            ms(row.p99),
            ms(row.max),
            String(row.wrong),
            countsText(row.errors) || '0',
          ]),
      ),
      '',
      ...table(
        ['abuse', 'requests', 'MB', 'slowest', 'answers'],
        Object.entries(tallies).map(([name, tally]) => [
          name,
          String(tally.requests),
          (tally.bytes / 1e6).toFixed(1),
          ms(tally.slowest),
          countsText(tally.statuses),
        ]),
      ),
      '',
      `messages sent: ${sent}; wrong answers and lost messages: ${wrong.length}`,
      `event loop: longest stall ${ms(stalls.longest)}, without waiting for a processor ${ms(stalls.longestOwn)}; ` +
        `${stalls.long} of more than ${LONG_STALL_MS} ms; own loop of this measurement p99 ${ms(ownLoopMs.p99)}, longest ${ms(ownLoopMs.max)}`,
      `processors: ${Object.entries(processors)
        .map(([name, time]) => `${name} ${(time / 1000).toFixed(1)} s`)
        .join(', ')}`,
      `main thread: ${ms(ran)} on a processor, ${ms(waited)} waiting for one`,
      `RSS: ${mib(memory.start)} at the start, most ${mib(memory.max)}, ${mib(memory.end)} at the end, ` +
        `${mib(memory.slope)} a minute after the first third; over time: ${memory.course.map(mib).join(', ')}`,
      `of it the heap of the main thread: ${memory.heap.map(mib).join(', ')}`,
      `memory of its objects outside of it: ${memory.external.map(mib).join(', ')}`,
      `the rest, mostly other threads: ${memory.rest.map(mib).join(', ')}`,
      `connections that the kernel dropped, because too many waited to be accepted: ${dropped}`,
      ...causes.flatMap((cause, i) => causeLines(cause, i === 0 ? 'busy for' : 'stall of')),
    ];
  });
}

/** Each abuse alone, the longest stall first. */
export function worstTableText({ cases, wrong }: WorstResult): string[] {
  const sorted = cases.toSorted((a, b) => b.probe.stalls.longestOwn - a.probe.stalls.longestOwn);
  return [
    '',
    ...table(
      [
        'abuse',
        'stall',
        'own',
        '> 50',
        'main thread',
        'a request',
        'info p50',
        'p99',
        'max',
        'failed',
        'healthz max',
        'RSS',
        'slowest',
        'answers',
      ],
      sorted.map(({ names, honest, tallies, probe }) => {
        const [name = ''] = names;
        const tally = tallies[name]!;
        const rows = honest.map(honestRow);
        const info = rows[0]!;
        const health = rows.find((row) => row.name === '/healthz')!;
        const failed = rows.flatMap(({ errors }) => Object.values(errors)).reduce((sum, count) => sum + count, 0);
        return [
          name,
          ms(probe.stalls.longest),
          ms(probe.stalls.longestOwn),
          String(probe.stalls.long),
          ms(probe.ran),
          `${(probe.ran / Math.max(1, tally.requests)).toFixed(2)} ms`,
          ms(info.p50),
          ms(info.p99),
          ms(info.max),
          `${failed} of ${rows.reduce((sum, { count }) => sum + count, 0)}`,
          ms(health.max),
          mib(probe.memory.max),
          ms(tally.slowest),
          `${countsText(tally.statuses)}; ${(tally.bytes / 1e6).toFixed(1)} MB`,
        ];
      }),
    ),
    '',
    ...sorted.map(({ names: [name = ''], tallies }) => {
      const { example, refusal } = tallies[name]!;
      const what = allAbuses.find((each) => each.name === name)!.what;
      return `${name}: ${what}${example === '' ? '' : `; ${example}`}${refusal === '' ? '' : `; answered ${refusal}`}`;
    }),
    '',
    `wrong answers: ${wrong.length}`,
    ...sorted.flatMap(({ names, causes }) =>
      causes.length === 0 ? [] : [names[0]!, ...causes.slice(1, 3).flatMap((cause) => causeLines(cause, 'stall of'))],
    ),
  ];
}

function causeLines({ ms: took, functions, within, roots }: StallCause, what: string): string[] {
  const text = (parts: StallCause['functions']): string =>
    parts.map(({ name, share }) => `${(share * 100).toFixed(0)} % ${name}`).join(', ');
  return [`  ${what} ${ms(took)}: ${text(functions)}`, `    within ${text(within)}`, `    called as ${text(roots)}`];
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        column === 0 || column === row.length - 1 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join('  ')
      .trimEnd();
  return [
    line(head),
    widths
      .map((width) => '-'.repeat(width))
      .join('  ')
      .slice(0, 160),
    ...rows.map(line),
  ];
}

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ');
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`;
}

function mib(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}

import { arch, cpus, platform } from 'node:os';
import process from 'node:process';
import type { DisturbanceResult } from './disturbance.js';
import type { CaseResult, Spread } from './harness.js';
import type { LatencyResult } from './latency.js';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly platform: string;
  readonly node: string;
}

/** Figures of a suite's own. */
export interface ReportTable {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface BenchReport {
  readonly name: string;
  readonly baseline: string | null;
  readonly machine: Machine;
  readonly cases: readonly CaseResult[];
  readonly latencies: readonly LatencyResult[];
  readonly disturbances?: readonly DisturbanceResult[];
  readonly tables?: readonly ReportTable[];
}

export function thisMachine(): Machine {
  const cores = cpus();
  return {
    cpu: cores[0]?.model.trim() ?? 'unknown',
    cores: cores.length,
    platform: `${platform()} ${arch()}`,
    node: process.versions.node,
  };
}

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });

const rate = (value: number) => (value >= 1000 ? whole : short).format(value);
const times = (value: number) => `${value >= 100 ? whole.format(value) : value.toFixed(value >= 10 ? 1 : 2)}x`;
const spread = ({ min, max }: Spread, write: (value: number) => string) => `${write(min)} … ${write(max)}`;

function row(result: CaseResult): string[] {
  const { name, unit, ours, baseline, ratio, target, met } = result;
  return [
    name,
    `${rate(ours.median)} ${unit}/s`,
    spread(ours, rate),
    baseline === null ? '-' : `${rate(baseline.median)} ${unit}/s`,
    baseline === null ? '-' : spread(baseline, rate),
    ratio === null ? '-' : times(ratio.median),
    ratio === null ? '-' : spread(ratio, times),
    target === null ? '-' : `${times(target)} ${met === true ? 'met' : 'missed'}`,
  ];
}

function latencyRow({ name, unit, inFlight, rate: perSecond, p50, p99, cpu, cpuTarget }: LatencyResult): string[] {
  return [
    name,
    `${inFlight}`,
    `${rate(perSecond.median)} ${unit}/s`,
    spread(perSecond, rate),
    `${short.format(p50.median)} ms`,
    spread(p50, short.format),
    `${short.format(p99.median)} ms`,
    spread(p99, short.format),
    cpu === null ? '-' : `${short.format(cpu.median)} ms`,
    cpu === null ? '-' : spread(cpu, short.format),
    cpu === null || cpuTarget === null ? '-' : `${cpuTarget} ms ${cpu.median <= cpuTarget ? 'met' : 'missed'}`,
  ];
}

function disturbanceRow(result: DisturbanceResult): string[] {
  const { name, inFlight, usual, disturbed, ratio, target, met, runs } = result;
  const ms = ({ p50, p99 }: DisturbanceResult['usual']) => [
    `${short.format(p50.median)} ms`,
    `${short.format(p99.median)} ms`,
    spread(p99, short.format),
  ];
  return [
    name,
    `${inFlight}`,
    `${runs}`,
    ...ms(usual),
    ...ms(disturbed),
    times(ratio.p50.median),
    times(ratio.p99.median),
    spread(ratio.p99, times),
    target === null ? '-' : `${times(target)} ${met === true ? 'met' : 'missed'}`,
  ];
}

/** Lines of a table, the head first. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  return rows.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

const HEAD = ['case', 'Tern', 'min … max', 'baseline', 'min … max', 'ratio', 'min … max', 'target'];
const LATENCY_HEAD = [
  'calls that wait',
  'in flight',
  'rate',
  'min … max',
  'p50',
  'min … max',
  'p99',
  'min … max',
  'CPU',
  'min … max',
  'target',
];

const DISTURBANCE_HEAD = [
  'while',
  'in flight',
  'windows',
  'usual p50',
  'p99',
  'min … max',
  'then p50',
  'p99',
  'min … max',
  'p50 ratio',
  'p99 ratio',
  'min … max',
  'target',
];

/** The report as aligned text. */
export function reportText(report: BenchReport): string {
  const { name, baseline, machine, cases, latencies, disturbances = [], tables = [] } = report;
  const [first] = cases;
  const { cpu, cores, platform, node } = machine;
  const lines = [
    first === undefined
      ? `${name}: medians and spread of runs`
      : `${name}: Tern against ${baseline ?? 'nothing'}, medians of ${first.runs} interleaved runs`,
    `${cpu}, ${cores} cores, ${platform}, Node ${node}`,
    '',
    ...(cases.length > 0 ? [...table([HEAD, ...cases.map(row)]), ''] : []),
  ];
  if (latencies.length > 0) lines.push(...table([LATENCY_HEAD, ...latencies.map(latencyRow)]), '');
  if (disturbances.length > 0) lines.push(...table([DISTURBANCE_HEAD, ...disturbances.map(disturbanceRow)]), '');
  for (const { title, head, rows } of tables) lines.push(title, ...table([head, ...rows]), '');
  return lines.join('\n');
}

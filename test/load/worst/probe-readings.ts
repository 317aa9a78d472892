import { readFileSync } from 'node:fs';
import { percentile } from '../../../bench/latency.js';

/** A late tick of the main thread of the measured process; times in milliseconds. */
export interface Stall {
  /** Microseconds of the monotonic clock. */
  readonly end: number;
  /** How late, by the clock. */
  readonly ms: number;
  /** How long the thread ran meanwhile; null where the system does not tell. */
  readonly ran: number | null;
  /** How long it waited for a processor. */
  readonly waited: number | null;
}

/** A line that event-loop-probe.mjs wrote. */
export interface Reading {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Resident memory, bytes. */
  readonly rss: number;
  /** Of the main thread: its heap, memory of its objects outside of it, and how much of that are buffers. */
  readonly heap: number;
  readonly external: number;
  readonly buffers: number;
  /** Connections that the kernel of the machine has dropped since it started. */
  readonly dropped: number;
  /** Of the main thread since it started: on a processor, and waiting for one; milliseconds. */
  readonly cpu: { readonly ran: number; readonly waited: number };
  readonly stalls: readonly Stall[];
}

/** What the lines of some time say together. */
export interface ProbeSummary {
  readonly stalls: StallSummary;
  readonly memory: MemorySummary;
  /** Connections that were dropped because too many waited to be accepted. */
  readonly dropped: number;
  /** How long the main thread was on a processor, and waited for one; milliseconds. */
  readonly ran: number;
  readonly waited: number;
}

/** Milliseconds. */
interface StallSummary {
  /** By the clock. */
  readonly longest: number;
  /** Of which the thread did not wait for a processor: what the code did. */
  readonly longestOwn: number;
  /** How many own ones were longer than {@link LONG_STALL_MS}. */
  readonly long: number;
}

/** Bytes. */
interface MemorySummary {
  readonly start: number;
  readonly max: number;
  readonly end: number;
  /** Bytes a minute, by least squares, once the first third of the time has passed. */
  readonly slope: number;
  /** Medians of ten equal parts of the time. */
  readonly course: readonly number[];
  /** The same of the heap of the main thread, of its memory outside of it, and of what is neither: mostly other threads. */
  readonly heap: readonly number[];
  readonly external: readonly number[];
  readonly rest: readonly number[];
}

export const LONG_STALL_MS = 50;

const WARM_UP = 1 / 3;
const PARTS = 10;

export function readProbe(file: string): Reading[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  // The last line may be incomplete when the process was killed.
  return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line) as Reading);
}

/** Readings of a time, both ends in milliseconds since 1970. */
export function readingsBetween(readings: readonly Reading[], from: number, to: number): Reading[] {
  return readings.filter(({ at }) => at >= from && at <= to);
}

/** How much of a stall was not waiting for a processor. */
export function ownMs({ ms, waited }: Stall): number {
  return waited === null ? ms : Math.max(ms - waited, 0);
}

export function summary(readings: readonly Reading[]): ProbeSummary {
  const stalls = readings.flatMap((reading) => reading.stalls);
  const own = stalls.map(ownMs);
  const rss = readings.map((reading) => reading.rss);
  const settled = readings.slice(Math.floor(readings.length * WARM_UP));
  const size = Math.max(1, Math.ceil(rss.length / PARTS));
  const courseOf = (read: (reading: Reading) => number): number[] =>
    Array.from({ length: Math.ceil(readings.length / size) }, (_, i) =>
      percentile(readings.slice(i * size, (i + 1) * size).map(read), 0.5),
    );
  return {
    stalls: {
      longest: Math.max(0, ...stalls.map(({ ms }) => ms)),
      longestOwn: Math.max(0, ...own),
      long: own.filter((ms) => ms > LONG_STALL_MS).length,
    },
    memory: {
      start: rss[0] ?? 0,
      max: Math.max(0, ...rss),
      end: rss.at(-1) ?? 0,
      slope: slopePerMinute(settled),
      course: courseOf((reading) => reading.rss),
      heap: courseOf(({ heap }) => heap),
      external: courseOf(({ external }) => external),
      rest: courseOf((reading) => reading.rss - reading.heap - reading.external),
    },
    ran: (readings.at(-1)?.cpu.ran ?? 0) - (readings[0]?.cpu.ran ?? 0),
    waited: (readings.at(-1)?.cpu.waited ?? 0) - (readings[0]?.cpu.waited ?? 0),
    dropped: (readings.at(-1)?.dropped ?? 0) - (readings[0]?.dropped ?? 0),
  };
}

function slopePerMinute(readings: readonly Reading[]): number {
  if (readings.length < 3) return 0;
  const times = readings.map(({ at }) => at / 60_000);
  const meanTime = mean(times);
  const meanRss = mean(readings.map(({ rss }) => rss));
  let above = 0;
  let below = 0;
  for (const [i, { rss }] of readings.entries()) {
    above += (times[i]! - meanTime) * (rss - meanRss);
    below += (times[i]! - meanTime) ** 2;
  }
  return below === 0 ? 0 : above / below;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

import type { OperationProgress } from '#app/service/index-tools.js';
import type { CancelSchedule, Clock } from '#kernel/clock.js';
import type { IndexerStatus } from '#services/indexer/indexer.js';

/** Interval of progress lines. */
const TERMINAL_MS = 250;
const PLAIN_MS = 5_000;

/** How progress is printed: a line that is overwritten, lines, or lines of JSON. */
export type ProgressForm = 'terminal' | 'plain' | 'json';

/** @param isJson whether JSON was asked for */
export function progressForm(isJson: boolean, isTerminal: boolean): ProgressForm {
  if (isJson) return 'json';
  return isTerminal ? 'terminal' : 'plain';
}

/** Progress in both forms. */
export interface ShownProgress {
  /** One line without newline. */
  readonly line: string;
  readonly json: ProgressJson;
}

/** A line of progress under `--json`. */
export interface ProgressJson {
  readonly done: number;
  readonly total: number | null;
  /** Null: `done` is a share of 1. */
  readonly unit: string | null;
  /** Null while unknown. */
  readonly per_second: number | null;
  readonly seconds_left: number | null;
  readonly note: string | null;
}

/** Prints the progress of an operation periodically. */
export class ProgressOutput {
  readonly #write: (text: string) => void;
  readonly #form: ProgressForm;
  readonly #clock: Clock;
  #cancel: CancelSchedule = () => {};
  #hasLine = false;

  constructor(write: (text: string) => void, form: ProgressForm, clock: Clock) {
    this.#write = write;
    this.#form = form;
    this.#clock = clock;
  }

  start(progress: () => ShownProgress): void {
    this.#cancel = this.#clock.schedule(this.#form === 'terminal' ? TERMINAL_MS : PLAIN_MS, () => {
      this.#show(progress());
      this.start(progress);
    });
  }

  /** Stops the output and ends the current line. */
  close(): void {
    this.#cancel();
    if (this.#hasLine) this.#write('\n');
    this.#hasLine = false;
  }

  #show({ line, json }: ShownProgress): void {
    if (this.#form === 'json') this.#write(`${JSON.stringify({ progress: json })}\n`);
    // Carriage return and clear line.
    else if (this.#form === 'terminal') this.#write(`\r\u001b[K${line}`);
    else this.#write(`${line}\n`);
    this.#hasLine = this.#form === 'terminal';
  }
}

const WINDOW_MS = 30_000;

/** The rate of an operation over the last half minute. */
export class ProgressMeter {
  readonly #now: () => number;
  readonly #seen: { readonly at: number; readonly done: number }[] = [];

  /** @param now milliseconds of the clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Progress as it is shown. */
  show({ done, total, unit, note }: OperationProgress): ShownProgress {
    const perSecond = this.#rate(done);
    const secondsLeft = total === null || perSecond === null || perSecond === 0 ? null : (total - done) / perSecond;
    const json = { done, total, unit, per_second: perSecond, seconds_left: secondsLeft, note };
    if (total === null) return { line: note, json };
    const amounts = unit === null ? '' : `${count(done)} of ${count(total)} ${unit}`;
    const rate = unit === null || perSecond === null ? '' : `${count(perSecond)} per second`;
    const left = secondsLeft === null ? '' : `${duration(secondsLeft)} left`;
    const parts = [amounts, rate, left, note].filter((part) => part !== '');
    return { line: `${bar(total === 0 ? 1 : done / total)}  ${parts.join(', ')}`, json };
  }

  #rate(done: number): number | null {
    const now = this.#now();
    const seen = this.#seen;
    // Another part of the operation has begun.
    if (done < (seen.at(-1)?.done ?? 0)) seen.length = 0;
    seen.push({ at: now, done });
    while (seen.length > 2 && seen[1]!.at <= now - WINDOW_MS) seen.shift();
    const [first] = seen;
    return now === first!.at ? null : ((done - first!.done) * 1_000) / (now - first!.at);
  }
}

const BAR = 24;

/**
 * The progress of a backfill as one line without newline.
 *
 * @param problem the current problem; `null` when there is none
 */
export function progressLine({ filling, role, sums }: IndexerStatus, problem: string | null): string {
  if (role === 'stand-by') return `waiting: ${problem ?? 'another process is the index leader'}`;
  const rest = problem === null ? '' : `  waiting: ${problem}`;
  if (filling === null) return `${count(sums.mcBlocks)} masterchain blocks written${rest}`;
  const { total, done, mcBlocksPerSecond: roundsPerSecond, transactionsPerSecond, secondsLeft } = filling;
  const rates = `${count(roundsPerSecond)} blocks/s, ${count(transactionsPerSecond)} tx/s`;
  const left = secondsLeft === null ? '' : `, ${duration(secondsLeft)} left`;
  return `${bar(total === 0 ? 1 : done / total)}  ${count(done)} of ${count(total)} masterchain blocks, ${rates}${left}${rest}`;
}

/** The progress of a backfill as JSON. @param problem as of {@link progressLine} */
export function progressJson({ filling, role, sums }: IndexerStatus, problem: string | null): ProgressJson {
  const note = role === 'stand-by' ? (problem ?? 'another process is the index leader') : problem;
  const unit = 'masterchain blocks';
  if (filling === null) {
    return { done: sums.mcBlocks, total: null, unit, per_second: null, seconds_left: null, note };
  }
  const { done, total, mcBlocksPerSecond, secondsLeft } = filling;
  return { done, total, unit, per_second: mcBlocksPerSecond, seconds_left: secondsLeft, note };
}

/** `[######......] 25.0 %` @param share 0 to 1 */
function bar(share: number): string {
  const full = Math.floor(Math.min(Math.max(share, 0), 1) * BAR);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR - full)}] ${(share * 100).toFixed(1)} %`;
}

/** The totals at the end. */
export function totalsLine({ sums }: IndexerStatus, seconds: number): string {
  const rate = (amount: number) => count(amount / Math.max(seconds, 0.001));
  return (
    `wrote ${count(sums.mcBlocks)} masterchain blocks with ${count(sums.blocks)} blocks and ${count(sums.transactions)} ` +
    `transactions in ${duration(seconds)} (${rate(sums.mcBlocks)} blocks/s, ${rate(sums.transactions)} tx/s)`
  );
}

/** `1,234`; one decimal below ten. */
function count(value: number): string {
  const isWhole = Number.isInteger(value) || value >= 10;
  return isWhole ? Math.round(value).toLocaleString('en-US') : value.toFixed(1);
}

/** `3.2 s`, `4 min 5 s`, `2 h 3 min`, `5 d 1 h` */
function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

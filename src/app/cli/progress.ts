import type { CancelSchedule, Clock } from '#kernel/clock.js';
import type { IndexerStatus } from '#services/indexer/indexer.js';

/** Interval of progress lines: on a terminal the line is overwritten, otherwise lines are appended. */
const TERMINAL_MS = 250;
const PLAIN_MS = 5_000;

/** Prints the progress of an operation periodically. */
export class ProgressOutput {
  readonly #write: (text: string) => void;
  readonly #isTerminal: boolean;
  readonly #clock: Clock;
  #cancel: CancelSchedule = () => {};
  #hasLine = false;

  constructor(write: (text: string) => void, isTerminal: boolean, clock: Clock) {
    this.#write = write;
    this.#isTerminal = isTerminal;
    this.#clock = clock;
  }

  start(line: () => string): void {
    this.#cancel = this.#clock.schedule(this.#isTerminal ? TERMINAL_MS : PLAIN_MS, () => {
      this.#show(line());
      this.start(line);
    });
  }

  /** Stops the output and ends the current line. */
  close(): void {
    this.#cancel();
    if (this.#hasLine) this.#write('\n');
    this.#hasLine = false;
  }

  #show(line: string): void {
    // Carriage return and clear line.
    this.#write(this.#isTerminal ? `\r\u001b[K${line}` : `${line}\n`);
    this.#hasLine = this.#isTerminal;
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
  const share = total === 0 ? 1 : done / total;
  const full = Math.floor(share * BAR);
  const bar = `[${'#'.repeat(full)}${'.'.repeat(BAR - full)}]`;
  const rates = `${count(roundsPerSecond)} blocks/s, ${count(transactionsPerSecond)} tx/s`;
  const left = secondsLeft === null ? '' : `, ${duration(secondsLeft)} left`;
  return `${bar} ${(share * 100).toFixed(1)} %  ${count(done)} of ${count(total)} masterchain blocks, ${rates}${left}${rest}`;
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

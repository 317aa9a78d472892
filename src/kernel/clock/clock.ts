/** Takes a scheduled call back; does nothing once it has run. */
export type CancelSchedule = () => void;

/** The source of time. It is passed in, so that a test can move it. */
export interface Clock {
  /** Milliseconds since some fixed moment; never goes back. */
  now(): number;
  /** Calls `run` once, `delayMs` from now, unless it is cancelled. */
  schedule(delayMs: number, run: () => void): CancelSchedule;
}

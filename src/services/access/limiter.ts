import type { Limits } from '#services/access/plans.js';

/** A request that wants to pass. */
export interface LimitQuestion {
  /** Who is counted, network included: `owner acme mainnet`, `address 192.0.2.1 mainnet`. */
  readonly subject: string;
  /** Addresses come without end and have no quota; keys are as many as there are. */
  readonly isAddress: boolean;
  readonly limits: Limits;
}

/** Whether it may pass; if not, which limit holds it back and for how many milliseconds. */
export type LimitAnswer =
  | { readonly passed: true }
  | { readonly passed: false; readonly by: 'rate' | 'quota'; readonly waitMs: number };

/** Counts requests against limits. What passes is counted; what does not, is not. */
export interface Limiter {
  take(question: LimitQuestion): LimitAnswer | Promise<LimitAnswer>;
  close(): void;
}

export const PASSED: LimitAnswer = { passed: true };

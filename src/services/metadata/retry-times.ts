/** Seconds until the next attempt after so many failures: 5, doubled each time up to 6 hours; then once a week. */
const RETRY_SECONDS: readonly number[] = [
  ...Array.from({ length: 16 }, (_, failures) => Math.min(5 * 2 ** failures, 21_600)),
  604_800,
];

/** Links that cannot be followed as they stand: names may lead elsewhere one day. */
export const RARELY_SECONDS = 30 * 86_400;

/** What was read is read again: after a week. */
export const EXPIRY_SECONDS = 7 * 86_400;

/** How long whoever has taken metadata to fetch it may take. Longer than any fetch; after many attempts as the pause. */
export const LEASE_SECONDS: readonly number[] = RETRY_SECONDS.map((seconds) => Math.max(60, seconds));

export function retrySeconds(attempts: number): number {
  return RETRY_SECONDS[Math.min(Math.max(attempts, 1), RETRY_SECONDS.length) - 1]!;
}

/** A tenth more or less, so that what was read together is not read together for ever. */
export function spread(seconds: number, random: () => number): number {
  return Math.max(1, Math.round(seconds * (0.9 + 0.2 * random())));
}

import type { RateState } from '#services/access/access.js';

/** Names of {@link rateLimitHeaders}. */
export const RATE_LIMIT_HEADERS = [
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-Policy',
] as const;

/** The state of a limit as headers, as of draft-ietf-httpapi-ratelimit-headers-06. Times are whole seconds, rounded up. */
export function rateLimitHeaders({ limit, remaining, resetMs, windowMs }: RateState): Record<string, string> {
  return {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(Math.ceil(resetMs / 1000)),
    'RateLimit-Policy': `${limit};w=${Math.max(1, Math.ceil(windowMs / 1000))}`,
  };
}

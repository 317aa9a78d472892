/**
 * Whether tests leave nothing out. `TERN_FULL=1 npm run test:all` takes hours; without it, tests of whole chains and of great
 * numbers take a part that CI has time for.
 */
export const FULL = process.env.TERN_FULL === '1';

/** What methods may take that make many blocks or copy a chain, in milliseconds: less than common clients wait (5 minutes). */
export const LONG_MS = 240_000;

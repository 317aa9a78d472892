/** What is to be forked, as it was named. */
export interface ForkSpec {
  /** `mainnet`, `testnet`, a network config (file or URL), or a folder with a recorded chain. */
  readonly source: string;
  /** Masterchain block from which on the chain is local; null for the newest one. */
  readonly seqno: number | null;
}

const MOST = 2 ** 32 - 1;

/** Reads `SOURCE[@SEQNO]`; undefined for what is neither. A `@` may be in the path as well: the last one counts, before a number. */
export function parseForkSpec(text: string): ForkSpec | undefined {
  const [, source = text, digits] = /^(.*)@(\d{1,10})$/s.exec(text) ?? [];
  if (source === '' || source.includes('\0')) return undefined;
  if (digits === undefined) return { source, seqno: null };
  const seqno = Number(digits);
  return seqno >= 1 && seqno <= MOST ? { source, seqno } : undefined;
}

/** Bounds of one fetch, redirects and all. */
export interface FetchLimits {
  /** For all of it. */
  readonly totalMs: number;
  /** From a request until the answer to it begins. */
  readonly firstByteMs: number;
  /** Between two parts of a body. */
  readonly stallMs: number;
  /** Of a body as it comes, and as it is when decompressed. */
  readonly bytes: number;
  /** Of the head of an answer. */
  readonly headerBytes: number;
  readonly redirects: number;
}

export const FETCH_LIMITS: FetchLimits = {
  totalMs: 20_000,
  firstByteMs: 12_000,
  stallMs: 5_000,
  bytes: 2 ** 19,
  headerBytes: 16_384,
  redirects: 3,
};

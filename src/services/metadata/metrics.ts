/** What the fetching of metadata tells about its work. Sums grow only. */
export interface MetadataMetrics {
  /** Under way. */
  readonly running: number;
  readonly fetched: number;
  /** By code of the error. */
  readonly failed: ReadonlyMap<string, number>;
  /** For later, because enough was asked of the host, or it does not answer. */
  readonly put_off: number;
  /** Of all attempts together. */
  readonly fetch_seconds: number;
  /** For how long what was taken last had been due. */
  readonly behind_seconds: number;
  /** Hosts that are left alone for a while. */
  readonly resting_hosts: number;
  /** Tokens of which somebody else than their contract says something. */
  readonly overrides: number;
}

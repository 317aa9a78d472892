/** The two sides of a thread that verifies state files: see `WorkerContract`. */
export interface VerifyThreadContract {
  readonly start: undefined;
  readonly host: {
    /** @param share of the file that is done, 0 to 1 */
    progress(share: number): void;
  };
  readonly methods: {
    /** @throws as `verifyStateFile` */
    verify(file: VerifyRequest): { readonly root_hash: Uint8Array; readonly scratchBytes: number };
  };
  readonly ready: undefined;
}

/** A file to verify; see `VerifyOptions`. */
interface VerifyRequest {
  readonly path: string;
  readonly hashBytes: number;
  readonly folder: string;
}

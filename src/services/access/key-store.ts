import type { KeyRecord } from '#services/access/key-record.js';

/** Ends a watch; nothing is called after it. */
export interface KeyWatch {
  close(): void;
}

/** Where keys are kept. Several processes may use one store at the same time. */
export interface KeyStore {
  /** The place in words: the path of a file, a table. */
  readonly name: string;
  /** All keys, revoked ones included, the oldest first. */
  list(): Promise<readonly KeyRecord[]>;
  /** @throws access/key-exists */
  add(record: KeyRecord): Promise<void>;
  /**
   * Puts what `change` makes of a key in its place, while nobody else changes it; a `change` that throws changes nothing.
   *
   * @throws access/no-such-key
   */
  change(id: string, change: (record: KeyRecord) => KeyRecord): Promise<KeyRecord>;
  /**
   * Calls `onKeys` with all keys, once before it resolves and again within a second of any change, by whichever process.
   * Keys that can no longer be read stay as they were, and the log says so.
   */
  watch(onKeys: (keys: readonly KeyRecord[]) => void): Promise<KeyWatch>;
}

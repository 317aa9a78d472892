import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { CancelSchedule } from '#kernel/clock.js';
import { isSystemError, readTextFile, writeFileAtomic } from '#kernel/files.js';
import type { Logger } from '#kernel/logger.js';
import { accessErrors } from '#services/access/errors.js';
import { ConfigField } from '#services/access/json-field.js';
import { type KeyRecord, type KeyStore, type KeyWatch, readKeyRecord, type StoredKeys } from '#services/access/keys.js';
import {
  type HeldLock,
  type LockModules,
  makePrivateFolder,
  withFileErrors,
  withLock,
} from '#services/access/locked-files.js';

const FORMAT = 'tern-keys-1';
const MAX_BYTES = 64 * 2 ** 20;

/** How often a watch looks whether the file is another one: well within the second that a revocation may take. */
const POLL_MS = 250;

export interface KeyFileModules extends LockModules {
  readonly logger: Logger;
}

/**
 * Keys in a JSON file that only its owner may read. A change reads the file, writes a new one and puts it in the place of
 * the old one, under a lock that holds among processes (`FILE.lock`). No file means no keys.
 */
export class KeyFile implements KeyStore {
  readonly name: string;
  readonly #modules: KeyFileModules;

  constructor(options: { readonly path: string }, modules: KeyFileModules) {
    this.name = options.path;
    this.#modules = modules;
  }

  /** @throws access/file, access/field */
  async list(): Promise<readonly KeyRecord[]> {
    return withFileErrors(this.name, async () => {
      const text = await readTextFile(this.name);
      return text === null ? [] : parseKeys(this.name, text);
    });
  }

  /** @throws access/key-exists, access/locked, access/lock-lost, access/file, access/field */
  async add(record: KeyRecord): Promise<void> {
    await this.#update((keys) => {
      if (keys.some(({ id }) => id === record.id)) {
        throw accessErrors['key-exists']({ id: record.id, file: this.name });
      }
      return [...keys, record];
    });
  }

  /** @throws access/no-such-key, access/locked, access/lock-lost, access/file, access/field */
  async change(id: string, change: (record: KeyRecord) => KeyRecord): Promise<KeyRecord> {
    const changed: KeyRecord[] = [];
    await this.#update((keys) => {
      const at = keys.findIndex((record) => record.id === id);
      if (at < 0) throw accessErrors['no-such-key']({ id, file: this.name });
      changed.push(change(keys[at]!));
      return keys.with(at, changed[0]!);
    });
    return changed[0]!;
  }

  /** @throws access/file, access/field when the file cannot be read now */
  async watch(onChange: (stored: StoredKeys) => void): Promise<KeyWatch> {
    const onKeys = (keys: readonly KeyRecord[]): void => onChange({ keys, plans: [] });
    let version = await this.#version();
    onKeys(await this.list());
    let cancel: CancelSchedule = () => {};
    let closed = false;
    let problem = '';
    const look = async (): Promise<void> => {
      try {
        const found = await this.#version();
        if (found === version) return;
        const keys = await this.list();
        version = found;
        problem = '';
        if (!closed) onKeys(keys);
      } catch (error) {
        const { message } = error as Error;
        if (message === problem || closed) return;
        problem = message;
        this.#modules.logger.warn('the file of keys cannot be read; the keys stay as they were', { problem });
      }
    };
    const next = (): void => {
      cancel = this.#modules.clock.schedule(POLL_MS, () => {
        void look().then(() => {
          if (!closed) next();
        });
      });
    };
    next();
    return {
      look,
      close() {
        closed = true;
        cancel();
      },
    };
  }

  async #update(change: (keys: readonly KeyRecord[]) => readonly KeyRecord[]): Promise<void> {
    await withFileErrors(this.name, async () => {
      await makePrivateFolder(dirname(this.name));
      await withLock(`${this.name}.lock`, this.#modules, async (lock: HeldLock) => {
        const keys = change(await this.list());
        await writeFileAtomic(this.name, writeKeys(keys), { beforeRename: () => lock.check() });
      });
    });
  }

  /** Another text for another file: a new one has its own inode and times. */
  async #version(): Promise<string> {
    try {
      const { ino, size, mtimeNs, ctimeNs }: BigIntStats = await stat(this.name, { bigint: true });
      return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
    } catch (error) {
      if (isSystemError(error, 'ENOENT')) return 'none';
      throw error;
    }
  }
}

function parseKeys(file: string, text: string): readonly KeyRecord[] {
  if (text.length > MAX_BYTES) {
    throw accessErrors.file({ file, problem: `it has ${text.length} characters; at most ${MAX_BYTES} are read` });
  }
  const { format, keys } = ConfigField.parse(file, text).members('format', 'keys');
  if (format.value !== FORMAT) format.refuse(`"${FORMAT}"`);
  const ids = new Set<string>();
  return keys.items().map((field) => {
    const record = readKeyRecord(field);
    if (ids.has(record.id)) field.refuse(`a key with another id than ${record.id}, which stands before it`);
    ids.add(record.id);
    return record;
  });
}

function writeKeys(keys: readonly KeyRecord[]): string {
  return `${JSON.stringify({ format: FORMAT, keys }, null, 1)}\n`;
}

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { stateFilesErrors } from '#drivers/state-files/errors.js';
import { fileProblem } from '#kernel/files.js';

/** Bytes that can be read at any place: a file on disk, one that was downloaded, or memory. */
export interface ByteSource {
  /** For messages. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Fills `into` with the bytes from `at` on. @throws state-files/unreadable, state-files/changed */
  read(into: Uint8Array, at: number): void;
}

/** A file as it was when it was opened: reading it after a change is an error. */
export class FileSource implements ByteSource {
  readonly name: string;
  readonly size: number;
  readonly #descriptor: number;
  readonly #changed: bigint;

  /** @throws state-files/unreadable */
  constructor(file: string) {
    this.name = file;
    try {
      this.#descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    } catch (error) {
      throw stateFilesErrors.unreadable({ file, offset: 0, problem: fileProblem(error) }, error);
    }
    const found = fstatSync(this.#descriptor, { bigint: true });
    if (!found.isFile()) {
      this.close();
      throw stateFilesErrors.unreadable({ file, offset: 0, problem: 'it is not a regular file' });
    }
    this.size = Number(found.size);
    this.#changed = found.mtimeNs;
  }

  read(into: Uint8Array, at: number): void {
    let done = 0;
    try {
      while (done < into.length) {
        const count = readSync(this.#descriptor, into, done, into.length - done, at + done);
        if (count === 0) throw stateFilesErrors.changed({ file: this.name, offset: at + done });
        done += count;
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
      throw stateFilesErrors.unreadable({ file: this.name, offset: at + done, problem: fileProblem(error) }, error);
    }
  }

  /** @throws state-files/changed when it was written to since it was opened */
  requireUnchanged(): void {
    const { size, mtimeNs } = fstatSync(this.#descriptor, { bigint: true });
    if (Number(size) !== this.size || mtimeNs !== this.#changed) {
      throw stateFilesErrors.changed({ file: this.name, offset: Math.min(Number(size), this.size) });
    }
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

/** Bytes in memory. */
export function memorySource(name: string, bytes: Uint8Array): ByteSource {
  return {
    name,
    size: bytes.length,
    read: (into, at) => {
      if (at + into.length > bytes.length) throw stateFilesErrors.changed({ file: name, offset: bytes.length });
      into.set(bytes.subarray(at, at + into.length));
    },
  };
}

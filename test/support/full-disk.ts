import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** A disk that has no space. */
interface FullDisk {
  /** Bytes that can still be written. */
  readonly room: number;
  /** Whether files can be cut; default true. */
  readonly canCut?: boolean;
}

/** Runs what writes files synchronously as if the disk were full: what does not fit is written in part, as a file system does. */
export function onFullDisk<T>({ room, canCut = true }: FullDisk, run: () => T): T {
  const { writeSync, appendFileSync, ftruncateSync } = fs;
  let left = room;
  const write = (descriptor: number, data: Uint8Array, offset = 0, length = data.length - offset, at?: number) => {
    if (left === 0 && length > 0) throw noSpace('write');
    const fits = Math.min(length, left);
    left -= fits;
    return writeSync(descriptor, data, offset, fits, at);
  };
  const append = (file: string, text: string) => {
    const descriptor = fs.openSync(file, 'a');
    try {
      const data = Buffer.from(text);
      for (let at = 0; at < data.length; ) at += write(descriptor, data, at);
    } finally {
      fs.closeSync(descriptor);
    }
  };
  const truncate = (descriptor: number, length?: number) => {
    if (!canCut) throw noSpace('ftruncate');
    ftruncateSync(descriptor, length);
  };
  const replace = (functions: object): void => {
    Object.assign(fs, functions);
    // Modules that import single functions get these.
    syncBuiltinESMExports();
  };
  replace({ writeSync: write, appendFileSync: append, ftruncateSync: truncate });
  try {
    return run();
  } finally {
    replace({ writeSync, appendFileSync, ftruncateSync });
  }
}

function noSpace(syscall: string): Error {
  return Object.assign(new Error(`ENOSPC: no space left on device, ${syscall}`), { code: 'ENOSPC', syscall });
}

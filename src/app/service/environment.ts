import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { configErrors } from '#app/config/errors.js';
import type { RandomBytes } from '#drivers/adnl/keys.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { toHex } from '#kernel/bytes.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';

/** What everything in a service needs from outside. */
export interface Environment {
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly unixTimeMs: () => number;
  /** [0, 1), need not be secret. */
  readonly random: () => number;
  readonly randomBytes: RandomBytes;
  readonly logger: Logger;
}

/** What has been started, to be closed in reverse order. */
export class Closers {
  readonly #all: (() => void | Promise<void>)[] = [];

  /** Takes something that runs; the last one is closed first. */
  add(close: () => void | Promise<void>): void {
    this.#all.push(close);
  }

  /** Closes everything, whatever fails on the way; then throws the first failure. Idempotent. */
  async close(): Promise<void> {
    let failure: { readonly error: unknown } | null = null;
    for (let close = this.#all.pop(); close !== undefined; close = this.#all.pop()) {
      try {
        await close();
      } catch (error) {
        failure ??= { error };
      }
    }
    if (failure !== null) throw failure.error;
  }
}

/** Calls with closers that stay open when it succeeds; when it fails, what was started is closed. */
export async function withClosers<Started>(start: (closers: Closers) => Promise<Started>): Promise<Started> {
  const closers = new Closers();
  try {
    return await start(closers);
  } catch (error) {
    // What went wrong first is what counts.
    await closers.close().catch(() => {});
    throw error;
  }
}

/** Makes the data folder if it is not there, and sees whether it can be used. @throws config/data-folder */
export async function prepareDataFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' || code === 'ENOTDIR') {
      throw configErrors['data-folder']({ folder, problem: 'a file stands in its place' }, error);
    }
    throw configErrors['data-folder']({ folder, problem: message }, error);
  }
}

/** The file of proven key blocks of a network: named for people and by its zerostate. */
export function keyBlockPath(folder: string, network: string, zerostate: BlockId): string {
  return join(folder, 'key-blocks', `${network}-${toHex(zerostate.root_hash.subarray(0, 8))}.txt`);
}

/** A logger that says in every line what it is about. */
export function withLogField(logger: Logger, name: string, value: string): Logger {
  return {
    info: (message, fields) => logger.info(message, { [name]: value, ...fields }),
    warn: (message, fields) => logger.warn(message, { [name]: value, ...fields }),
  };
}

import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { configErrors } from '#app/config/errors.js';
import type { RandomBytes } from '#drivers/adnl/keys.js';
import type { GlobalConfig } from '#drivers/lite/global-config.js';
import { toHex } from '#kernel/bytes.js';
import type { Clock } from '#kernel/clock.js';
import { fileProblem, makeFolder } from '#kernel/files.js';
import type { Logger } from '#kernel/logger.js';
import { isTernError } from '#kernel/tern-error.js';

/** Dependencies of a service on the outside world. */
export interface Environment {
  readonly clock: Clock;
  /** Unix time in milliseconds. */
  readonly unixTimeMs: () => number;
  /** [0, 1), need not be cryptographically secure. */
  readonly random: () => number;
  readonly randomBytes: RandomBytes;
  readonly logger: Logger;
}

/** Started parts, closed in reverse order. */
export class Closers {
  readonly #all: (() => void | Promise<void>)[] = [];

  /** Adds a running part; the last one is closed first. */
  add(close: () => void | Promise<void>): void {
    this.#all.push(close);
  }

  /** Closes all parts, also after failures; then throws the first failure. Idempotent. */
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

/** Starts several parts; when one fails, the parts already started are closed. */
export async function withClosers<Started>(start: (closers: Closers) => Promise<Started>): Promise<Started> {
  const closers = new Closers();
  try {
    return await start(closers);
  } catch (error) {
    // The first failure is reported.
    await closers.close().catch(() => {});
    throw error;
  }
}

/** Creates the data folder if needed and checks that it is usable. @throws config/data-folder */
export async function prepareDataFolder(folder: string): Promise<void> {
  try {
    makeFolder(folder);
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const problem = isTernError(error) ? error.message : fileProblem(error);
    throw configErrors['data-folder']({ folder, problem }, error);
  }
}

/** Path of the key block file of a network, with its name and zerostate; of a local network, for each of its chains. */
export function keyBlockPath(
  folder: string,
  network: string,
  { zeroState, incarnation }: Pick<GlobalConfig, 'zeroState' | 'incarnation'>,
): string {
  const chain = incarnation === null ? '' : `-${incarnation}`;
  return join(folder, 'key-blocks', `${network}-${toHex(zeroState.root_hash.subarray(0, 8))}${chain}.txt`);
}

/** A logger that adds a field to every line. */
export function withLogField(logger: Logger, name: string, value: string): Logger {
  return {
    info: (message, fields) => logger.info(message, { [name]: value, ...fields }),
    warn: (message, fields) => logger.warn(message, { [name]: value, ...fields }),
  };
}

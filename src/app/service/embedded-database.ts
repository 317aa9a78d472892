import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import process from 'node:process';
import type { Environment } from '#app/service/environment.js';
import { type EmbeddedServer, startEmbeddedServer } from '#drivers/store/embedded/embedded-server.js';
import { storeErrors } from '#drivers/store/errors.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/** Where the database of a root is that the data folder cannot hold: each data folder has its own. */
const FALLBACK_FOLDER = '/var/lib/tern';

/**
 * Starts the PostgreSQL that comes with Tern, in the data folder. What it holds can be made again, so nothing waits for the disk. It never runs as root; where root's data folder lies
 * below one that nobody else may enter, as `/root`, the database is kept elsewhere.
 *
 * @throws store/embedded-*
 */
export async function startEmbeddedDatabase(dataFolder: string, modules: Environment): Promise<EmbeddedServer> {
  const { clock, logger } = modules;
  try {
    return await startEmbeddedServer({ folder: join(dataFolder, 'postgres'), sync: 'later' }, { clock, logger });
  } catch (error) {
    if (process.getuid?.() !== 0 || !isTernError(error, storeErrors['embedded-folder'].code)) throw error;
    const name = createHash('sha256').update(resolve(dataFolder)).digest('hex').slice(0, 16);
    const folder = join(FALLBACK_FOLDER, name, 'postgres');
    logger.warn('the data folder cannot hold the database; it is kept elsewhere', { problem: error.message, folder });
    return startEmbeddedServer({ folder, sync: 'later' }, { clock, logger });
  }
}

/**
 * The name of the database of a chain: each has its own, so that `tern dev` may go from one to another.
 * @param incarnation tells chains apart that begin alike and went on differently; null for recorded ones
 */
export function databaseNameOf({ root_hash }: BlockId, incarnation: string | null): string {
  const name = `index_${toHex(root_hash.subarray(0, 8))}`;
  return incarnation === null ? name : `${name}_${incarnation}`;
}

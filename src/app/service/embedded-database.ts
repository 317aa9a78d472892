import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Environment } from '#app/service/environment.js';
import { type EmbeddedServer, startEmbeddedServer } from '#drivers/store/embedded/embedded-server.js';
import { storeErrors } from '#drivers/store/errors.js';
import { createTables } from '#drivers/store/migrate.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/** Parent folder of databases when root's data folder cannot contain them; one per data folder. */
const FALLBACK_FOLDER = '/var/lib/tern';

/** Where packages keep what they can make again; `npm ci` removes it. */
const TEMPLATES = fileURLToPath(new URL('../../../node_modules/.cache/tern', import.meta.url));

/**
 * Starts the embedded PostgreSQL in the data folder. Its content can be rebuilt, so writes are not synced. It never runs as
 * root; if the data folder of root is inaccessible to other users, as below `/root`, another folder is used.
 *
 * @param options.isNew whether a database of a new chain will be wanted: it is created, with its tables, before the chain is known
 * @param options.onUnderWay as in EmbeddedServerOptions
 * @throws store/embedded-*
 */
export async function startEmbeddedDatabase(
  dataFolder: string,
  { isNew = false, onUnderWay = () => {} }: { readonly isNew?: boolean; readonly onUnderWay?: () => void },
  modules: Environment,
): Promise<EmbeddedServer> {
  const server = await startServer(dataFolder, onUnderWay, modules);
  if (isNew) server.prepareDatabase(createTables);
  return server;
}

async function startServer(
  dataFolder: string,
  onUnderWay: () => void,
  { clock, logger }: Environment,
): Promise<EmbeddedServer> {
  const options = { sync: 'later', hasDatabase: false, templates: TEMPLATES, onUnderWay } as const;
  try {
    const folder = join(dataFolder, 'postgres');
    return await startEmbeddedServer({ ...options, folder }, { clock, logger });
  } catch (error) {
    if (process.getuid?.() !== 0 || !isTernError(error, storeErrors['embedded-folder'].code)) throw error;
    const name = createHash('sha256').update(resolve(dataFolder)).digest('hex').slice(0, 16);
    const folder = join(FALLBACK_FOLDER, name, 'postgres');
    logger.warn('the data folder cannot contain the database; another folder is used', {
      problem: error.message,
      folder,
    });
    return startEmbeddedServer({ ...options, folder }, { clock, logger });
  }
}

/**
 * The database name of a chain. Each chain has its own, so that `tern dev` can switch between chains.
 * @param incarnation distinguishes chains with equal zerostate; null for recorded chains
 */
export function databaseNameOf({ root_hash }: BlockId, incarnation: string | null): string {
  const name = `index_${toHex(root_hash.subarray(0, 8))}`;
  return incarnation === null ? name : `${name}_${incarnation}`;
}

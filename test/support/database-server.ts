import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { connectionConfig } from '#drivers/store/connection.js';
import { type EmbeddedServer, startEmbeddedServer } from '#drivers/store/embedded/embedded-server.js';
import { migrate, readMigrations } from '#drivers/store/migrate.js';
import { systemClock } from '#kernel/clock.js';

/** Another PostgreSQL for all tests: a folder with `bin`, such as /usr/lib/postgresql/15. */
const PROGRAM_VARIABLE = 'TERN_TEST_POSTGRES';

/** Holds the schema of Tern and no rows. */
export const TEMPLATE = 'tern_template';

/** A server for tests, with a database that others are copied from. What is in it need not survive a power cut. */
export interface TestServer {
  readonly server: EmbeddedServer;
  /** @param keep called when the server has stopped, with its folder, which is removed afterwards */
  close(keep?: (folder: string) => Promise<void>): Promise<void>;
}

/** @param stored folder of a server that was stopped: its databases are in the new one */
export async function startTestServer(
  stored: string | null = null,
  program = process.env[PROGRAM_VARIABLE],
): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'tern-postgres-'));
  if (stored !== null) await copyFolder(stored, folder);
  const server = await startEmbeddedServer(
    {
      folder,
      sync: false,
      ...(program === undefined ? {} : { program }),
      settings: {
        ...{ fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', shared_buffers: '128MB' },
        ...{ max_connections: 200, autovacuum: 'off', wal_level: 'minimal', max_wal_size: '1GB' },
      },
    },
    { clock: systemClock },
  );
  if (stored === null) await makeTemplate(server);
  return {
    server,
    close: async (keep) => {
      await server.close();
      await keep?.(folder);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function makeTemplate(server: EmbeddedServer): Promise<void> {
  const admin = new pg.Client(connectionConfig(server.urlOf('postgres')));
  await admin.connect();
  await admin.query(`CREATE DATABASE ${TEMPLATE}`);
  await admin.end();
  const client = new pg.Client(connectionConfig(server.urlOf(TEMPLATE)));
  await client.connect();
  await migrate(client, await readMigrations());
  await client.end();
}

/** Copies what a folder contains, with its owners, into an existing one. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', `${from}/.`, to]);
}

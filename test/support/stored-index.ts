import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import pg from 'pg';
import { connectionConfig } from '#drivers/store/connection.js';
import type { EmbeddedServer } from '#drivers/store/embedded/embedded-server.js';
import { copyFolder, TEMPLATE } from '#test/support/database-server.js';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'node_modules/.cache/tern-tests');

/** What an index is made by and from: a change of any of these files makes it again. */
const SOURCES = ['src', 'migrations', 'data', 'schemas', 'test/support', 'package-lock.json'];
const CHAIN = 'vectors/collection/recorded-net/chain';

/** Folder of the server with the prepared indexes of the same sources, whether or not it exists. */
export async function storedIndexFolder(): Promise<string> {
  const hash = createHash('sha256').update(`${process.versions.node} ${process.platform} ${process.arch}\n`);
  for (const source of [...SOURCES, CHAIN]) {
    for (const path of await filesOf(join(ROOT, source))) {
      if (!path.endsWith('.test.ts')) hash.update(`${path.slice(ROOT.length)}\n`).update(await readFile(path));
    }
  }
  return join(FOLDER, `index-${hash.digest('hex').slice(0, 32)}`);
}

async function filesOf(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true, recursive: true }).catch(() => null);
  if (entries === null) return [path];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** Removes all databases but those named, and those of the server itself. */
export async function dropOtherDatabases(server: EmbeddedServer, names: readonly string[]): Promise<void> {
  const admin = new pg.Client(connectionConfig(server.urlOf('postgres')));
  await admin.connect();
  const { rows } = await admin.query<{ datname: string }>('SELECT datname FROM pg_database WHERE NOT datistemplate');
  const retained = new Set(['postgres', 'tern', TEMPLATE, ...names]);
  for (const { datname } of rows) {
    if (!retained.has(datname)) await admin.query(`DROP DATABASE "${datname}" WITH (FORCE)`);
  }
  await admin.end();
}

/** Stores the folder of a stopped server in place of those of earlier sources. */
export async function storeIndex(from: string, to: string): Promise<void> {
  await rm(FOLDER, { recursive: true, force: true });
  const draft = `${to}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  await copyFolder(from, draft);
  await rename(draft, to);
}

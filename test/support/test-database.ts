import { connect } from 'node:net';
import pg from 'pg';
import { connectionConfig } from '#drivers/store/connection.js';
import { startTestServer, TEMPLATE, type TestServer } from '#test/support/database-server.js';

/** Set by database-setup.ts for all files of a test run. */
const ADDRESS_VARIABLE = 'TERN_TEST_DATABASE_SERVER';

/** A database for one test file or test. */
export interface TestDatabase {
  readonly url: string;
  readonly name: string;
  /** A connection, which ends with the database. */
  connect(): Promise<pg.Client>;
  /** Removes the database, whoever still uses it. */
  close(): Promise<void>;
}

let own: Promise<TestServer> | null = null;
let known: string | null = null;
let made = 0;

/**
 * A fresh database in the server of the test run (a PostgreSQL of its own outside of the test runner), which takes 30 ms on
 * an idle machine. The server is the packaged one, or that of the folder in TERN_TEST_POSTGRES.
 *
 * @param content `schema`: the tables of Tern, without rows; `empty`: nothing; or the URL of a database to copy, to which
 *   nobody is connected
 */
export async function testDatabase(
  content: 'schema' | 'empty' | { readonly copyOf: string } = 'schema',
): Promise<TestDatabase> {
  const serverUrl = await testServerUrl();
  const name = `test_${process.pid}_${made++}`;
  const copied = typeof content === 'object' ? /\/(\w+)\?/.exec(content.copyOf)![1] : null;
  const template = copied ?? (content === 'schema' ? TEMPLATE : 'template1');
  await administrate(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  const url = serverUrl.replace('/postgres?', `/${name}?`);
  const clients: pg.Client[] = [];
  return {
    url,
    name,
    connect: async () => {
      const client = new pg.Client(connectionConfig(url));
      client.on('error', () => {});
      await client.connect();
      clients.push(client);
      return client;
    },
    close: async () => {
      for (const client of clients) await client.end().catch(() => {});
      await administrate(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** Names the server of this process: nobody else is asked for it. @param url of its database `postgres` */
export function serveTestDatabases(url: string): void {
  known = url;
}

/** URL of the database `postgres` of the server. */
export async function testServerUrl(): Promise<string> {
  if (known !== null) return known;
  const address = process.env[ADDRESS_VARIABLE];
  if (address === undefined) {
    own ??= startTestServer();
    return (await own).server.urlOf('postgres');
  }
  let text = '';
  for await (const part of connect(address)) text += part;
  const { url, problem } = JSON.parse(text);
  if (problem !== undefined) throw new Error(problem);
  return url;
}

/** Stops the server that was started outside of the test runner, if there is one. */
export async function stopTestServer(): Promise<void> {
  const server = await own;
  own = null;
  await server?.close();
}

async function administrate(url: string, sql: string): Promise<void> {
  const client = new pg.Client(connectionConfig(url));
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

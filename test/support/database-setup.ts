// Offers one database server to all files of a test run (see test-database.ts); it is started when the first one asks. The
// test runner loads this file outside of the condition `source`, so the server runs in a process that has it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

/** Where test files ask: the path of a Unix socket, on which whoever connects reads JSON. Read by test-database.ts. */
const ADDRESS_VARIABLE = 'TERN_TEST_DATABASE_SERVER';

/** A folder for what the files of the run share (see built-program.ts). */
const FOLDER_VARIABLE = 'TERN_TEST_FOLDER';

interface Started {
  readonly child: ChildProcess;
  /** What the process says when its server is ready, or what it failed of. */
  readonly answer: Promise<string>;
}

function startServer(indexes: readonly string[]): Started {
  const program = join(import.meta.dirname, 'database-process.ts');
  const child = spawn(process.execPath, ['--conditions=source', '--import', 'tsx', program, ...indexes], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let said = '';
  let failed = '';
  child.stderr.on('data', (data) => {
    failed += data;
  });
  const answer = new Promise<string>((resolve) => {
    child.stdout.on('data', (data) => {
      said += data;
      if (said.endsWith('\n')) resolve(said);
    });
    child.once('close', () => resolve(JSON.stringify({ problem: `the database server for tests ended: ${failed}` })));
  });
  return { child, answer };
}

/**
 * Called by the test runner before the tests; what it returns is called after them. A run of all files wants the index of the
 * recorded network: it is made from the beginning, while the first files run.
 */
export default async function setup({ vitest }: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'tern-tests-'));
  let started: Started | null = null;
  const addressServer = createServer((socket) => {
    socket.on('error', () => {});
    started ??= startServer([]);
    void started.answer.then((answer) => socket.end(answer));
  });
  const address = join(folder, 'database');
  await new Promise<void>((resolve) => addressServer.listen(address, resolve));
  process.env[ADDRESS_VARIABLE] = address;
  process.env[FOLDER_VARIABLE] = folder;
  const { filenamePattern } = vitest as { readonly filenamePattern?: readonly string[] };
  if (filenamePattern === undefined) started = startServer(['recorded_net']);
  return async () => {
    addressServer.close();
    if (started !== null && started.child.exitCode === null) {
      started.child.stdin?.end();
      await once(started.child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  };
}

import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { bundlePackage } from '../../scripts/bundle.mjs';

/** A folder that lasts as long as a test run. Set by database-setup.ts for all files of it. */
const FOLDER_VARIABLE = 'TERN_TEST_FOLDER';

const ROOT = join(import.meta.dirname, '../..');

/** What of a checkout the package has besides what is built, and who runs it needs. */
const LINKED = ['data', 'migrations', 'node_modules'];

/**
 * `bin/tern.js` of the package as it is published, which begins in a fraction of the time that the sources take. It is built
 * once in a test run, by whoever asks first; outside of one it is that of the checkout.
 */
export async function builtProgram(): Promise<string> {
  const folder = process.env[FOLDER_VARIABLE];
  if (folder === undefined) return join(ROOT, 'bin/tern.js');
  const built = join(folder, 'program');
  const isReady = join(built, 'ready');
  if (begins(built)) {
    for (const name of LINKED) symlinkSync(join(ROOT, name), join(built, name));
    for (const name of ['bin', 'package.json']) cpSync(join(ROOT, name), join(built, name), { recursive: true });
    try {
      await bundlePackage(ROOT, join(built, 'dist'));
    } catch (error) {
      writeFileSync(join(built, 'failed'), '');
      throw error;
    }
    writeFileSync(isReady, '');
  }
  while (!existsSync(isReady)) {
    if (existsSync(join(built, 'failed'))) throw new Error('the program was not built: see who began to');
    await delay(50);
  }
  return join(built, 'bin/tern.js');
}

/** Whether nobody else has begun. */
function begins(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { vectorPath } from '#test/support/vector-files.js';

// Worker threads find their code and its loader by themselves where the sources run; tests of the command line run a bundle.

/** Runs code that gives 9, prints the result. */
const program = `
import { readFileSync } from 'node:fs';
import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import { systemClock } from '#kernel/clock.js';

const config = parseBocRoot(new Uint8Array(readFileSync(${JSON.stringify(vectorPath('config/mainnet-65466080.boc'))})));
const pool = new TvmPool({ workers: 1, spares: 0 }, { clock: systemClock });
await pool.start();
const code = new Builder().storeBytes(Uint8Array.of(0xff, 0x00, 0x30, 0x79)).endCell();
const address = Address.ofParts(0, new Uint8Array(32));
const request = { code, data: null, method: 'nine', stack: [], address, now: 1, balance: 0n, config };
const { exit_code, gas_used, stack } = await pool.runGetMethod(request);
await pool.close();
process.stdout.write([exit_code, gas_used, stack[0].value].join());
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tern-tvm-'));
  copyFileSync('package.json', join(folder, 'package.json'));
  writeFileSync(join(folder, 'program.mjs'), program);
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(...options: string[]) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [...options, 'program.mjs'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { stdout, stderr, status };
}

it('run from the sources', () => {
  cpSync('src', join(folder, 'src'), { recursive: true });
  cpSync('scripts', join(folder, 'scripts'), { recursive: true });
  expect(run('--conditions=source', '--import', 'tsx')).toEqual({
    stdout: '0,67,9',
    stderr: '',
    status: 0,
  });
});

import * as fs from 'node:fs/promises';
import { transformSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#kernel/clock.js';
import * as address from '#library/address.js';
import * as bodies from '#library/bodies.js';
import * as cells from '#library/cells.js';
import * as lite from '#library/lite.js';
import * as proofs from '#library/proofs.js';
import * as testing from '#library/testing.js';
import * as tl from '#library/tl.js';
import * as tlb from '#library/tlb.js';
import { globalConfig, startLiteserver } from '#localnet/liteserver/server.js';
import { openReplay } from '#localnet/replay/replay-ledger.js';
import { libraryExamples } from '#test/support/library-examples.js';

const HOST = '127.0.0.1';
let server: Awaited<ReturnType<typeof startLiteserver>>;
let config = '';

beforeAll(async () => {
  const ledger = openReplay('vectors/recorded-chain', { to: null, head: null });
  const { randomBytes } = lite.systemModules;
  const modules = { ledger, clock: systemClock, unixTime: () => Math.floor(Date.now() / 1000), randomBytes };
  const runGetMethod = () => Promise.reject(new Error('no example runs a get-method'));
  server = await startLiteserver({ host: HOST, port: 0, seed: randomBytes(32) }, { ...modules, runGetMethod });
  config = globalConfig({ host: HOST, port: server.port, publicKey: server.publicKey }, ledger.zerostate);
});

afterAll(() => server?.close());

/** Files as the examples read them: `global.config.json` describes the liteserver of this test. */
const readFile: unknown = async (path: string, encoding?: 'utf8') =>
  path === 'global.config.json' ? config : fs.readFile(path, encoding);
const modules: Readonly<Record<string, object>> = {
  'node:fs/promises': { readFile },
  'tern-ton/address': address,
  'tern-ton/bodies': bodies,
  'tern-ton/cells': cells,
  'tern-ton/lite': lite,
  'tern-ton/proofs': proofs,
  'tern-ton/testing': testing,
  'tern-ton/tl': tl,
  'tern-ton/tlb': tlb,
};

/** Runs an example and returns what it prints. */
async function run(code: string): Promise<unknown[][]> {
  const { code: script } = transformSync(code, { loader: 'ts', format: 'esm', target: 'es2023' });
  const body = script.replace(
    /import \{([^}]*)\} from "([^"]+)";/g,
    (_, names: string, from: string) => `const {${names.replace(/ as /g, ': ')}} = modules[${JSON.stringify(from)}];`,
  );
  const AsyncFunction = (async () => {}).constructor as new (
    ...args: string[]
  ) => (...args: unknown[]) => Promise<void>;
  const printed: unknown[][] = [];
  await new AsyncFunction('modules', 'console', body)(modules, { log: (...values: unknown[]) => printed.push(values) });
  return printed;
}

describe('docs/guides/library.md', () => {
  it.each(libraryExamples())('%s: the example runs and prints', async (_, code) => {
    const printed = await run(code);
    expect(printed.length).toBeGreaterThan(0);
    for (const value of printed.flat()) expect(value).not.toBeUndefined();
  });

  it('names every entry point of the package', async () => {
    const { exports } = JSON.parse(await fs.readFile('package.json', 'utf8')) as { exports: Record<string, unknown> };
    const entries = Object.keys(exports).filter((path) => path !== './package.json');
    expect(entries.map((path) => path.replace('.', 'tern-ton')).sort()).toEqual(
      Object.keys(modules).filter((name) => name.startsWith('tern-ton/')),
    );
    const guide = await fs.readFile('docs/guides/library.md', 'utf8');
    for (const path of entries) expect(guide).toContain(`\`tern-ton${path.slice(1)}\``);
  });
});

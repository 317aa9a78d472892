import { availableParallelism } from 'node:os';
import process from 'node:process';
import { defineConfig } from 'vitest/config';
import { compiledSources } from './test/support/compiled-sources.js';
import { FULL } from './test/support/full-depth.js';
import { LongFirst } from './test/support/long-first.js';

/** `source` makes `#module/file.js` mean `src/module/file.ts` (see "imports" in package.json). */
const conditions = ['source'];

const LONG = '**/*.long.test.ts';

/** What takes longest, and is done by `npm run sim` as well or by other tests in part: only `TERN_FULL=1 npm run test:all` runs it. */
const FULL_ONLY = [
  'test/sim/*.long.test.ts',
  'test/contract/v3-list-order.long.test.ts',
  'test/contract/v3-against-chain.long.test.ts',
  'test/localnet/large-traces.long.test.ts',
  'test/corpus/chain-reads.long.test.ts',
  'test/contract/v2-against-chain.long.test.ts',
  'test/corpus/index-reads.long.test.ts',
  'src/drivers/store/embedded/damage.long.test.ts',
  'src/services/indexer/contracts/contract-detection.long.test.ts',
];

/** Files that change what belongs to the whole process (its output, its environment): each has a process of its own. */
const ISOLATED = ['src/app/cli/decode.test.ts', 'src/app/cli/keys.test.ts'];

/** More workers than cores: some files mostly wait for processes and sockets, most of all long ones, which `npm test` leaves out. */
const WAITING_WORKERS = process.argv.includes('--project') ? 1 : 2;

const base = {
  environment: 'node',
  setupFiles: ['test/support/core-hashes.ts', 'test/support/plain-answers.ts'] as string[],
  // A file that is not isolated shares its process, and the modules it loads, with the files before it.
  pool: 'forks',
  maxWorkers: availableParallelism() + WAITING_WORKERS,
  retry: 0,
  // Only a hang should reach these: how fast a machine is does not decide whether a test passes.
  testTimeout: 300_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 240_000 } },
} as const;

/** Whoever watches sees tests run again by what they import, so they import the sources. */
const isWatching = !process.argv.includes('run');

const resolving = {
  plugins: isWatching ? [] : [compiledSources()],
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
};

/** `npm test` runs `quick` and `isolated`, `npm run test:all` and CI run all of them. */
export default defineConfig({
  test: {
    // Of what did not change since the last run, nothing is transformed again.
    experimental: { fsModuleCache: true },
    globalSetup: 'test/support/database-setup.ts',
    maxWorkers: base.maxWorkers,
    sequence: { sequencer: LongFirst },
    reporters: ['default', './test/support/skip-reporter.ts'],
    projects: [
      {
        ...resolving,
        test: {
          ...base,
          name: 'quick',
          isolate: false,
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts', 'web/src/**/*.test.ts'],
          exclude: [LONG, ...ISOLATED],
        },
      },
      { ...resolving, test: { ...base, name: 'isolated', include: ISOLATED } },
      {
        ...resolving,
        test: {
          ...base,
          name: 'long',
          isolate: false,
          include: [`{src,test,bench}/${LONG}`],
          exclude: FULL ? [] : FULL_ONLY,
        },
      },
    ],
  },
});

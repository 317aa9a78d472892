import { defineConfig } from 'vitest/config';

/** `source` makes `#module/file.js` mean `src/module/file.ts` (see "imports" in package.json). */
const conditions = ['source'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
    environment: 'node',
    globalSetup: 'test/support/database-door.ts',
    pool: 'forks',
    maxWorkers: 2,
    retry: 0,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

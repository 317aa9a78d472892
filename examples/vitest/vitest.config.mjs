import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['*.test.mjs'],
    hookTimeout: 60_000,
    testTimeout: 60_000,
    // Only in this repository, where the package is not under node_modules: do not transform it.
    server: { deps: { external: [/\/dist\//] } },
  },
});

import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { include: ['*.test.mjs'], hookTimeout: 60_000, testTimeout: 60_000 } });

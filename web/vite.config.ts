import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Where `npm run web` finds the APIs: a Tern that runs on this machine. */
const TERN = process.env.TERN_URL ?? 'http://127.0.0.1:8081';

const PROXIED = ['/api', '/localnet', '/healthz', '/readyz', '/metrics'];

export default defineConfig({
  root: here('.'),
  // Files name each other by relative paths, so that the same build is served at any path.
  base: './',
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  resolve: {
    conditions: ['source', 'module', 'browser', 'development|production'],
    // Without the slash Vite takes the module of Node.
    alias: [
      { find: /^buffer$/, replacement: 'buffer/' },
      { find: /^node:crypto$/, replacement: here('src/chain/browser-crypto.ts') },
      { find: '#formats/cells/sha256-short.js', replacement: here('src/chain/browser-crypto.ts') },
    ],
  },
  server: { proxy: Object.fromEntries(PROXIED.map((path) => [path, { target: TERN, changeOrigin: false }])) },
  build: {
    outDir: here('../dist/web'),
    emptyOutDir: true,
    target: 'es2022',
    assetsDir: 'assets',
    // An inlined file would be a data: address, which the Content-Security-Policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    sourcemap: false,
  },
});

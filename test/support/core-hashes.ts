// `@ton/core`, with which tests check what Tern decodes, hashes each cell that it reads, by code in JavaScript. With the hash of
// Node, tests that decode whole chains with it take half as long.
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';

const primitives = createRequire(import.meta.url)('@ton/crypto/dist/primitives/sha256.js') as {
  sha256_sync: (source: Buffer | string) => Buffer;
};

primitives.sha256_sync = (source) => createHash('sha256').update(source).digest();

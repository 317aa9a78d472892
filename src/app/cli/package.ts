import { existsSync, readFileSync } from 'node:fs';

/** The version of the package: `2.2.0`. */
export function packageVersion(): string {
  const manifest = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

/** What a person types to run this program: a checkout, unlike the package, has sources and no `tern` in the path. */
export function ternCommand(): string {
  return existsSync(new URL('../../../src', import.meta.url)) ? 'npm run -s tern --' : 'tern';
}

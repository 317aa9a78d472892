import { readFileSync } from 'node:fs';

/** The version of the package: `2.2.0`. */
export function packageVersion(): string {
  const manifest = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

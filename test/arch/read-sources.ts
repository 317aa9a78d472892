import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import type { Architecture } from './module-rules.js';
import { parseSource, type SourceFile } from './source-file.js';

/** Every TypeScript file below the given folders of the repository. */
export function readSources(...folders: string[]): SourceFile[] {
  const paths = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) =>
      posix.join(folder, file.replaceAll('\\', '/')),
    ),
  );
  const sources = paths.filter((path) => /\.tsx?$/.test(path)).sort();
  return sources.map((path) => parseSource(path, readFileSync(path, 'utf8')));
}

export function readArchitecture(): Architecture {
  return (JSON.parse(readFileSync('architecture.json', 'utf8')) as { modules: Architecture }).modules;
}

export function readReadmes(architecture: Architecture): Map<string, string> {
  const readmes = new Map<string, string>();
  for (const name of Object.keys(architecture)) {
    const file = `src/${name}/README.md`;
    if (existsSync(file)) readmes.set(name, readFileSync(file, 'utf8'));
  }
  return readmes;
}

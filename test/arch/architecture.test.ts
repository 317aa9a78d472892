import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findCycles } from './cycles.js';
import { findBareThrows, findBarrels, findEmptyNames, findLongFiles, findNativeFolders } from './file-rules.js';
import {
  findDoubleNames,
  findFalseModules,
  findForbiddenImports,
  findOddSpecifiers,
  findPoorReadmes,
  findUnlistedModules,
} from './module-rules.js';
import { readArchitecture, readReadmes, readSources } from './read-sources.js';
import { fileOf, isTwin } from './source-file.js';

const architecture = readArchitecture();
const sources = readSources('src');
const explorer = readSources('web/src');
const everything = [...sources, ...explorer, ...readSources('test', 'bench', 'scripts')];

const none: string[] = [];

describe('the modules', () => {
  it('import what architecture.json lists for them', () => {
    expect(findForbiddenImports(sources, architecture)).toEqual(none);
  });

  it('write their imports as #module/file.js', () => {
    expect(findOddSpecifiers(sources)).toEqual(none);
  });

  it('are those of architecture.json', () => {
    expect(findFalseModules(sources, architecture)).toEqual(none);
  });

  it('export no name that another one exports for another thing', () => {
    expect(findDoubleNames(sources, architecture)).toEqual(none);
  });

  it('are listed in README.md, each below what it imports', () => {
    expect(
      findUnlistedModules(readFileSync(new URL('../../README.md', import.meta.url), 'utf8'), architecture),
    ).toEqual(none);
  });

  it('each have a short README.md', () => {
    expect(findPoorReadmes(architecture, readReadmes(architecture))).toEqual(none);
  });
});

describe('the explorer', () => {
  // Everything else it gets over HTTP, as any client does.
  const codecs = ['preact', 'preact/hooks', 'preact/jsx-runtime'];
  const modules = /^#(formats\/address|formats\/cells|kernel\/(bytes|prometheus-text|tern-error))(\/|\.js$)/;

  it('imports its own files, Preact, and the codecs of addresses and cells', () => {
    const foreign = explorer
      .filter(({ path }) => !path.endsWith('.test.ts'))
      .flatMap(({ path, imports }) =>
        imports
          .map(({ specifier }) => specifier)
          .filter((specifier) => !/^\.\.?\//.test(specifier) && !codecs.includes(specifier) && !modules.test(specifier))
          .map((specifier) => `${path}: ${specifier}`),
      );
    expect(foreign).toEqual(none);
  });

  it('reaches nothing that only Node has', () => {
    const imports = new Map(sources.map((file) => [file.path, file.imports.map(({ specifier }) => specifier)]));
    const own = explorer.filter(({ path }) => !isTwin(path));
    const reached = new Set(own.flatMap((file) => file.imports).flatMap(({ specifier }) => fileOf(specifier) ?? []));
    const foreign: string[] = [];
    for (const path of reached) {
      for (const specifier of imports.get(path) ?? []) {
        const file = fileOf(specifier);
        if (file !== null) reached.add(file);
        // For node:crypto the explorer has a module of its own (web/vite.config.ts).
        else if (specifier.startsWith('node:') && specifier !== 'node:crypto') foreign.push(`${path}: ${specifier}`);
      }
    }
    expect(reached.size).toBeGreaterThan(5);
    expect(foreign).toEqual(none);
  });
});

describe('the files', () => {
  it('form no import cycle', () => {
    expect(findCycles(sources)).toEqual(none);
  });

  it('are no barrels', () => {
    expect(findBarrels(everything)).toEqual(none);
  });

  it('keep to the budget of lines', () => {
    expect(findLongFiles(everything)).toEqual(none);
  });

  it('throw errors that have a code', () => {
    expect(findBareThrows(sources)).toEqual(none);
  });

  it('make no folders by the recursive call of Node', () => {
    expect(findNativeFolders(sources)).toEqual(none);
  });

  it('are named for what is in them', () => {
    expect(findEmptyNames(everything)).toEqual(none);
  });
});

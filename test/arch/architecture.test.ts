import { describe, expect, it } from 'vitest';
import { findCycles } from './cycles.js';
import { findBareThrows, findBarrels, findEmptyNames, findLongFiles, findNativeFolders } from './file-rules.js';
import {
  findDoubleNames,
  findFalseModules,
  findForbiddenImports,
  findOddSpecifiers,
  findPoorReadmes,
} from './module-rules.js';
import { readArchitecture, readReadmes, readSources } from './read-sources.js';

const architecture = readArchitecture();
const sources = readSources('src');
const everything = [...sources, ...readSources('test', 'bench', 'scripts')];

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

  it('each have a short README.md', () => {
    expect(findPoorReadmes(architecture, readReadmes(architecture))).toEqual(none);
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

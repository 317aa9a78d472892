import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { vectorPath } from '#test/support/vector-files.js';
import { generateTl } from '../../scripts/tl-code.js';
import { lineId, parseTlSchema, type TlDeclaration } from '../../scripts/tl-schema.js';

const declarations = ['lite_api.tl', 'adnl.tl'].flatMap((name) =>
  parseTlSchema(readFileSync(join('schemas', name), 'utf8')),
);
const folder = 'src/formats/tl/generated';

/** Name → id, as other implementations have it. */
const published = new Map(
  readFileSync(vectorPath('tl/constructor-ids.tsv'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t') as [string, string])
    .map(([id, name]) => [name, Number.parseInt(id, 16)]),
);

describe('the schemas', () => {
  it('have the published constructor ids, line by line', () => {
    for (const { name, id } of declarations) expect(id, name).toBe(published.get(name));
    expect(new Set(declarations.map(({ name }) => name))).toEqual(new Set(published.keys()));
  });

  it('leave the id to the CRC-32 of the line, but for three lines that kept the id of an older form', () => {
    const stated = declarations.filter(({ line, id }) => lineId(line) !== id);
    expect(stated.map(({ name }) => name)).toEqual([
      'liteServer.transactionId',
      'liteServer.signatureSet.ordinary',
      'liteServer.getValidatorStats',
    ]);
    for (const { line } of stated) expect(line).toMatch(/^[\w.]+#[0-9a-f]{8} /);
  });

  it('have no id twice', () => {
    const names = new Map<number, string>();
    for (const { id, name } of declarations) {
      expect(names.get(id) ?? name, name).toBe(name);
      names.set(id, name);
    }
  });
});

describe('src/formats/tl/generated', () => {
  const files = generateTl(declarations);

  it('is what scripts/generate-tl.ts writes', () => {
    expect(readdirSync(folder).sort()).toEqual([...files.keys()].sort());
    for (const [name, code] of files) {
      const there = readFileSync(join(folder, name), 'utf8');
      expect(there === code, `${name}: run node --conditions=source --import tsx scripts/generate-tl.ts`).toBe(true);
    }
  });

  it('quotes every line', () => {
    const text = [...files.values()].join('');
    for (const { line } of declarations) expect(text.includes(`/** \`${line};\` */`), line).toBe(true);
  });
});

describe('the reader of schemas', () => {
  const only = (text: string): TlDeclaration => parseTlSchema(text)[0] as TlDeclaration;

  it('reads lines over several rows, comments, and both sections', () => {
    const text = `// a comment
      int ? = Int; vector {t:Type} # [ t ] = Vector t;
      a.one flags:# x:flags.3?int // another
        list:(vector a.Two) = a.One;
      ---functions---
      a.get#0000000a = a.One;
      ---types---
      a.two = a.Two;`;
    const found = parseTlSchema(text);
    expect(found.map(({ name, isFunction }) => [name, isFunction])).toEqual([
      ['a.one', false],
      ['a.get', true],
      ['a.two', false],
    ]);
    expect(found[0]?.fields).toEqual([
      { name: 'flags', type: { kind: 'builtin', name: '#' }, condition: null },
      { name: 'x', type: { kind: 'builtin', name: 'int' }, condition: { flags: 'flags', bit: 3 } },
      { name: 'list', type: { kind: 'vector', item: { kind: 'boxed', name: 'a.Two' } }, condition: null },
    ]);
    expect(found[1]?.id).toBe(10);
  });

  it('takes the parentheses out before it computes the id', () => {
    expect(only('liteServer.getLibraries library_list:(vector int256) = liteServer.LibraryResult;').id).toBe(
      lineId('liteServer.getLibraries library_list:vector int256 = liteServer.LibraryResult'),
    );
  });

  it.each([
    ['no declaration', 'a.one x:int', /not a TL declaration/],
    ['no field', 'a.one int = a.One;', /not a field/],
    ['a flag that is not there', 'a.one x:mode.0?int = a.One;', /depends on mode/],
    ['a flag that is no #', 'a.one mode:int x:mode.0?int = a.One;', /depends on mode/],
  ])('refuses %s', (_, text, message) => {
    expect(() => parseTlSchema(text)).toThrow(message);
  });

  it.each([
    ['a type without constructors', 'a.one x:a.Two = a.One;', /a.Two has no constructor/],
    ['a constructor that is not declared', 'a.one x:a.two = a.One;', /a.two is not declared/],
    ['items that take no bytes', 'a.two = a.Two; a.one x:(vector a.two) = a.One;', /items without bytes/],
    ['a name that the code needs', 'a.one reader:int = a.One;', /may not be called reader/],
    ['two forms of one constructor', 'a.one x:int = a.One; a.one y:int = a.One;', /two forms of a.one/],
  ])('and the writer of code refuses %s', (_, text, message) => {
    expect(() => generateTl(parseTlSchema(text))).toThrow(message);
  });
});

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readSources } from '#test/arch/read-sources.js';
import { isTwin, parseSource } from '#test/arch/source-file.js';
import { vectorPath } from '#test/support/vector-files.js';
import { collectSchema, quotedIn, schemaPage } from './schema-page.js';

const lines = collectSchema().flatMap((each) => each.lines);

/** `block_extra#4a33f6fd` and `BlockExtra`. */
function headAndType(line: string): readonly [string, string] {
  const head = line.split(' ')[0]!.replace('!', '');
  return [head, /= *(\w+)[^=]*;$/.exec(line)![1]!];
}

const nameOf = (head: string): string => /^\w*?(?=[#$]|_?$)/.exec(head)![0];

describe('schemas/tern.tlb', () => {
  it('is what the code quotes; scripts/schema-doc.ts writes it again', () => {
    expect(readFileSync('schemas/tern.tlb', 'utf8')).toBe(schemaPage(collectSchema()));
  });

  it('has the line of every codec that a file exports', async () => {
    let codecs = 0;
    for (const { path } of readSources('src/formats/tlb').filter((source) => !isTwin(source.path))) {
      const module = (await import(pathToFileURL(resolve(path)).href)) as Record<string, unknown>;
      for (const exported of Object.values(module)) {
        const schema =
          typeof exported === 'object' && exported !== null && 'schema' in exported ? exported.schema : null;
        if (typeof schema !== 'string') continue;
        expect(lines).toContain(schema.replace(/\s+/g, ' ').trim());
        codecs++;
      }
    }
    expect(codecs).toBeGreaterThan(80);
  });
});

describe('tags of constructors', () => {
  const published = readFileSync(vectorPath('tlb/published-constructors.txt'), 'utf8').trim().split('\n');
  const tags = new Map(
    published.map((row) => {
      const [head, type] = row.split(' ') as [string, string];
      return [`${nameOf(head)} ${type}`, head];
    }),
  );

  it('are the published ones', () => {
    let compared = 0;
    const own: string[] = [];
    for (const line of lines) {
      const [head, type] = headAndType(line);
      if (head === '_') continue;
      const tag = tags.get(`${nameOf(head)} ${type}`);
      if (tag === undefined) own.push(head);
      else expect(head, type).toBe(tag);
      compared++;
    }
    // In the published schema of 2025, no longer in that of 2026.
    expect(own).toEqual(['extra_collated_data#ea59be4c']);
    expect(compared).toBeGreaterThan(150);
  });

  it('are computed right where the published schema leaves them out', () => {
    const line = lines.find((each) => each.startsWith('block_extra#'))!;
    const implicit = line.replace(/#\w+/, '').replace(/[();]/g, '');
    expect(line.slice(0, 20)).toBe(`block_extra#${crc32(implicit).toString(16).padStart(8, '0')}`);
  });
});

describe('quoted lines', () => {
  it('are found in calls, enumerations and comments, and nothing else is', () => {
    const source = parseSource(
      'x.ts',
      [
        '/**',
        ' * `point$_ x:int32',
        ' *   y:int32 = Point;` and `a = B` and `line … = Point;`',
        ' */',
        "const a = record('shape#5 at:^Point = Shape;', {});",
        'const b = variant(`box$0',
        '   at:^Point = Box;`, {});',
        "const c = enumeration('Color', { red: '$0', blue: '$10' });",
        "const d = 'no schema = at all';",
        "const e = record('shape#5 at:^Point = Shape;', {});",
      ].join('\n'),
    );
    expect(quotedIn(source)).toEqual([
      'point$_ x:int32 y:int32 = Point;',
      'shape#5 at:^Point = Shape;',
      'box$0 at:^Point = Box;',
      'red$0 = Color;',
      'blue$10 = Color;',
    ]);
  });

  it('are wrapped between fields', () => {
    const fields = Array.from({ length: 12 }, (_, i) => `field_${i}:(## 8) { field_${i} >= 1 }`).join(' ');
    const page = schemaPage([{ file: 'x.ts', lines: [`long#1 ${fields} = Long 1;`] }]);
    const rows = page
      .slice(page.indexOf('// x.ts\n') + 8)
      .trimEnd()
      .split('\n');
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(120);
    expect(rows.every((row) => row.split('{').length === row.split('}').length)).toBe(true);
    expect(rows.at(-1)).toMatch(/ = Long 1;$/);
    expect(rows.slice(1).every((row) => row.startsWith('  '))).toBe(true);
  });
});

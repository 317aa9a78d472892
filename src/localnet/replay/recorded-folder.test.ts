import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { toBase64 } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { readFolder } from '#localnet/replay/recorded-folder.js';
import { writeArchivePack } from '#test/support/archive-pack.js';
import { type Files, genesisEntries, genesisZerostates, inFolder } from '#test/support/recorded-files.js';

const [first, second] = genesisEntries as [(typeof genesisEntries)[number], (typeof genesisEntries)[number]];
const pack = writeArchivePack([first, second, { name: 'notes', data: Uint8Array.of(1, 2, 3, 4) }]);

function bagsOf(files: Files): string[] {
  return inFolder(files, (folder) =>
    readFolder(folder).bags.map(({ file, name, bytes }) => `${file}|${name?.slice(0, 5) ?? ''}|${bytes.length}`),
  );
}

function problem(files: Files): string {
  try {
    return bagsOf(files).join();
  } catch (error) {
    if (!isTernError(error)) throw error;
    return error.message.replace(/\/\S+tern-replay-\w+/, 'FOLDER');
  }
}

describe('a folder', () => {
  const sizes = [first, second].map(({ data }) => data.length);
  const names = [first, second].map(({ name }) => name.slice(0, 5));
  const at = [4, 4 + 8 + first.name.length + sizes[0]!];

  it('gives the bags of cells in packs, packed or not, by what they hold or what they are called', () => {
    const entries = [0, 1].map((i) => `, entry at byte ${at[i]}|${names[i]}|${sizes[i]}`);
    expect(bagsOf({ 'a.pack': pack })).toEqual(entries.map((entry) => `a.pack${entry}`));
    expect(bagsOf({ 'a.pack.gz': gzipSync(pack) })).toEqual(entries.map((entry) => `a.pack.gz${entry}`));
    expect(bagsOf({ 'a.pack.br': brotliCompressSync(pack) })).toEqual(entries.map((entry) => `a.pack.br${entry}`));
    expect(bagsOf({ 'without-name': pack })).toEqual(entries.map((entry) => `without-name${entry}`));
  });

  it('gives bags of cells that are files of their own, or lines', () => {
    const size = genesisZerostates['zerostate-mc.boc']!.length;
    expect(
      bagsOf({ 'z.boc': genesisZerostates['zerostate-mc.boc']!, Z: genesisZerostates['zerostate-mc.boc']! }),
    ).toEqual([`Z||${size}`, `z.boc||${size}`]);
    const lines = [
      JSON.stringify({ name: first.name, data: toBase64(first.data) }),
      '',
      JSON.stringify({ data: toBase64(second.data) }),
    ].join('\n');
    expect(bagsOf({ 'blocks.jsonl.gz': gzipSync(lines) })).toEqual([
      `blocks.jsonl.gz, line 1|${names[0]}|${sizes[0]}`,
      `blocks.jsonl.gz, line 3||${sizes[1]}`,
    ]);
  });

  it('may hold other files, and a configuration', () => {
    inFolder({ 'README.md': 'text', empty: '', 'global.config.json': '{"validator": 5}' }, (folder) => {
      expect(readFolder(folder)).toEqual({
        folder,
        bags: [],
        configs: [{ file: 'global.config.json', config: { validator: 5 } }],
      });
    });
  });

  it('with a file that is not what its name says is refused, the file named', () => {
    expect(problem({ 'a.pack': 'text' })).toBe('a.pack is not an archive pack: it starts with 74657874, not 01dd8fae');
    expect(problem({ 'a.pack.gz': 'text' })).toMatch(/^a\.pack\.gz cannot be read: incorrect header check/);
    expect(problem({ 'a.pack.br': 'text' })).toMatch(/^a\.pack\.br cannot be read: /);
    expect(problem({ 'a.pack.gz': gzipSync(pack).subarray(0, 500) })).toMatch(
      /^a\.pack\.gz cannot be read: unexpected end/,
    );
    expect(problem({ 'a.boc': 'text' })).toBe('a.boc is invalid: it does not begin as a bag of cells');
    expect(problem({ 'a.config.json': '{' })).toMatch(/^a\.config\.json is invalid: it is no JSON/);
    expect(problem({ 'a.jsonl': '\n{"data": 5}' })).toBe(
      'line 2 of a.jsonl has no "data" that is base64 of a bag of cells',
    );
    expect(problem({ 'a.jsonl': '{"name": 5}' })).toBe('line 1 of a.jsonl has a "name" that is no string');
    expect(problem({ 'a.jsonl': 'null' })).toMatch(/^line 1 of a\.jsonl has no "data"/);
    expect(problem({ 'a.jsonl': '{' })).toMatch(/^line 1 of a\.jsonl is no JSON/);
    expect(() => readFolder('/no/such/folder')).toThrow(/^\/no\/such\/folder cannot be read: ENOENT/);
  });
});

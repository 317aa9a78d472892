import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { LiveLedger } from '#localnet/ledger/live-ledger.js';
import { RECORD_BYTES } from '#localnet/ledger/pack.js';
import { resetChain } from '#localnet/ledger/snapshots.js';
import { Random } from '#test/fuzz/random.js';
import { errorOf } from '#test/support/error-code.js';
import { inNewFolder, newBundles } from '#test/support/new-bundles.js';
import { vectorPath } from '#test/support/vector-files.js';

const { genesis, bundles } = newBundles(vectorPath('recorded-chain'));
/** Several packs, and several files of states. */
const options = { packBytes: 12_000, checkpointBytes: 40_000 };

/** A chain of all masterchain blocks. @returns its folder within */
function makeChain(folder: string): string {
  const ledger = LiveLedger.create(folder, genesis, options);
  for (const bundle of bundles) ledger.append(bundle);
  ledger.close();
  return join('chains', ledger.incarnation);
}

/**
 * Opens a chain and compares all of it.
 * @returns how much was wrong: the code of the error and its file, or null
 */
function look(folder: string): { readonly code: string; readonly file: string } | null {
  let ledger: LiveLedger | null = null;
  try {
    ledger = LiveLedger.open(folder, options);
    expect(ledger.head?.id).toEqual(bundles.at(-1)!.masterchain.id);
    for (const { shards, masterchain, signatures } of bundles) {
      for (const { id, bytes, state, gen_utime, end_lt } of [...shards, masterchain]) {
        const block = ledger.block(id)!;
        expect([toHex(block.bytes), block.gen_utime, block.end_lt]).toEqual([toHex(bytes), gen_utime, end_lt]);
        expect(toHex(ledger.state(block).hash())).toBe(toHex(state.hash()));
      }
      expect(ledger.signatures(ledger.block(masterchain.id)!)).toEqual(signatures);
    }
    return null;
  } catch (error) {
    if (!isTernError(error)) throw error;
    expect(error.remedy).not.toBe('');
    return { code: error.code, file: String(error.data.file) };
  } finally {
    ledger?.close();
  }
}

describe('a damaged folder', () => {
  it('is reported with the file that is missing, and can be started again', () =>
    inNewFolder((root) => {
      const folder = join(root, 'whole');
      const chain = makeChain(folder);
      const path = join(folder, chain);
      expect(look(folder)).toBeNull();
      const files = readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
      expect(files.length).toBeGreaterThan(14);
      const states = files.filter((file) => file.includes('states')).sort();
      for (const file of [...files, 'current', chain]) {
        const copy = join(root, 'copy');
        cpSync(folder, copy, { recursive: true });
        rmSync(join(copy, file), { recursive: true });
        const found = look(copy);
        if (states.includes(file)) expect(found, file).toBeNull();
        else expect(found?.code, file).toBe('ledger/missing-file');
        resetChain(copy);
        LiveLedger.create(copy, genesis).close();
        rmSync(copy, { recursive: true });
      }
    }));

  it('is reported with the file that is too short, but for what a kill may leave', () =>
    inNewFolder((root) => {
      const folder = join(root, 'whole');
      const chain = makeChain(folder);
      const path = join(folder, chain);
      const random = new Random('truncated chains');
      const names = readdirSync(path).filter((name) => /^(archive|genesis|zerostate)/.test(name));
      const last = names
        .filter((name) => name.endsWith('.index'))
        .sort()
        .at(-1)!;
      for (const name of [...names, ...readdirSync(join(path, 'states')).map((each) => join('states', each))]) {
        const copy = join(root, 'copy');
        cpSync(folder, copy, { recursive: true });
        const file = join(copy, chain, name);
        const { size } = statSync(file);
        // The last masterchain block of the last index may be missing: then the states after it are there, which says so.
        truncateSync(file, random.below(size));
        const found = look(copy);
        expect(found?.code, `${name} of ${size}`).toMatch(/^ledger\/(damaged|missing-file)$/);
        if (name !== last) expect(found?.file).toBe(file);
        rmSync(copy, { recursive: true });
      }
    }));

  it(
    'is never read wrongly, whichever byte is another',
    () =>
      inNewFolder((root) => {
        const folder = join(root, 'whole');
        const chain = makeChain(folder);
        const path = join(folder, chain);
        const random = new Random('flipped bytes of a chain');
        const names = readdirSync(path).filter((name) => /^archive.*|^zerostate/.test(name));
        names.push(...readdirSync(join(path, 'states')).map((each) => join('states', each)));
        let reported = 0;
        for (let i = 0; i < 120; i++) {
          const name = names[i % names.length]!;
          const file = join(path, name);
          const bytes = readFileSync(file);
          const at = random.below(bytes.length);
          bytes[at]! ^= 1 << random.below(8);
          const whole = readFileSync(file);
          writeFileSync(file, bytes);
          const found = look(folder);
          // Names of entries in packs, and states files that nothing is made from, are not looked at.
          if (found !== null) {
            reported++;
            expect(found.code).toBe('ledger/damaged');
            expect(found.file).toBe(file);
          } else {
            expect(name).toMatch(/\.pack$|^states/);
          }
          writeFileSync(file, whole);
        }
        expect(reported).toBeGreaterThan(100);
        expect(look(folder)).toBeNull();
      }),
    120_000,
  );

  it('is not opened when it is of another version, or says nonsense', () =>
    inNewFolder((folder) => {
      const chain = makeChain(folder);
      const file = join(folder, chain, 'genesis.json');
      const text = readFileSync(file, 'utf8');
      const codeOf = (changed: string): string => {
        writeFileSync(file, changed);
        return errorOf(() => LiveLedger.open(folder)).code;
      };
      expect(codeOf(text.replace('"version": 1', '"version": 2'))).toBe('ledger/other-version');
      for (const changed of [
        '',
        '{',
        '[]',
        'null',
        '{}',
        '{"version":1}',
        text.replace(/"validator_seed": "../, '"validator_seed": "'),
      ]) {
        expect(codeOf(changed), changed).toBe('ledger/damaged');
      }
      writeFileSync(file, text);
      for (const name of ['', 'x', '../chains', '0123456789abcdeg']) {
        writeFileSync(join(folder, 'current'), name);
        expect(errorOf(() => LiveLedger.exists(folder)).code).toBe('ledger/damaged');
      }
    }));

  it('is left alone when its end is more than a masterchain block that was not finished', () =>
    inNewFolder((folder) => {
      const ledger = LiveLedger.create(folder, genesis);
      for (const bundle of bundles) ledger.append(bundle);
      const path = join(folder, 'chains', ledger.incarnation);
      const pack = join(path, 'archive.0000001.pack');
      const index = join(path, 'archive.0000001.index');
      const { size } = statSync(pack);
      const whole = readFileSync(index);
      ledger.close();
      rmSync(join(path, 'states'), { recursive: true });
      // Two masterchain blocks too few in the index.
      const { shards } = bundles[8]!;
      const twoRounds = (shards.length + 1 + bundles[9]!.shards.length + 1) * RECORD_BYTES;
      writeFileSync(index, whole.subarray(0, whole.length - twoRounds));
      expect(errorOf(() => LiveLedger.open(folder)).message).toContain('the index ends more than one bundle before it');
      expect(statSync(pack).size).toBe(size);
      writeFileSync(index, whole);
      for (const [tail, problem] of [
        [Buffer.from('junk'), 'no entry begins here'],
        [Buffer.from('8b1e0300000000006162', 'hex'), null],
        [Buffer.from('8b1e02000000000061628b1e', 'hex'), 'a name that nothing in a chain has'],
      ] as const) {
        truncateSync(pack, size);
        writeFileSync(pack, tail, { flag: 'a' });
        if (problem === null) LiveLedger.open(folder).close();
        else expect(errorOf(() => LiveLedger.open(folder)).message).toContain(problem);
      }
    }));
});

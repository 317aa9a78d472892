import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { defineErrors } from '#kernel/tern-error.js';
import { collectErrors, errorsOf, errorsPage, sharedCodes } from './errors-page.js';

describe('docs/errors.md', () => {
  it('is what the code says; npm run docs:errors writes it again', async () => {
    expect(readFileSync('docs/errors.md', 'utf8')).toBe(errorsPage(await collectErrors('src')));
  });

  it('has a way out for every error, and no code twice', async () => {
    const errors = await collectErrors('src');
    expect(errors.length).toBeGreaterThan(0);
    expect(sharedCodes(errors)).toEqual([]);
    for (const { code, remedy } of errors) {
      expect(code).toMatch(/^[a-z0-9-]+(\/[a-z0-9-]+)+$/);
      expect(remedy, code).toMatch(/^[A-Z`].{8,}[.!]$/s);
    }
  });
});

describe('a documented error', () => {
  const kettleErrors = defineErrors('kettle', {
    'too-hot': {
      class: 'caller',
      message: (d: { degrees: number }) => `${d.degrees} | degrees`,
      remedy: 'Let it cool.',
    },
    'too-late': {
      class: 'internal',
      message: (d: { now: number; then: number }) => `${d.now - d.then} too late`,
      remedy: 'Be early.',
    },
    leaking: {
      class: 'internal',
      message: (d: { drops: number }) => `${d.drops.toFixed(1)} drops`,
      remedy: 'Mend it.',
    },
  });

  it('shows its sentence with the names of its data, unless that computes', () => {
    expect(errorsOf(kettleErrors)).toEqual([
      { code: 'kettle/too-hot', class: 'caller', meaning: '{degrees} | degrees', remedy: 'Let it cool.' },
      { code: 'kettle/too-late', class: 'internal', meaning: '', remedy: 'Be early.' },
      { code: 'kettle/leaking', class: 'internal', meaning: '', remedy: 'Mend it.' },
    ]);
    expect(errorsOf('no table')).toEqual([]);
    expect(errorsOf({ other: () => {} })).toEqual([]);
  });

  it('becomes a row of its module, sorted by code', () => {
    const page = errorsPage(errorsOf(kettleErrors));
    expect(page).toContain(
      '\n## kettle\n\n| code | class | meaning | how to solve |\n|---|---|---|---|\n| `kettle/leaking`',
    );
    expect(page).toContain('| `kettle/too-hot` | caller | {degrees} \\| degrees | Let it cool. |\n');
  });

  it('has a code of its own', () => {
    expect(sharedCodes([...errorsOf(kettleErrors), ...errorsOf(kettleErrors).slice(0, 1)])).toEqual(['kettle/too-hot']);
  });
});

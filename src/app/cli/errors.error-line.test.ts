import { expect, it } from 'vitest';
import { errorLine } from '#app/cli/errors.js';
import { defineErrors } from '#kernel/tern-error.js';

const errors = defineErrors('kettle', {
  broken: { class: 'internal', message: (d: { why: string }) => d.why, remedy: 'Buy a new one.' },
});

it('is one line of code, sentence and remedy', () => {
  expect(errorLine(errors.broken({ why: 'it leaks' }))).toBe('tern: kettle/broken: it leaks. Buy a new one.');
});

it('does not end a sentence twice, and stays one line whatever the input held', () => {
  expect(errorLine(errors.broken({ why: 'why\n\tthat?' }))).toBe('tern: kettle/broken: why that? Buy a new one.');
});
